#include "sim/explore/axis_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>

#include "arch/base/quantity.hpp"

namespace tilesim::sim::explore {

using arch::base::config::UnitName;

namespace {

constexpr std::int64_t kMostValues = 100'000;
constexpr double kRounding = 1e-9;  // of a step: sums of decimals miss their end by less

struct Amount {
    double value = 0;
    std::string unit;
};

Amount parse(const std::string& text, const char* what) {
    Amount number;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number.value);
    if (error != std::errc{} || !std::isfinite(number.value)) {
        throw std::invalid_argument(fmt::format("'{}' must be a number, got '{}'", what, text));
    }
    number.unit = std::string(rest, end);
    number.unit.erase(0, number.unit.find_first_not_of(' '));
    return number;
}

std::vector<double> stepped(double from, double to, double step) {
    if (step == 0 || (to - from) / step < 0) {
        throw std::invalid_argument("'step' must lead from 'from' to 'to'");
    }
    const double count = std::floor((to - from) / step + kRounding) + 1;
    if (count > static_cast<double>(kMostValues)) {
        throw std::invalid_argument(
            fmt::format("holds {:.0f} values; at most {}", count, kMostValues));
    }
    std::vector<double> values;
    for (double i = 0; i < count; ++i) {
        values.push_back(from + i * step);
    }
    return values;
}

std::vector<double> multiplied(double from, double to, double factor) {
    if (from <= 0 || to < from || factor <= 1) {
        throw std::invalid_argument("needs 0 < 'from' <= 'to' and a 'factor' above 1");
    }
    std::vector<double> values;
    for (double value = from; value <= to * (1 + kRounding); value *= factor) {
        values.push_back(value);
        if (static_cast<std::int64_t>(values.size()) > kMostValues) {
            throw std::invalid_argument(fmt::format("holds more than {} values", kMostValues));
        }
    }
    return values;
}

std::vector<double> spaced(double from, double to, std::int64_t points, bool logarithmic) {
    if (logarithmic && (from <= 0 || to <= 0)) {
        throw std::invalid_argument("logarithmic spacing needs ends above 0");
    }
    std::vector<double> values;
    for (std::int64_t i = 0; i < points; ++i) {
        const double share =
            points == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(points - 1);
        values.push_back(logarithmic ? from * std::pow(to / from, share)
                                     : from + share * (to - from));
    }
    return values;
}

// How much the text is, counted in the unit of `from`.
double count_of(const std::string& text, const char* name, const Amount& from) {
    const Amount amount = parse(text, name);
    if (amount.unit == from.unit) {
        return amount.value;
    }
    const auto unit = arch::base::config::known_unit(amount.unit);
    const auto wanted = arch::base::config::known_unit(from.unit);
    if (!unit || !wanted || unit->dimension.base != wanted->dimension.base) {
        throw std::invalid_argument(
            fmt::format("'{}' must have a unit like that of 'from', '{}', got '{}'", name,
                        from.unit, amount.unit));
    }
    return amount.value * static_cast<double>(unit->unit.scale) /
           static_cast<double>(wanted->unit.scale);
}

std::vector<double> numbers_of(const AxisRange& range, const Amount& from, double to) {
    if (range.step) {
        return stepped(from.value, to, count_of(*range.step, "step", from));
    }
    if (range.factor) {
        const Amount factor = parse(*range.factor, "factor");
        if (!factor.unit.empty()) {
            throw std::invalid_argument(
                fmt::format("'factor' must be a plain number, got '{}'", *range.factor));
        }
        return multiplied(from.value, to, factor.value);
    }
    return spaced(from.value, to, *range.points, range.logarithmic);
}

// What has no unit is whole where both its ends are.
std::string plain_text(double value, bool whole) {
    return whole ? fmt::format("{:.0f}", std::round(value)) : fmt::format("{:.12g}", value);
}

// In its own unit, of as many digits as that has of whole base units, twelve at most.
std::string quantity_text(double value, const UnitName& unit) {
    const bool binary = (unit.scale & (unit.scale - 1)) == 0;
    constexpr std::int64_t kBinaryParts = 1024;
    constexpr std::int64_t kDecimalParts = 1'000'000'000'000;
    const std::int64_t step =
        std::max<std::int64_t>(1, unit.scale / (binary ? kBinaryParts : kDecimalParts));
    const double count = value * static_cast<double>(unit.scale);
    if (std::abs(count) >= static_cast<double>(INT64_MAX)) {
        throw std::invalid_argument(fmt::format("{:g} {} is too large", value, unit.name));
    }
    return arch::base::config::format_in_unit(
        std::llround(count / static_cast<double>(step)) * step, unit);
}

}  // namespace

std::vector<std::string> values_of(const AxisRange& range) {
    const Amount from = parse(range.from, "from");
    const int given = (range.step ? 1 : 0) + (range.factor ? 1 : 0) + (range.points ? 1 : 0);
    if (given != 1) {
        throw std::invalid_argument("must hold exactly one of step, factor, points");
    }
    const auto known = arch::base::config::known_unit(from.unit);
    if (!from.unit.empty() && !known) {
        throw std::invalid_argument(fmt::format("'from' has the unknown unit '{}'", from.unit));
    }
    const double to = count_of(range.to, "to", from);
    const bool whole = from.value == std::round(from.value) && to == std::round(to) &&
                       (!range.step || parse(*range.step, "step").value ==
                                           std::round(parse(*range.step, "step").value));
    const std::vector<double> numbers = numbers_of(range, from, to);
    std::vector<std::string> texts;
    std::set<std::string> different;
    for (const double value : numbers) {
        texts.push_back(known ? quantity_text(value, known->unit) : plain_text(value, whole));
        different.insert(texts.back());
    }
    if (different.size() < texts.size()) {
        throw std::invalid_argument(
            fmt::format("holds {} values of which only {} differ{}", texts.size(), different.size(),
                        from.unit.empty() ? ": whole ends have whole values between them" : ""));
    }
    return texts;
}

}  // namespace tilesim::sim::explore
