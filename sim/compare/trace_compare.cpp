#include "sim/compare/trace_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"

namespace tilesim::sim::compare {

namespace {

// Two traces have parted where an event is off by this share of the time since the start, but not
// for a few cycles.
constexpr double kApart = 0.02;
constexpr double kFewCycles = 64;
using arch::base::kPercent;
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

// Traces begin with a broadcast: hardware may have missed the first events of a lane, which the
// simulation has. So many of them are passed over that the first gaps fit best.
constexpr std::size_t kGapsToFit = 3;
constexpr double kClearlyBetter = 0.8;

double misfit(const std::vector<Interval>& measured, const std::vector<Interval>& simulated,
              std::size_t skipped) {
    double worst = 0;
    for (std::size_t i = 0; i < kGapsToFit && i + 1 < measured.size(); ++i) {
        if (skipped + i + 1 >= simulated.size()) {
            return INFINITY;
        }
        const auto mine = static_cast<double>(measured[i + 1].begin - measured[i].begin);
        const auto theirs =
            static_cast<double>(simulated[skipped + i + 1].begin - simulated[skipped + i].begin);
        worst += std::abs(mine - theirs) / std::max(1.0, std::max(mine, theirs));
    }
    return worst;
}

std::size_t late_start(const std::vector<Interval>& measured,
                       const std::vector<Interval>& simulated) {
    std::size_t best = 0;
    double least = misfit(measured, simulated, 0) * kClearlyBetter;
    // A recording that begins late may also end later than the simulation.
    constexpr std::size_t kMostMissed = 2;
    const std::size_t more =
        simulated.size() > measured.size() ? simulated.size() - measured.size() : 0;
    const std::size_t spare =
        simulated.size() > kGapsToFit + kMostMissed ? std::max(more, kMostMissed) : more;
    for (std::size_t skipped = 1; skipped <= spare; ++skipped) {
        const double here = misfit(measured, simulated, skipped);
        if (here < least) {
            least = here;
            best = skipped;
        }
    }
    return best;
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
        const std::size_t skipped = late_start(intervals, other->second);
        const Start start{intervals[0].begin, other->second[skipped].begin};
        const auto [known, added] = starts.try_emplace(lane.first, start);
        if (!added && start.simulated < known->second.simulated) {
            known->second = start;
        }
    }
    return starts;
}

// The errors of the gaps from one begin to the next, percent of the measured gap.
std::vector<double> gap_errors(const std::vector<Interval>& measured,
                               const std::vector<Interval>& simulated) {
    std::vector<double> errors;
    for (std::size_t i = 0; i + 1 < std::min(measured.size(), simulated.size()); ++i) {
        const auto mine = static_cast<double>(measured[i + 1].begin - measured[i].begin);
        const auto theirs = static_cast<double>(simulated[i + 1].begin - simulated[i].begin);
        errors.push_back(kPercent * std::abs(theirs - mine) / std::max(1.0, mine));
    }
    return errors;
}

double median_of(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
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
    std::vector<double> gaps{};
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
    const std::vector<double> gaps = gap_errors(measured, simulated);
    sums.gaps.insert(sums.gaps.end(), gaps.begin(), gaps.end());
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
    row.median_gap_error = median_of(sums.gaps);
    row.worst_gap_error =
        sums.gaps.empty() ? 0 : *std::max_element(sums.gaps.begin(), sums.gaps.end());
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
        return row.event == kReadsWaiting ? "reads waiting for the link or a page of the fabric"
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

// Lengths and periods whose ratio is the same for nearly all of them, and not one.
std::optional<double> uniform_factor(const std::vector<EventRow>& rows) {
    constexpr std::int64_t kFewest = 4;  // occurrences
    std::vector<double> factors;
    for (const EventRow& row : rows) {
        if (row.compared >= kFewest && row.simulated_mean > 0 && row.simulated_period > 0) {
            factors.push_back(row.measured_mean / row.simulated_mean);
            factors.push_back(row.measured_period / row.simulated_period);
        }
    }
    if (factors.size() < 4) {
        return std::nullopt;
    }
    std::sort(factors.begin(), factors.end());
    const double middle = factors[factors.size() / 2];
    constexpr double kAlike = 0.005;
    const auto alike = std::count_if(factors.begin(), factors.end(), [&](double factor) {
        return std::abs(factor / middle - 1) < kAlike;
    });
    const bool most = 10 * alike >= 8 * static_cast<std::ptrdiff_t>(factors.size());
    return most && std::abs(middle - 1) > 2 * kAlike ? std::optional{middle} : std::nullopt;
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

TraceComparison compare_traces(const TraceFile& measured, const TraceFile& simulated) {
    TraceComparison result;
    result.flaws = measured.flaws;
    result.lost_packets = measured.lost_packets;
    std::vector<double> all_gaps;
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
        ++result.lanes_measured;
        result.events_measured += static_cast<std::int64_t>(intervals.size());
        if (other == simulated.lanes.end()) {
            unknown.insert(fmt::format("{} {}", kind, lane.second));
            continue;
        }
        RowSums& row = sums[{kind, lane.second}];
        row.row.unit = kind;
        row.row.event = lane.second;
        const auto skipped = static_cast<std::ptrdiff_t>(late_start(intervals, other->second));
        const std::vector<Interval> theirs(other->second.begin() + skipped, other->second.end());
        ++result.lanes_common;
        result.events_paired +=
            static_cast<std::int64_t>(std::min(intervals.size(), theirs.size()));
        add_lane(row, intervals, theirs);
        const std::vector<double> gaps = gap_errors(intervals, theirs);
        all_gaps.insert(all_gaps.end(), gaps.begin(), gaps.end());
        const auto divergence = first_divergence(lane, intervals, theirs, starts.at(lane.first));
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
    result.uniform_factor = uniform_factor(result.rows);
    result.cause = result.uniform_factor
                       ? fmt::format(
                             "everything lasts {:.4g} times as long in the measurement: "
                             "its ticks are of another clock, or of another length",
                             *result.uniform_factor)
                       : cause_of(result.rows);
    result.median_gap_error = median_of(all_gaps);
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
    std::string text = fmt::format(
        "{:<14} {:<30} {:>5} {:>15} {:>10} {:>10} {:>8} {:>10} {:>10} {:>8} {:>8} "
        "{:>12}\n",
        "unit", "event", "tiles", "compared", "measured", "simulated", "error", "period",
        "simulated", "gap", "worst", "excess/tile");
    for (const EventRow& row : comparison.rows) {
        text += fmt::format(
            "{:<14} {:<30} {:>5} {:>15} {:>10.1f} {:>10.1f} {:>+7.1f}% {:>10.1f} {:>10.1f} "
            "{:>7.1f}% {:>7.1f}% {:>+12.0f}\n",
            row.unit, row.event, row.tiles,
            fmt::format("{}/{}/{}", row.compared, row.measured, row.simulated), row.measured_mean,
            row.simulated_mean, kPercent * (row.simulated_mean / row.measured_mean - 1),
            row.measured_period, row.simulated_period, row.median_gap_error, row.worst_gap_error,
            row.excess);
    }
    text += fmt::format(
        "cycles of each unit's clock; compared/measured/simulated occurrences; gap: median error "
        "of "
        "the gaps between begins\ncoverage: {} of {} measured units, {} of {} events' lanes; {} of "
        "{} events paired ({:.0f} %), median gap error {:.1f} %\n",
        comparison.units_common, comparison.units_measured, comparison.lanes_common,
        comparison.lanes_measured, comparison.events_paired, comparison.events_measured,
        kPercent * static_cast<double>(comparison.events_paired) /
            static_cast<double>(std::max<std::int64_t>(1, comparison.events_measured)),
        comparison.median_gap_error);
    if (comparison.column_shift != 0) {
        text += fmt::format("the design was loaded {} columns further east than it says\n",
                            comparison.column_shift);
    }
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
            {"lanes_measured", comparison.lanes_measured},
            {"lanes_common", comparison.lanes_common},
            {"events_measured", comparison.events_measured},
            {"events_paired", comparison.events_paired},
            {"median_gap_error_percent", comparison.median_gap_error},
            {"column_shift", comparison.column_shift},
            {"lost_packets", comparison.lost_packets},
            {"not_simulated", comparison.only_measured},
            {"flaws", comparison.flaws},
            {"first_divergence", first},
            {"uniform_factor", comparison.uniform_factor
                                   ? nlohmann::ordered_json(*comparison.uniform_factor)
                                   : nlohmann::ordered_json(nullptr)},
            {"cause", comparison.cause}};
}

}  // namespace tilesim::sim::compare
