// A point of a sweep as seen before it is simulated: what its cost may depend on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/explore/cost_law.hpp"
#include "sim/explore/point.hpp"

namespace tilesim::sim::explore {

struct Outlook {
    const Point* point = nullptr;
    std::string kind;  // its device; moving real bytes is work of another kind
    PointFeatures features;
    bool sampled = false;     // as the sweep runs it
    bool has_rounds = false;  // may be judged by a few
    enum class State { Open, Running, Done } state = State::Open;
    std::optional<double> wall_s;
    double stopped_s = 0;  // after so long
};

// Those of the points that can be built.
std::vector<Outlook> outlooks(const SweepFile& sweep, const std::vector<Point>& points);

}  // namespace tilesim::sim::explore
