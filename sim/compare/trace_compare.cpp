#include "sim/compare/trace_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "sim/compare/alignment.hpp"
#include "sim/compare/timing_file.hpp"
#include "sim/compare/trace_cause.hpp"
#include "sim/compare/traced_tile.hpp"

namespace tilesim::sim::compare {

namespace {

// Two traces have parted where an event is off by kApart of the time since the start, but not for a
// few cycles.
constexpr double kFewCycles = 64;
using arch::base::kPercent;

// Of one lane, what can be compared: lengths of events that are in the recording from begin to end,
// gaps between begins that are.
struct Comparable {
    std::vector<std::pair<double, double>> lengths;  // measured, simulated
    std::vector<std::pair<double, double>> gaps;
};

Comparable comparable(const PairedLane& lane) {
    Comparable result;
    const Pair* before = nullptr;
    for (const Pair& pair : lane.pairs) {
        if (pair.length_known()) {
            result.lengths.emplace_back(pair.measured.end - pair.measured.begin,
                                        pair.simulated.end - pair.simulated.begin);
        }
        if (before != nullptr && before->begin_known) {
            result.gaps.emplace_back(pair.measured.begin - before->measured.begin,
                                     pair.simulated.begin - before->simulated.begin);
        }
        before = &pair;
    }
    return result;
}

// Percent of the measured gap.
double gap_error(const std::pair<double, double>& gap) {
    return kPercent * std::abs(gap.second - gap.first) / std::max(1.0, gap.first);
}

std::optional<Divergence> first_divergence(const std::string& name, const std::string& event,
                                           const PairedUnit& unit, const PairedLane& lane) {
    for (std::size_t i = 0; i < lane.pairs.size(); ++i) {
        const Pair& pair = lane.pairs[i];
        const std::int64_t mine = pair.measured.begin - unit.measured_start;
        const std::int64_t theirs = pair.simulated.begin - unit.simulated_start;
        const double apart = std::abs(static_cast<double>(mine - theirs));
        if (pair.begin_known &&
            apart > std::max(kFewCycles, kApart * static_cast<double>(theirs))) {
            return Divergence{name,
                              event,
                              static_cast<std::int64_t>(i) + 1,
                              mine,
                              theirs,
                              unit.first_event,
                              pair.measured.begin};
        }
    }
    return std::nullopt;
}

// Sums that become a row's means.
struct RowSums {
    EventRow row;
    double measured = 0, simulated = 0;                  // cycles of the lengths
    double lengths = 0;                                  // occurrences these are of
    double measured_periods = 0, simulated_periods = 0;  // means, a lane each
    double lanes = 0;                                    // with a gap
    std::vector<double> gaps{};
};

void add_lane(RowSums& sums, const PairedLane& lane) {
    EventRow& row = sums.row;
    ++row.tiles;
    row.compared += static_cast<std::int64_t>(lane.pairs.size());
    row.measured += lane.measured;
    row.simulated += lane.simulated;
    const Comparable parts = comparable(lane);
    for (const auto& [mine, theirs] : parts.lengths) {
        sums.measured += mine;
        sums.simulated += theirs;
        sums.lengths += 1;
    }
    double mine = 0;
    double theirs = 0;
    for (const auto& gap : parts.gaps) {
        mine += gap.first;
        theirs += gap.second;
        sums.gaps.push_back(gap_error(gap));
    }
    if (!parts.gaps.empty()) {
        const auto count = static_cast<double>(parts.gaps.size());
        sums.measured_periods += mine / count;
        sums.simulated_periods += theirs / count;
        sums.lanes += 1;
    }
}

EventRow finished(const RowSums& sums) {
    EventRow row = sums.row;
    if (sums.lengths > 0) {
        row.measured_mean = sums.measured / sums.lengths;
        row.simulated_mean = sums.simulated / sums.lengths;
    }
    row.excess = (sums.measured - sums.simulated) / static_cast<double>(row.tiles);
    row.median_gap_error = sums.gaps.empty() ? 0 : median(sums.gaps);
    row.gap_errors = sums.gaps;
    row.worst_gap_error =
        sums.gaps.empty() ? 0 : *std::max_element(sums.gaps.begin(), sums.gaps.end());
    if (sums.lanes > 0) {
        row.measured_period = sums.measured_periods / sums.lanes;
        row.simulated_period = sums.simulated_periods / sums.lanes;
    }
    return row;
}

}  // namespace

namespace {

using RowKey = std::pair<std::string, std::string>;  // kind of unit, event

// Which bank opens when is the scheduler's business, not the design's.
bool is_compared(const Lane& lane) {
    return !lane.second.starts_with("BANK_");
}

// What the measurement holds, and what of it the simulation has nothing for.
void count_coverage(const TraceFile& measured, const std::map<std::string, PairedUnit>& units,
                    TraceComparison& result) {
    std::set<std::string> all;
    std::set<std::string> unknown;
    for (const auto& [lane, intervals] : measured.lanes) {
        if (!is_compared(lane)) {
            continue;
        }
        all.insert(lane.first);
        ++result.lanes_measured;
        result.events_measured += static_cast<std::int64_t>(intervals.size());
        const auto unit = units.find(lane.first);
        if (unit == units.end() || !unit->second.lanes.contains(lane.second)) {
            unknown.insert(fmt::format("{} {}", kind_of(lane.first), lane.second));
        }
    }
    result.units_measured = static_cast<std::int64_t>(all.size());
    result.units_common = static_cast<std::int64_t>(units.size());
    result.only_measured.assign(unknown.begin(), unknown.end());
}

std::map<RowKey, RowSums> sums_of(const std::map<std::string, PairedUnit>& units,
                                  TraceComparison& result) {
    std::map<RowKey, RowSums> sums;
    std::vector<double> gaps;
    std::int64_t cut = 0;
    for (const auto& [name, unit] : units) {
        for (const auto& [event, lane] : unit.lanes) {
            if (!is_compared({name, event})) {
                continue;
            }
            const std::string kind = kind_of(name);
            RowSums& row = sums[{kind, event}];
            row.row.unit = kind;
            row.row.event = event;
            ++result.lanes_common;
            result.events_paired += static_cast<std::int64_t>(lane.pairs.size());
            cut += std::count_if(lane.pairs.begin(), lane.pairs.end(), [](const Pair& pair) {
                return pair.measured.begin_is_cut || pair.measured.end_is_cut;
            });
            const std::size_t before = row.gaps.size();
            add_lane(row, lane);
            gaps.insert(gaps.end(), row.gaps.begin() + static_cast<std::ptrdiff_t>(before),
                        row.gaps.end());
            const auto divergence = first_divergence(name, event, unit, lane);
            if (divergence &&
                (result.first.empty() || divergence->simulated < result.first[0].simulated)) {
                result.first = {*divergence};
            }
        }
    }
    result.median_gap_error = gaps.empty() ? 0 : median(gaps);
    if (cut > 0) {
        result.notes.push_back(fmt::format(
            "{} events are cut by the trace's window: their lengths are not compared", cut));
    }
    return sums;
}

// A host that starts a design several times records several runs of it in one trace.
void note_further_runs(TraceComparison& result) {
    constexpr std::int64_t kFewEvents = 4;  // events of a run that may be more for other reasons
    std::optional<std::int64_t> runs;
    for (const EventRow& row : result.rows) {
        if (row.simulated >= kFewEvents) {
            const std::int64_t times = row.measured / row.simulated;
            runs = std::min(runs.value_or(times), times);
        }
    }
    if (runs.value_or(0) > 1) {
        result.notes.push_back(
            fmt::format("the recording has {} times the events of the simulated run: several runs; "
                        "the first is compared",
                        *runs));
    }
}

}  // namespace

TraceComparison compare_traces(const TraceFile& measured, const TraceFile& simulated) {
    TraceComparison result;
    result.flaws = measured.flaws;
    result.notes = measured.notes;
    result.lost_packets = measured.lost_packets;
    const std::map<std::string, PairedUnit> units = paired(measured, simulated);
    count_coverage(measured, units, result);
    const std::map<RowKey, RowSums> sums = sums_of(units, result);
    if (sums.empty()) {
        const auto text_of = [](const Lane& lane) {
            return fmt::format("{} {} ...", lane.first, lane.second);
        };
        throw arch::base::config::ConfigError(fmt::format(
            "not comparable: no unit and event of the trace ({}) is in the simulation ({})",
            text_of(measured.lanes.begin()->first), text_of(simulated.lanes.begin()->first)));
    }
    for (const auto& [key, sum] : sums) {
        result.rows.push_back(finished(sum));
        const EventRow& row = result.rows.back();
        if (row.event == kKernel && row.simulated_period > 0 && row.measured_period > 0) {
            result.period_error_percent =
                kPercent * (row.simulated_period / row.measured_period - 1);
        }
    }
    note_further_runs(result);
    name_cause(result);
    return result;
}

nlohmann::ordered_json timelines(const TraceFile& measured, const TraceFile& simulated,
                                 std::size_t most) {
    const auto side = [most](const std::vector<Interval>& intervals, std::int64_t start) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < std::min(most, intervals.size()); ++i) {
            list.push_back({intervals[i].begin - start, intervals[i].end - start});
        }
        return list;
    };
    nlohmann::ordered_json drawn = nlohmann::ordered_json::object();
    for (const auto& [name, unit] : paired(measured, simulated)) {
        for (const auto& [event, lane] : unit.lanes) {
            drawn[name][event] = {
                {"measured", side(measured.lanes.at({name, event}), unit.measured_start)},
                {"simulated", side(simulated.lanes.at({name, event}), unit.simulated_start)}};
        }
    }
    return drawn;
}

}  // namespace tilesim::sim::compare
