#include "sim/compare/trace_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "arch/base/config.hpp"

namespace tilesim::sim::compare {

namespace {

// Two traces have parted where an event is off by this share of the time since the start, but not
// for a few cycles.
constexpr double kApart = 0.02;
constexpr double kFewCycles = 64;
constexpr double kPercent = 100.0;
constexpr const char* kKernel = "INSTR_VECTOR";

std::string kind_of(const std::string& unit) {
    return unit.substr(0, unit.find_first_of(" ("));  // "core_trace for ...", "fabric.port(2)"
}

double mean_length(const std::vector<Interval>& intervals, std::size_t count) {
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
        total += static_cast<double>(intervals[i].end - intervals[i].begin);
    }
    return total / static_cast<double>(count);
}

double mean_period(const std::vector<Interval>& intervals, std::size_t count) {
    return count < 2 ? 0.0
                     : static_cast<double>(intervals[count - 1].begin - intervals[0].begin) /
                           static_cast<double>(count - 1);
}

// Cycle at which a unit's first event common to both sides begins, on each side.
struct Start {
    std::int64_t measured = 0, simulated = 0;
};

std::map<std::string, Start> starts_of(const TraceFile& measured, const TraceFile& simulated) {
    std::map<std::string, Start> starts;
    for (const auto& [lane, intervals] : measured.lanes) {
        const auto other = simulated.lanes.find(lane);
        if (other == simulated.lanes.end()) {
            continue;
        }
        const Start start{intervals[0].begin, other->second[0].begin};
        const auto [known, added] = starts.try_emplace(lane.first, start);
        if (!added && start.simulated < known->second.simulated) {
            known->second = start;
        }
    }
    return starts;
}

std::optional<Divergence> first_divergence(const Lane& lane, const std::vector<Interval>& measured,
                                           const std::vector<Interval>& simulated, Start start) {
    for (std::size_t i = 0; i < std::min(measured.size(), simulated.size()); ++i) {
        const std::int64_t mine = measured[i].begin - start.measured;
        const std::int64_t theirs = simulated[i].begin - start.simulated;
        const double apart = std::abs(static_cast<double>(mine - theirs));
        if (apart > std::max(kFewCycles, kApart * static_cast<double>(theirs))) {
            return Divergence{lane.first, lane.second, static_cast<std::int64_t>(i) + 1, mine,
                              theirs};
        }
    }
    return std::nullopt;
}

// Sums that become a row's means.
struct RowSums {
    EventRow row;
    double weight = 0;   // compared occurrences
    double periods = 0;  // tiles with a period
};

void add_lane(RowSums& sums, const std::vector<Interval>& measured,
              const std::vector<Interval>& simulated) {
    const std::size_t count = std::min(measured.size(), simulated.size());
    const auto weight = static_cast<double>(count);
    EventRow& row = sums.row;
    ++row.tiles;
    row.compared += static_cast<std::int64_t>(count);
    row.measured += static_cast<std::int64_t>(measured.size());
    row.simulated += static_cast<std::int64_t>(simulated.size());
    const double mine = mean_length(measured, count);
    const double theirs = mean_length(simulated, count);
    row.measured_mean += weight * mine;
    row.simulated_mean += weight * theirs;
    row.excess += weight * (mine - theirs);
    sums.weight += weight;
    if (count > 1) {
        row.measured_period += mean_period(measured, count);
        row.simulated_period += mean_period(simulated, count);
        sums.periods += 1;
    }
}

EventRow finished(const RowSums& sums) {
    EventRow row = sums.row;
    row.measured_mean /= sums.weight;
    row.simulated_mean /= sums.weight;
    row.excess /= static_cast<double>(row.tiles);
    if (sums.periods > 0) {
        row.measured_period /= sums.periods;
        row.simulated_period /= sums.periods;
    }
    return row;
}

constexpr const char* kReadsWaiting = "READS_WAITING";

std::string meaning_of(const EventRow& row) {
    if (row.unit == "core_trace" && row.event == kKernel) {
        return "the core kernel";
    }
    if (row.unit == "core_trace" && row.event == "LOCK_STALL") {
        return "cores waiting for locks: data or space arrives at another rate";
    }
    if (row.unit == "shim_trace" && row.event.find("LOCK") == row.event.npos) {
        return "shim transfers: DRAM, its fabric, or back-pressure from the array";
    }
    if (row.unit == "fabric.port") {
        return row.event == kReadsWaiting ? "reads waiting for an entry of the fabric (read_blocks)"
                                          : "reads under way: the latency of fabric and DRAM";
    }
    if (row.event.ends_with("STALLED_LOCK")) {
        return "buffers that are not free or not full in time";
    }
    return row.event.find("STARVATION") != row.event.npos ||
                   row.event.find("BACKPRESSURE") != row.event.npos
               ? "streams"
               : row.unit + " " + row.event;
}

// A kernel that takes another time explains the waiting around it; then transfers at the shim;
// then whatever has the largest excess.
std::string cause_of(const std::vector<EventRow>& rows) {
    const auto relative = [](const EventRow& row) {
        return row.simulated_mean > 0 ? std::abs(row.measured_mean / row.simulated_mean - 1) : 0.0;
    };
    const auto text = [&](const EventRow& row) {
        return fmt::format("{} ({} {}: {:.0f} cycles measured, {:.0f} simulated)", meaning_of(row),
                           row.unit, row.event, row.measured_mean, row.simulated_mean);
    };
    for (const EventRow& row : rows) {
        if (row.event == kKernel && relative(row) > kApart) {
            return text(row);
        }
    }
    for (const EventRow& row : rows) {
        if (row.unit == "shim_trace" && row.event.ends_with("RUNNING") && relative(row) > kApart) {
            std::string cause = text(row);
            for (const EventRow& fabric : rows) {
                if (fabric.event == kReadsWaiting && std::abs(fabric.excess) > 0) {
                    cause += fmt::format("; {}: {:+.0f} cycles a port", meaning_of(fabric),
                                         fabric.excess);
                }
            }
            return cause;
        }
    }
    return rows.empty() || relative(rows[0]) <= kApart ? "nothing stands out" : text(rows[0]);
}

}  // namespace

