#include "sim/attribution.hpp"

#include <algorithm>
#include <map>

#include "arch/base/check.hpp"
#include "sim/result.hpp"

namespace tilesim::sim {

using arch::base::stats::Group;
using arch::base::stats::StateAccount;

namespace {

struct ClassTotals {
    std::vector<std::pair<std::string, double>> states;
    double members = 0;
};

void add(const Group& group, std::vector<std::string>& order,
         std::map<std::string, ClassTotals>& classes) {
    for (const StateAccount* account : group.accounts()) {
        const std::string& name = group.component_class();
        if (!classes.contains(name)) {
            order.push_back(name);
            for (const auto& state : account->states()) {
                classes[name].states.emplace_back(state.name, 0.0);
            }
        }
        ClassTotals& totals = classes[name];
        totals.members += 1;
        for (std::size_t i = 0; i < totals.states.size(); ++i) {
            SIM_CHECK(account->spent(i) >= 0, "{} spent {} cycles in {}", group.path(),
                      account->spent(i), totals.states[i].first);
            totals.states[i].second += static_cast<double>(account->spent(i));
        }
    }
    for (const Group* child : group.children()) {
        add(*child, order, classes);
    }
}

// States in which a component does what it is there for.
bool works(std::string_view state) {
    return state == "multiply" || state == "zero" || state == "fixed_kernel" ||
           state == "streaming" || state == "read" || state == "write";
}

void add_busy(const Group& group, std::vector<std::pair<std::string, double>>& shares) {
    for (const StateAccount* account : group.accounts()) {
        if (group.component_class().starts_with("core_")) {
            continue;  // the channels of a core do what its memory tile's do
        }
        std::int64_t busy = 0;
        for (std::size_t i = 0; i < account->states().size(); ++i) {
            busy += works(account->states()[i].name) ? account->spent(i) : 0;
        }
        if (busy > 0) {
            shares.emplace_back(group.path(),
                                static_cast<double>(busy) / static_cast<double>(account->total()));
        }
    }
    for (const Group* child : group.children()) {
        add_busy(*child, shares);
    }
}

double state_of(const RunResult& result, const std::string& name, const std::string& state) {
    for (const auto& [component, states] : result.where) {
        for (const auto& [key, cycles] : states) {
            if (component == name && key == state) {
                return cycles;
            }
        }
    }
    return 0;
}

using Cause = std::pair<double, std::string>;  // cycles, and what a reader would change

bool has_class(const RunResult& result, std::string_view name) {
    return std::any_of(result.where.begin(), result.where.end(),
                       [&](const auto& entry) { return entry.first == name; });
}

void take_longest(RunResult& result, std::vector<Cause> causes) {
    std::erase_if(causes, [](const Cause& cause) { return cause.first <= 0; });
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause& a, const Cause& b) { return a.first > b.first; });
    causes.resize(2, {0, "none"});
    result.bottleneck = causes[0].second;
    result.next_bottleneck = causes[1].second;
}

// An array's time as its cores see it. The dispatch passes while they wait for the host or for
// their first input; waiting for input is split by whom the shim's reads wait for.
std::vector<Cause> causes_of_cores(const RunResult& result) {
    const auto core = [&](const char* state) { return state_of(result, "core", state); };
    const double dispatch = state_of(result, "command_processor", "dispatch");
    const double host = core("waiting_for_host");
    const double starved = core("waiting_for_input") - std::max(0.0, dispatch - host);
    const auto readers = [&](const char* state, double less) {
        double sum = 0;
        for (const auto& [name, states] : result.where) {
            if (name.starts_with("shim_mm2s")) {
                sum += std::max(0.0, state_of(result, name, state) - less);
            }
        }
        return sum;
    };
    const double memory = readers("waiting_for_memory", 0);
    const double stream = readers("waiting_for_stream", 0);
    const double idle = readers("idle", dispatch);
    const bool from_memory = memory >= stream && memory >= idle;
    const bool from_commands = idle > stream && idle > memory;
    return {{core("multiply"), "core kernel: multiply"},
            {starved, from_memory     ? "shim reads waiting for DRAM and its fabric"
                      : from_commands ? "shim descriptors not programmed in time"
                                      : "streams between memory tiles and cores"},
            {core("waiting_for_output"), "C drain"},
            {core("zero"), "core kernel: zero"},
            {core("add"), "core kernel: add"},
            {core("fixed_kernel"), "core kernels of stated cost"},
            {core("lock_operation") + core("call"), "lock operations and kernel calls"},
            {dispatch, "dispatch"},
            {host - dispatch, result.mapping.contains("gotoblas")
                                  ? "host copies of B"
                                  : "parameters and locks not written in time"},
            {core("c_load") + core("c_store"), "C transfer"},
            {core("waiting_for_stream"), "streams of A and C"},
            {core("cascade") + core("waiting_for_cascade"), "cascade"},
            {core("waiting_for_lock"), "locks between cores"}};
}

// An array's that only moves data.
std::vector<Cause> causes_of_shims(const RunResult& result) {
    const auto shims = [&](const char* state) {
        double most = 0;
        for (const auto& [name, states] : result.where) {
            if (name.starts_with("shim_")) {
                most = std::max(most, state_of(result, name, state));
            }
        }
        return most;
    };
    const auto processor = [&](const char* state) {
        return state_of(result, "command_processor", state);
    };
    return {{processor("dispatch"), "dispatch"},
            {processor("writing") + processor("syncing"), "command processor: writes"},
            {shims("waiting_for_memory"), "shim channels waiting for DRAM and its fabric"},
            {shims("streaming"), "streams, a word a cycle"},
            {shims("fetching"), "descriptor fetches"}};
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where_time_went(
    const Group& root) {
    std::vector<std::string> order;
    std::map<std::string, ClassTotals> classes;
    add(root, order, classes);
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> result;
    std::sort(order.begin(), order.end());
    for (const std::string& name : order) {
        std::vector<std::pair<std::string, double>> states;
        for (const auto& [state, cycles] : classes[name].states) {
            if (cycles > 0) {
                states.emplace_back(state, cycles / classes[name].members);
            }
        }
        result.emplace_back(name, std::move(states));
    }
    return result;
}

std::vector<std::pair<std::string, double>> busy_shares(const Group& root) {
    std::vector<std::pair<std::string, double>> shares;
    add_busy(root, shares);
    return shares;
}

void name_bottlenecks(RunResult& result) {
    if (result.speedup_over_soc) {
        name_bottlenecks(result, "pim", "PIM: ");
    } else if (result.stream) {
        name_bottlenecks(result, "dram_channel", "DRAM data bus: ");
    } else if (!result.memory) {
        name_bottlenecks(result, "core", "core kernel: ");
    } else {
        take_longest(result,
                     has_class(result, "core") ? causes_of_cores(result) : causes_of_shims(result));
    }
}

void name_bottlenecks(RunResult& result, std::string_view component, const std::string& prefix) {
    std::vector<Cause> causes;
    for (const auto& [name, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            if (name == component) {
                causes.emplace_back(cycles, prefix + state);
            }
        }
    }
    take_longest(result, std::move(causes));
}

}  // namespace tilesim::sim
