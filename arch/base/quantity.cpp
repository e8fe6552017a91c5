#include "arch/base/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <optional>

#include "arch/base/clock.hpp"

namespace tilesim::arch::base::config {

const Dimension kCyclesDimension{"cycle", {{"cycle", 1}, {"cycles", 1}}};
const Dimension kBytesDimension{"B",
                                {{"B", 1},
                                 {"KB", 1000},
                                 {"KiB", 1024},
                                 {"MB", 1'000'000},
                                 {"MiB", 1 << 20},
                                 {"GB", 1'000'000'000},
                                 {"GiB", 1 << 30}}};
const Dimension kBytesPerCycleDimension{"B/cycle", {{"B/cycle", 1}}};
const Dimension kTimeDimension{"fs",
                               {{"fs", 1},
                                {"ps", 1000},
                                {"ns", 1'000'000},
                                {"us", 1'000'000'000},
                                {"ms", 1'000'000'000'000},
                                {"s", 1'000'000'000'000'000}}};
const Dimension kFrequencyDimension{
    "Hz", {{"Hz", 1}, {"kHz", 1000}, {"MHz", 1'000'000}, {"GHz", 1'000'000'000}}};
const Dimension kBandwidthDimension{"B/s",
                                    {{"B/s", 1}, {"MB/s", 1'000'000}, {"GB/s", 1'000'000'000}}};
const Dimension kThroughputDimension{
    "op/s", {{"op/s", 1}, {"GOPS", 1'000'000'000}, {"TOPS", 1'000'000'000'000}}};

const Dimension kCurrentDimension{"uA", {{"uA", 1}, {"mA", 1000}, {"A", 1'000'000}}};
const Dimension kVoltageDimension{"uV", {{"uV", 1}, {"mV", 1000}, {"V", 1'000'000}}};

std::vector<std::string> Dimension::names() const {
    std::vector<std::string> result;
    for (const UnitName& unit : units) {
        result.emplace_back(unit.name);
    }
    return result;
}

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// A decimal number as digits * 10^-places; nothing when the text is none or too long.
struct Decimal {
    std::int64_t digits = 0;
    std::int64_t power = 1;  // 10^places
};

std::optional<Decimal> parse_decimal(std::string_view text) {
    constexpr std::size_t kMostDigits = 18;
    Decimal result;
    bool point = false;
    std::size_t digits = 0;
    const bool negative = text.starts_with('-');
    for (const char c : text.substr(negative ? 1 : 0)) {
        if (c == '.' && !point) {
            point = true;
        } else if (is_digit(c) && ++digits <= kMostDigits) {
            result.digits = result.digits * 10 + (c - '0');
            result.power *= point ? 10 : 1;
        } else {
            return std::nullopt;
        }
    }
    if (digits == 0 || text.ends_with('.')) {
        return std::nullopt;
    }
    result.digits = negative ? -result.digits : result.digits;
    return result;
}

}  // namespace

std::variant<std::int64_t, std::string> parse_quantity(std::string_view text,
                                                       const Dimension& dimension) {
    const auto units = fmt::format("{}", fmt::join(dimension.names(), ", "));
    std::size_t end = 0;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == '-')) {
        ++end;
    }
    const auto number = parse_decimal(text.substr(0, end));
    if (!number) {
        return fmt::format("must be a number and a unit ({}), got '{}'", units, text);
    }
    std::string_view unit_text = text.substr(end);
    while (unit_text.starts_with(' ')) {
        unit_text.remove_prefix(1);
    }
    if (unit_text.empty()) {
        return fmt::format("needs a unit ({}), got '{}'", units, text);
    }
    for (const UnitName& unit : dimension.units) {
        if (unit.name != unit_text) {
            continue;
        }
        const Int128 scaled = static_cast<Int128>(number->digits) * unit.scale;
        if (scaled % number->power != 0) {
            return fmt::format("must be a whole number of {}, got '{}'", dimension.base, text);
        }
        const Int128 count = scaled / number->power;
        if (count > INT64_MAX || count < INT64_MIN) {
            return fmt::format("is too large: '{}'", text);
        }
        return static_cast<std::int64_t>(count);
    }
    return fmt::format("has the unknown unit '{}'; use one of {}", unit_text, units);
}

std::string format_quantity(std::int64_t count, const Dimension& dimension) {
    for (auto unit = dimension.units.rbegin(); unit != dimension.units.rend(); ++unit) {
        if (count != 0 && count % unit->scale == 0 && unit->scale > 1) {
            return fmt::format("{} {}", count / unit->scale, unit->name);
        }
    }
    return fmt::format("{} {}", count, dimension.base);
}

std::optional<KnownUnit> known_unit(std::string_view name) {
    for (const Dimension* dimension :
         {&kCyclesDimension, &kBytesDimension, &kBytesPerCycleDimension, &kTimeDimension,
          &kFrequencyDimension, &kBandwidthDimension, &kThroughputDimension, &kCurrentDimension,
          &kVoltageDimension}) {
        for (const UnitName& unit : dimension->units) {
            if (unit.name == name) {
                return KnownUnit{*dimension, unit};
            }
        }
    }
    return std::nullopt;
}

std::string format_in_unit(std::int64_t count, const UnitName& unit) {
    std::string text = fmt::format("{}{}", count < 0 ? "-" : "", std::abs(count / unit.scale));
    std::string digits;
    for (Int128 rest = std::abs(count % unit.scale); rest != 0; rest %= unit.scale) {
        rest *= 10;
        digits += static_cast<char>('0' + static_cast<int>(rest / unit.scale));
    }
    return fmt::format("{}{}{} {}", text, digits.empty() ? "" : ".", digits, unit.name);
}

std::variant<std::int64_t, std::string> parse_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    std::string_view digits = text.substr(negative ? 1 : 0);
    const bool hex = digits.starts_with("0x");
    digits.remove_prefix(hex ? 2 : 0);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (digits.empty() || end != digits.data() + digits.size() ||
        (error == std::errc{} && !hex && digits.size() > 1 && digits[0] == '0')) {
        return fmt::format("must be an integer, got '{}'", text);
    }
    if (error == std::errc::result_out_of_range || value > INT64_MAX) {
        return fmt::format("is too large: '{}'", text);
    }
    const auto signed_value = static_cast<std::int64_t>(value);
    return negative ? -signed_value : signed_value;
}

}  // namespace tilesim::arch::base::config
