#include "sim/trace/counters.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "arch/base/units.hpp"

namespace tilesim::sim::trace {

using arch::base::Femtoseconds;

namespace {

struct Kind {
    std::string_view ending;  // of the component's name
    bool (*counts)(std::string_view state);
};

bool works(std::string_view state) {
    return !state.starts_with("waiting") && state != "done";
}
bool moves_data(std::string_view state) {
    return state == "read" || state == "write";
}
bool waits(std::string_view state) {
    return state == "waiting";
}

constexpr Kind kCores{".core", works};
constexpr Kind kBusses{".bus", moves_data};
constexpr Kind kWaitingPorts{").waiting", waits};

std::vector<Activity> activities_of(const ActivityLog& log, const Kind& kind) {
    std::vector<Activity> chosen;
    for (const Activity& activity : log.activities()) {
        if (log.components()[activity.component].ends_with(kind.ending) &&
            kind.counts(log.names()[activity.name])) {
            chosen.push_back(activity);
        }
    }
    return chosen;
}

// How many go on at once: a value at every change.
Counter at_once(std::string name, const std::vector<Activity>& activities) {
    std::map<std::int64_t, int> changes;
    for (const Activity& activity : activities) {
        ++changes[activity.begin.count()];
        --changes[activity.end.count()];
    }
    Counter counter{std::move(name), {}};
    int count = 0;
    for (const auto& [time, change] : changes) {
        if (change != 0) {
            count += change;
            counter.values.push_back({Femtoseconds{time}, static_cast<double>(count)});
        }
    }
    return counter;
}

// The share of each window in which they go on, in percent of `units` of them.
Counter share(std::string name, const std::vector<Activity>& activities, std::size_t units,
              std::int64_t window) {
    std::map<std::int64_t, std::int64_t> busy;  // by window
    for (const Activity& activity : activities) {
        for (std::int64_t begin = activity.begin.count(); begin < activity.end.count();) {
            const std::int64_t index = begin / window;
            const std::int64_t end = std::min(activity.end.count(), (index + 1) * window);
            busy[index] += end - begin;
            begin = end;
        }
    }
    Counter counter{std::move(name), {}};
    using arch::base::kPercent;
    const double whole = static_cast<double>(window) * static_cast<double>(units);
    std::int64_t next = 0;
    for (const auto& [index, time] : busy) {
        if (index > next) {
            counter.values.push_back({Femtoseconds{next * window}, 0});
        }
        counter.values.push_back(
            {Femtoseconds{index * window}, kPercent * static_cast<double>(time) / whole});
        next = index + 1;
    }
    counter.values.push_back({Femtoseconds{next * window}, 0});
    return counter;
}

}  // namespace

std::vector<Counter> counters_of(const ActivityLog& log, Femtoseconds window) {
    std::vector<Counter> counters;
    if (const auto cores = activities_of(log, kCores); !cores.empty()) {
        counters.push_back(at_once("busy cores", cores));
    }
    if (const auto busses = activities_of(log, kBusses); !busses.empty()) {
        const auto units = static_cast<std::size_t>(
            std::count_if(log.components().begin(), log.components().end(),
                          [](const auto& name) { return name.ends_with(kBusses.ending); }));
        counters.push_back(share("DRAM busses busy [%]", busses, units, window.count()));
    }
    if (const auto ports = activities_of(log, kWaitingPorts); !ports.empty()) {
        counters.push_back(at_once("ports with reads waiting", ports));
    }
    return counters;
}

}  // namespace tilesim::sim::trace