std::optional<std::string> foreign_tile(const TraceFile& trace, std::int64_t rows,
                                        std::int64_t columns) {
    for (const auto& [lane, intervals] : trace.lanes) {
        long long row = 0;
        long long column = 0;
        const std::size_t tile = lane.first.find("for tile");
        if (tile != std::string::npos &&
            std::sscanf(lane.first.c_str() + tile, "for tile%lld,%lld", &row, &column) == 2 &&
            (row >= rows || column >= columns)) {
            return lane.first;
        }
    }
    return std::nullopt;
}

TraceComparison compare_traces(const TraceFile& measured, const TraceFile& simulated) {
    TraceComparison result;
    result.flaws = measured.flaws;
    const std::map<std::string, Start> starts = starts_of(measured, simulated);
    std::set<std::string> units;
    std::set<std::string> unknown;
    std::map<std::pair<std::string, std::string>, RowSums> sums;
    for (const auto& [lane, intervals] : measured.lanes) {
        if (lane.second.starts_with("BANK_")) {
            continue;  // which bank opens when is the scheduler's business, not the design's
        }
        units.insert(lane.first);
        const auto other = simulated.lanes.find(lane);
        const std::string kind = kind_of(lane.first);
        if (other == simulated.lanes.end()) {
            unknown.insert(fmt::format("{} {}", kind, lane.second));
            continue;
        }
        RowSums& row = sums[{kind, lane.second}];
        row.row.unit = kind;
        row.row.event = lane.second;
        add_lane(row, intervals, other->second);
        const auto divergence =
            first_divergence(lane, intervals, other->second, starts.at(lane.first));
        if (divergence &&
            (result.first.empty() || divergence->simulated < result.first[0].simulated)) {
            result.first = {*divergence};
        }
    }
    if (sums.empty()) {
        throw arch::base::config::ConfigError(fmt::format(
            "not comparable: no unit and event of the trace ({} ...) is in the simulation ({} ...)",
            measured.lanes.begin()->first.first, simulated.lanes.begin()->first.first));
    }
    for (const auto& [key, sum] : sums) {
        result.rows.push_back(finished(sum));
        const EventRow& row = result.rows.back();
        if (row.event == kKernel && row.simulated_period > 0) {
            result.period_error_percent =
                kPercent * (row.simulated_period / row.measured_period - 1);
        }
    }
    std::stable_sort(result.rows.begin(), result.rows.end(),
                     [](const EventRow& a, const EventRow& b) {
                         return std::abs(a.excess) > std::abs(b.excess);
                     });
    result.units_measured = static_cast<std::int64_t>(units.size());
    result.units_common = static_cast<std::int64_t>(starts.size());
    result.only_measured.assign(unknown.begin(), unknown.end());
    result.cause = cause_of(result.rows);
    return result;
}

