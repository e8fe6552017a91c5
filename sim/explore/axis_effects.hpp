// Which axes of a sweep changed anything.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/explore/point.hpp"
#include "sim/explore/simulate.hpp"

namespace tilesim::sim::explore {

// Compares points that differ in one axis alone.
class AxisEffects {
  public:
    explicit AxisEffects(const SweepFile& sweep);

    void add(const Point& point, const Simulated& simulated);

    // An axis with which no result differed, and how many were compared.
    struct Unfelt {
        std::string axis;  // its keys
        std::int64_t compared = 0;
    };
    std::vector<Unfelt> unfelt() const;

  private:
    struct First {
        std::size_t result = 0;
        bool alone = true;
    };
    struct Effect {
        const Axis& axis;
        bool felt = false;
        std::int64_t compared = 0;
        // What the other axes set -> the result at the first of this one's values that has ended.
        std::unordered_map<std::string, First> first = {};
    };
    std::vector<Effect> effects_;
};

}  // namespace tilesim::sim::explore
