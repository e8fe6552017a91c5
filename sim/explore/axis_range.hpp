// The values of a range: "from 32 KiB to 512 KiB by a factor of 2".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilesim::sim::explore {

struct AxisRange {
    std::string from, to;                     // numbers, with units of one kind or without
    std::optional<std::string> step = {};     // added; a unit of the same kind
    std::optional<std::string> factor = {};   // multiplied
    std::optional<std::int64_t> points = {};  // how many, both ends included
    bool logarithmic = false;                 // spacing of `points`
};

// Both ends included where they are met, each in the unit of `from`. Whole ends without a unit give
// whole values. As many values as the range says, all different, or it throws std::invalid_argument
// with what is wrong.
std::vector<std::string> values_of(const AxisRange& range);

}  // namespace tilesim::sim::explore
