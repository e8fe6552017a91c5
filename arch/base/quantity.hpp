// Text of a quantity ("1.8 GHz", "64 KiB") to an exact count of its base unit, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tilesim::arch::base::config {

struct UnitName {
    std::string_view name;
    std::int64_t scale;  // base units in one of this
};

// What a dimension accepts, smallest first.
struct Dimension {
    std::string_view base;  // the unit counts are kept in
    std::vector<UnitName> units;
    std::vector<std::string> names() const;
};

extern const Dimension kCyclesDimension;
extern const Dimension kBytesDimension;
extern const Dimension kBytesPerCycleDimension;
extern const Dimension kTimeDimension;
extern const Dimension kFrequencyDimension;
extern const Dimension kBandwidthDimension;
extern const Dimension kThroughputDimension;
extern const Dimension kCurrentDimension;
extern const Dimension kVoltageDimension;

// The count, or what is wrong with the text ("missing unit; use one of ...").
std::variant<std::int64_t, std::string> parse_quantity(std::string_view text,
                                                       const Dimension& dimension);
// In the largest unit that keeps the number whole.
std::string format_quantity(std::int64_t count, const Dimension& dimension);

// The dimension that has a unit of this name, and the unit; nothing: no dimension has.
struct KnownUnit {
    const Dimension& dimension;
    const UnitName& unit;
};
std::optional<KnownUnit> known_unit(std::string_view name);
// "1.25 GHz": the count in this unit, all its digits.
std::string format_in_unit(std::int64_t count, const UnitName& unit);

// A plain decimal or 0x integer, or what is wrong with the text.
std::variant<std::int64_t, std::string> parse_integer(std::string_view text);

}  // namespace tilesim::arch::base::config
