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
#include "sim/compare/alignment.hpp"

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

// Of one lane, what can be compared: lengths of events whose begin is known, gaps between such.
struct Comparable {
    std::vector<std::pair<double, double>> lengths;  // measured, simulated
    std::vector<std::pair<double, double>> gaps;
};

Comparable comparable(const PairedLane& lane) {
    Comparable result;
    const Pair* before = nullptr;
    for (const Pair& pair : lane.pairs) {
        if (pair.begin_known) {
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

double median_of(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
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
    row.median_gap_error = median_of(sums.gaps);
    row.worst_gap_error =
        sums.gaps.empty() ? 0 : *std::max_element(sums.gaps.begin(), sums.gaps.end());
    if (sums.lanes > 0) {
        row.measured_period = sums.measured_periods / sums.lanes;
        row.simulated_period = sums.simulated_periods / sums.lanes;
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

struct Length {
    double measured = 0, simulated = 0;

    double factor() const { return measured / simulated; }
};

double middle_factor(std::vector<Length> lengths) {
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end(),
                     [](const Length& a, const Length& b) { return a.factor() < b.factor(); });
    return middle->factor();
}

// Lengths and periods whose ratio is the same for nearly all of them, and not one. Ticks are whole:
// a length may be one off, so that long ones tell the ratio, and those too short to show it
// nothing.
std::optional<double> uniform_factor(const std::vector<EventRow>& rows) {
    constexpr std::int64_t kFewest = 4;  // occurrences
    constexpr double kAlike = 0.005;
    constexpr double kTick = 1;
    std::vector<Length> lengths;
    std::vector<Length> long_ones;
    const auto add = [&](double measured, double simulated) {
        lengths.push_back({measured, simulated});
        if (std::min(measured, simulated) * kAlike >= kTick) {
            long_ones.push_back(lengths.back());
        }
    };
    for (const EventRow& row : rows) {
        if (row.compared >= kFewest && row.simulated_mean > 0 && row.simulated_period > 0) {
            add(row.measured_mean, row.simulated_mean);
            add(row.measured_period, row.simulated_period);
        }
    }
    if (lengths.size() < 4) {
        return std::nullopt;
    }
    const double middle = middle_factor(long_ones.size() < 4 ? lengths : long_ones);
    std::erase_if(lengths, [&](const Length& each) {
        return std::abs(middle - 1) * each.simulated < 2 * kTick;
    });
    const auto alike = std::count_if(lengths.begin(), lengths.end(), [&](const Length& each) {
        const double expected = middle * each.simulated;
        return std::abs(each.measured - expected) <= std::max(kTick, kAlike * expected);
    });
    const bool most =
        lengths.size() >= 4 && 10 * alike >= 8 * static_cast<std::ptrdiff_t>(lengths.size());
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
    result.median_gap_error = median_of(gaps);
    return sums;
}

// Cycles from one lock instruction of a core to the next, the fewest there are.
std::optional<std::int64_t> lock_spacing(const PairedUnit& unit, bool measured) {
    std::vector<std::int64_t> begins;
    for (const auto& [event, lane] : unit.lanes) {
        if (event.starts_with("INSTR_LOCK_")) {
            for (const Pair& pair : lane.pairs) {
                begins.push_back((measured ? pair.measured : pair.simulated).begin);
            }
        }
    }
    std::sort(begins.begin(), begins.end());
    std::optional<std::int64_t> least;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
        const std::int64_t gap = begins[i + 1] - begins[i];
        least = std::min(least.value_or(gap), gap);
    }
    return least;
}

// How far apart a compiler puts lock instructions is its own business: the key that says so.
void note_lock_spacing(const std::map<std::string, PairedUnit>& units, TraceComparison& result) {
    for (const auto& [name, unit] : units) {
        const auto mine = lock_spacing(unit, true);
        const auto theirs = lock_spacing(unit, false);
        if (mine && theirs && std::abs(*mine - *theirs) > 1) {
            result.notes.push_back(fmt::format(
                "{}: lock instructions follow each other after {} cycles at least, {} in the "
                "simulation: --set 'device.npu.core.lock_cycles={} cycle' says so",
                name, *mine, *theirs, *mine));
            return;
        }
    }
}

void name_cause(TraceComparison& result) {
    std::stable_sort(result.rows.begin(), result.rows.end(),
                     [](const EventRow& a, const EventRow& b) {
                         return std::abs(a.excess) > std::abs(b.excess);
                     });
    result.uniform_factor = uniform_factor(result.rows);
    result.cause = result.uniform_factor
                       ? fmt::format(
                             "everything lasts {:.4g} times as long in the measurement: "
                             "its ticks are of another clock, or of another length",
                             *result.uniform_factor)
                       : cause_of(result.rows);
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
    note_lock_spacing(units, result);
    if (sums.empty()) {
        throw arch::base::config::ConfigError(fmt::format(
            "not comparable: no unit and event of the trace ({} ...) is in the simulation ({} ...)",
            measured.lanes.begin()->first.first, simulated.lanes.begin()->first.first));
    }
    for (const auto& [key, sum] : sums) {
        result.rows.push_back(finished(sum));
        const EventRow& row = result.rows.back();
        if (row.event == kKernel && row.simulated_period > 0 && row.measured_period > 0) {
            result.period_error_percent =
                kPercent * (row.simulated_period / row.measured_period - 1);
        }
    }
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

std::string to_table(const TraceComparison& comparison) {
    std::string text = fmt::format(
        "{:<14} {:<30} {:>5} {:>15} {:>10} {:>10} {:>8} {:>10} {:>10} {:>8} {:>8} "
        "{:>12}\n",
        "unit", "event", "tiles", "compared", "measured", "simulated", "error", "period",
        "simulated", "gap", "worst", "excess/tile");
    for (const EventRow& row : comparison.rows) {
        const std::string error =
            row.measured_mean > 0
                ? fmt::format("{:+.1f}%", kPercent * (row.simulated_mean / row.measured_mean - 1))
                : "-";
        text += fmt::format(
            "{:<14} {:<30} {:>5} {:>15} {:>10.1f} {:>10.1f} {:>8} {:>10.1f} {:>10.1f} "
            "{:>7.1f}% {:>7.1f}% {:>+12.0f}\n",
            row.unit, row.event, row.tiles,
            fmt::format("{}/{}/{}", row.compared, row.measured, row.simulated), row.measured_mean,
            row.simulated_mean, error, row.measured_period, row.simulated_period,
            row.median_gap_error, row.worst_gap_error, row.excess);
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
    for (const std::string& note : comparison.notes) {
        text += fmt::format("note: {}\n", note);
    }
    for (const Divergence& at : comparison.first) {
        text += fmt::format(
            "first divergence: {} {} number {} (cycle {} of the measurement): {} cycles after the "
            "first {} measured, {} simulated\n",
            at.unit, at.event, at.occurrence, at.recorded_at, at.measured, at.since, at.simulated);
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
                        {"median_gap_error_percent", row.median_gap_error},
                        {"worst_gap_error_percent", row.worst_gap_error},
                        {"excess_cycles_per_tile", row.excess}});
    }
    nlohmann::ordered_json first;
    for (const Divergence& at : comparison.first) {
        first = {{"unit", at.unit},
                 {"event", at.event},
                 {"occurrence", at.occurrence},
                 {"since", at.since},
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
            {"notes", comparison.notes},
            {"first_divergence", first},
            {"uniform_factor", comparison.uniform_factor
                                   ? nlohmann::ordered_json(*comparison.uniform_factor)
                                   : nlohmann::ordered_json(nullptr)},
            {"cause", comparison.cause}};
}

}  // namespace tilesim::sim::compare
