#include "sim/compare/traced_tile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <map>
#include <utility>

namespace tilesim::sim::compare {

namespace {

// Row and column of "core_trace for tile2,3"; nothing where a unit is no tile's.
std::optional<std::pair<long long, long long>> place_of(const std::string& unit) {
    long long row = 0;
    long long column = 0;
    const std::size_t tile = unit.find("for tile");
    const bool found = tile != std::string::npos &&
                       std::sscanf(unit.c_str() + tile, "for tile%lld,%lld", &row, &column) == 2;
    return found ? std::optional{std::pair{row, column}} : std::nullopt;
}

}  // namespace

std::string kind_of(const std::string& unit) {
    return unit.substr(0, unit.find_first_of(" ("));
}

std::optional<std::string> foreign_tile(const TraceFile& trace, std::int64_t rows,
                                        std::int64_t columns) {
    for (const auto& [lane, intervals] : trace.lanes) {
        const auto place = place_of(lane.first);
        if (place && (place->first >= rows || place->second >= columns)) {
            return lane.first;
        }
    }
    return std::nullopt;
}

std::int64_t column_shift(const TraceFile& measured, const TraceFile& simulated) {
    // Of tiles whose kind of unit and row both sides have.
    std::map<std::pair<std::string, long long>, std::pair<long long, long long>> columns;
    const auto least = [&columns](const TraceFile& trace, bool first) {
        for (const auto& [lane, intervals] : trace.lanes) {
            if (const auto place = place_of(lane.first)) {
                auto& [mine, theirs] = columns
                                           .try_emplace({kind_of(lane.first), place->first},
                                                        std::pair{LLONG_MAX, LLONG_MAX})
                                           .first->second;
                long long& column = first ? mine : theirs;
                column = std::min(column, place->second);
            }
        }
    };
    least(measured, true);
    least(simulated, false);
    long long mine = LLONG_MAX;
    long long theirs = LLONG_MAX;
    for (const auto& [kind, pair] : columns) {
        if (pair.first != LLONG_MAX && pair.second != LLONG_MAX) {
            mine = std::min(mine, pair.first);
            theirs = std::min(theirs, pair.second);
        }
    }
    return mine == LLONG_MAX ? 0 : static_cast<std::int64_t>(mine - theirs);
}

TraceFile shifted(const TraceFile& trace, std::int64_t columns) {
    TraceFile result = trace;
    result.lanes.clear();
    for (const auto& [lane, intervals] : trace.lanes) {
        const auto place = place_of(lane.first);
        const std::string unit = place ? fmt::format("{} for tile{},{}", kind_of(lane.first),
                                                     place->first, place->second - columns)
                                       : lane.first;
        result.lanes[{unit, lane.second}] = intervals;
    }
    return result;
}

}  // namespace tilesim::sim::compare