nlohmann::ordered_json timelines(const TraceFile& measured, const TraceFile& simulated,
                                 std::size_t most) {
    const std::map<std::string, Start> starts = starts_of(measured, simulated);
    const auto side = [most](const std::vector<Interval>& intervals, std::int64_t start) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < std::min(most, intervals.size()); ++i) {
            list.push_back({intervals[i].begin - start, intervals[i].end - start});
        }
        return list;
    };
    nlohmann::ordered_json units = nlohmann::ordered_json::object();
    for (const auto& [lane, intervals] : measured.lanes) {
        const auto other = simulated.lanes.find(lane);
        if (other != simulated.lanes.end()) {
            const Start& start = starts.at(lane.first);
            units[lane.first][lane.second] = {{"measured", side(intervals, start.measured)},
                                              {"simulated", side(other->second, start.simulated)}};
        }
    }
    return units;
}

std::string to_table(const TraceComparison& comparison) {
    std::string text =
        fmt::format("{:<14} {:<30} {:>5} {:>15} {:>10} {:>10} {:>8} {:>10} {:>10} {:>12}\n", "unit",
                    "event", "tiles", "compared", "measured", "simulated", "error", "period",
                    "simulated", "excess/tile");
    for (const EventRow& row : comparison.rows) {
        text += fmt::format(
            "{:<14} {:<30} {:>5} {:>15} {:>10.1f} {:>10.1f} {:>+7.1f}% {:>10.1f} {:>10.1f} "
            "{:>+12.0f}\n",
            row.unit, row.event, row.tiles,
            fmt::format("{}/{}/{}", row.compared, row.measured, row.simulated), row.measured_mean,
            row.simulated_mean, kPercent * (row.simulated_mean / row.measured_mean - 1),
            row.measured_period, row.simulated_period, row.excess);
    }
    text += fmt::format(
        "cycles of each unit's clock; compared/measured/simulated occurrences\ncoverage: {} of {} "
        "measured units\n",
        comparison.units_common, comparison.units_measured);
    for (const std::string& event : comparison.only_measured) {
        text += fmt::format("  not simulated: {}\n", event);
    }
    for (const std::string& flaw : comparison.flaws) {
        text += fmt::format("  partial trace: {}\n", flaw);
    }
    for (const Divergence& at : comparison.first) {
        text += fmt::format("first divergence: {} {} number {}: cycle {} measured, {} simulated\n",
                            at.unit, at.event, at.occurrence, at.measured, at.simulated);
    }
    return text + fmt::format("most of the difference: {}\n", comparison.cause);
}

nlohmann::ordered_json to_json(const TraceComparison& comparison) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const EventRow& row : comparison.rows) {
        rows.push_back({{"unit", row.unit},
                        {"event", row.event},
                        {"tiles", row.tiles},
                        {"compared", row.compared},
                        {"measured", row.measured},
                        {"simulated", row.simulated},
                        {"measured_mean_cycles", row.measured_mean},
                        {"simulated_mean_cycles", row.simulated_mean},
                        {"measured_period_cycles", row.measured_period},
                        {"simulated_period_cycles", row.simulated_period},
                        {"excess_cycles_per_tile", row.excess}});
    }
    nlohmann::ordered_json first;
    for (const Divergence& at : comparison.first) {
        first = {{"unit", at.unit},
                 {"event", at.event},
                 {"occurrence", at.occurrence},
                 {"measured_cycle", at.measured},
                 {"simulated_cycle", at.simulated}};
    }
    return {{"rows", std::move(rows)},
            {"units_measured", comparison.units_measured},
            {"units_common", comparison.units_common},
            {"not_simulated", comparison.only_measured},
            {"flaws", comparison.flaws},
            {"first_divergence", first},
            {"cause", comparison.cause}};
}

}  // namespace tilesim::sim::compare
