#include "sim/explore/axis_range.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace tilesim::sim::explore {

namespace {

constexpr std::int64_t kMostValues = 100'000;
constexpr double kRounding = 1e-9;  // of a step: sums of decimals miss their end by less

struct Number {
    double value = 0;
    std::string unit;
};

Number parse(const std::string& text, const char* what) {
    Number number;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number.value);
    if (error != std::errc{} || !std::isfinite(number.value)) {
        throw std::invalid_argument(fmt::format("'{}' must be a number, got '{}'", what, text));
    }
    number.unit = std::string(rest, end);
    number.unit.erase(0, number.unit.find_first_not_of(' '));
    return number;
}

bool whole(double value) {
    return value == std::round(value);
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

// Numbers, and whether all of them are whole.
struct Numbers {
    std::vector<double> values;
    bool whole = false;
};

Numbers numbers_of(const AxisRange& range, const Number& from, const Number& to) {
    const bool ends_whole = whole(from.value) && whole(to.value);
    if (range.step) {
        const Number step = parse(*range.step, "step");
        if (!step.unit.empty() && step.unit != from.unit) {
            throw std::invalid_argument(
                fmt::format("'step' must be in '{}', got '{}'", from.unit, step.unit));
        }
        return {stepped(from.value, to.value, step.value), ends_whole && whole(step.value)};
    }
    if (range.factor) {
        return {multiplied(from.value, to.value, parse(*range.factor, "factor").value), ends_whole};
    }
    return {spaced(from.value, to.value, *range.points, range.logarithmic), ends_whole};
}

}  // namespace

std::vector<std::string> values_of(const AxisRange& range) {
    const Number from = parse(range.from, "from");
    const Number to = parse(range.to, "to");
    if (from.unit != to.unit) {
        throw std::invalid_argument(fmt::format(
            "'from' and 'to' must have the same unit, got '{}' and '{}'", from.unit, to.unit));
    }
    const int given = (range.step ? 1 : 0) + (range.factor ? 1 : 0) + (range.points ? 1 : 0);
    if (given != 1) {
        throw std::invalid_argument("must hold exactly one of step, factor, points");
    }
    const Numbers numbers = numbers_of(range, from, to);
    std::vector<std::string> texts;
    for (const double value : numbers.values) {
        const std::string number = numbers.whole ? fmt::format("{:.0f}", std::round(value))
                                                 : fmt::format("{:.12g}", value);
        const std::string text =
            from.unit.empty() ? number : fmt::format("{} {}", number, from.unit);
        if (texts.empty() || texts.back() != text) {
            texts.push_back(text);
        }
    }
    return texts;
}

}  // namespace tilesim::sim::explore
