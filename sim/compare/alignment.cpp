#include "sim/compare/alignment.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

namespace tilesim::sim::compare {

namespace {

using Intervals = std::vector<Interval>;

struct LaneSides {
    const Intervals* measured = nullptr;
    const Intervals* simulated = nullptr;
};
using Lanes = std::map<std::string, LaneSides>;

constexpr std::size_t kGapsToFit = 3;
constexpr double kClearlyBetter = 0.2;       // of a lane's mean misfit
constexpr std::size_t kMostStarts = 20'000;  // cycles tried

// The earliest cycle of a unit's first command: what is on there may have begun at any time before.
constexpr std::int64_t kFirstCommand = 1;

// A level that lasts, which may be on as a recording begins; the others are pulses, and
// INSTR_VECTOR lies between two of them.
bool lasts(const std::string& event) {
    const auto holds = [&event](const char* part) { return event.find(part) != event.npos; };
    return holds("STALL") || holds("RUNNING") || holds("STARVATION") || holds("BACKPRESSURE");
}

// Events that are over before the recording begins are not in it.
std::size_t missed(const Intervals& simulated, std::int64_t start) {
    return static_cast<std::size_t>(
        std::partition_point(simulated.begin(), simulated.end(),
                             [start](const Interval& each) { return each.end <= start; }) -
        simulated.begin());
}

double misfit_of(const LaneSides& lane, std::size_t skipped) {
    const Intervals& mine = *lane.measured;
    const Intervals& theirs = *lane.simulated;
    if (skipped >= theirs.size()) {
        return static_cast<double>(kGapsToFit);
    }
    double sum = 0;
    // From a begin that is cut no gap is known.
    const std::size_t first = !mine.empty() && mine[0].begin_is_cut ? 1 : 0;
    for (std::size_t i = first; i < first + kGapsToFit && i + 1 < mine.size(); ++i) {
        if (mine[i + 1].after_restart) {
            break;
        }
        if (skipped + i + 1 >= theirs.size()) {
            sum += 1;
            continue;
        }
        const auto measured = static_cast<double>(mine[i + 1].begin - mine[i].begin);
        const auto simulated =
            static_cast<double>(theirs[skipped + i + 1].begin - theirs[skipped + i].begin);
        sum += std::abs(measured - simulated) / std::max(1.0, std::max(measured, simulated));
    }
    return sum;
}

double misfit_of(const Lanes& lanes, std::int64_t start) {
    double sum = 0;
    for (const auto& [event, lane] : lanes) {
        sum += misfit_of(lane, missed(*lane.simulated, start));
    }
    return sum;
}

// The begins of the simulated events, but not where a lane would have nothing left to pair: a
// recording that begins late may also end later than the simulation, by few events. A pulse is one
// in both; a level may be several in a recording, so that it does not tell how many were missed.
std::set<std::int64_t> candidates(const Lanes& lanes) {
    constexpr std::size_t kMostMissed = 2;
    std::set<std::int64_t> starts;
    std::optional<std::int64_t> latest;
    for (const auto& [event, lane] : lanes) {
        const std::size_t mine = lane.measured->size();
        const std::size_t theirs = lane.simulated->size();
        const std::size_t more = theirs > mine ? theirs - mine : 0;
        const std::size_t spare =
            theirs > kGapsToFit + kMostMissed ? std::max(more, kMostMissed) : more;
        const std::size_t last = std::min(spare, theirs - 1);
        for (std::size_t i = 0; i <= last; ++i) {
            starts.insert((*lane.simulated)[i].begin);
        }
        const std::int64_t last_begin = (*lane.simulated)[last].begin;
        if (!lasts(event) && last_begin < latest.value_or(last_begin + 1)) {
            latest = last_begin;
        }
    }
    if (latest) {
        starts.erase(starts.upper_bound(*latest), starts.end());
    }
    while (starts.size() > kMostStarts) {
        starts.erase(std::prev(starts.end()));
    }
    return starts;
}

// `stated`: of a simulation's trace, which counts cycles as the other does.
std::int64_t start_of(const Lanes& lanes, std::optional<std::int64_t> stated) {
    const std::set<std::int64_t> starts = candidates(lanes);
    std::int64_t best = stated.value_or(*starts.begin());
    double least = misfit_of(lanes, best);
    least -= kClearlyBetter * least / static_cast<double>(lanes.size());
    for (const std::int64_t start : starts) {
        const double here = misfit_of(lanes, start);
        if (here < least) {
            least = here;
            best = start;
        }
    }
    return best;
}

PairedLane pair_up(const std::string& event, const LaneSides& lane, std::int64_t start) {
    PairedLane result;
    const std::size_t skipped = missed(*lane.simulated, start);
    result.measured = static_cast<std::int64_t>(lane.measured->size());
    result.simulated = static_cast<std::int64_t>(lane.simulated->size() - skipped);
    // Which of the simulated events a unit missed before it was started again is not known.
    const auto known = std::find_if(lane.measured->begin(), lane.measured->end(),
                                    [](const Interval& each) { return each.after_restart; });
    const auto mine = static_cast<std::size_t>(known - lane.measured->begin());
    const std::size_t count = std::min(mine, lane.simulated->size() - skipped);
    for (std::size_t i = 0; i < count; ++i) {
        Pair pair{(*lane.measured)[i], (*lane.simulated)[skipped + i],
                  static_cast<std::int64_t>(skipped + i)};
        pair.begin_known =
            !pair.measured.begin_is_cut && (!lasts(event) || pair.measured.begin > kFirstCommand);
        result.pairs.push_back(pair);
    }
    return result;
}

PairedUnit pair_up(const Lanes& lanes, std::optional<std::int64_t> stated) {
    PairedUnit unit;
    const std::int64_t start = start_of(lanes, stated);
    std::optional<std::int64_t> first;
    for (const auto& [event, lane] : lanes) {
        PairedLane& paired = unit.lanes[event] = pair_up(event, lane, start);
        for (const Pair& pair : paired.pairs) {
            if (pair.begin_known && (!first || pair.measured.begin < *first)) {
                first = pair.measured.begin;
                unit.first_event = event;
                unit.measured_start = pair.measured.begin;
                unit.simulated_start = pair.simulated.begin;
            }
        }
    }
    return unit;
}

}  // namespace

std::map<std::string, PairedUnit> paired(const TraceFile& measured, const TraceFile& simulated) {
    std::map<std::string, Lanes> units;
    for (const auto& [lane, intervals] : measured.lanes) {
        const auto other = simulated.lanes.find(lane);
        if (other != simulated.lanes.end()) {
            units[lane.first][lane.second] = {&intervals, &other->second};
        }
    }
    std::map<std::string, PairedUnit> result;
    for (const auto& [unit, lanes] : units) {
        result[unit] = pair_up(lanes, measured.window_begin);
    }
    return result;
}

}  // namespace tilesim::sim::compare
