#include "sim/attribution.hpp"

#include <algorithm>
#include <map>

#include "arch/base/check.hpp"
#include "sim/result.hpp"

namespace tilesim::sim {

using arch::base::stats::Group;
using arch::base::stats::StateAccount;

namespace {

// "npu.tile(2,0).mm2s1" is a "shim_mm2s1", "memory.channel(3)" a "dram_channel".
std::string class_of(const std::string& path, std::int64_t memory_rows) {
    const std::string last = path.substr(path.rfind('.') + 1);
    if (last.starts_with("channel(")) {
        return "dram_channel";
    }
    if (last.starts_with("pim(")) {
        return "pim";
    }
    const std::size_t tile = path.find("tile(");
    if (tile == std::string::npos || last == "core") {
        return last;
    }
    const std::size_t comma = path.find(',', tile);
    const std::int64_t row = std::stoll(path.substr(comma + 1));
    return (row == 0 ? "shim_" : row <= memory_rows ? "memory_tile_" : "core_") + last;
}

struct ClassTotals {
    std::vector<std::pair<std::string, double>> states;
    double members = 0;
};

void add(const Group& group, std::int64_t memory_rows, std::vector<std::string>& order,
         std::map<std::string, ClassTotals>& classes) {
    for (const StateAccount* account : group.accounts()) {
        const std::string name = class_of(group.path(), memory_rows);
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
        add(*child, memory_rows, order, classes);
    }
}

// States in which a component does what it is there for.
bool works(std::string_view state) {
    return state == "multiply" || state == "zero" || state == "fixed_kernel" ||
           state == "streaming" || state == "read" || state == "write";
}

void add_busy(const Group& group, std::int64_t memory_rows,
              std::vector<std::pair<std::string, double>>& shares) {
    for (const StateAccount* account : group.accounts()) {
        if (class_of(group.path(), memory_rows).starts_with("core_")) {
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
        add_busy(*child, memory_rows, shares);
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

}  // namespace

std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where_time_went(
    const Group& root, std::int64_t memory_rows) {
    std::vector<std::string> order;
    std::map<std::string, ClassTotals> classes;
    add(root, memory_rows, order, classes);
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

std::vector<std::pair<std::string, double>> busy_shares(const Group& root,
                                                        std::int64_t memory_rows) {
    std::vector<std::pair<std::string, double>> shares;
    add_busy(root, memory_rows, shares);
    return shares;
}

void name_bottlenecks(RunResult& result) {
    // What the cores' time says; waiting for input is split by whom the shim's reads wait for.
    const double waiting = state_of(result, "core", "waiting_for_input");
    const double dispatch = state_of(result, "command_processor", "dispatch");
    const double memory = state_of(result, "shim_mm2s1", "waiting_for_memory");
    const double stream = state_of(result, "shim_mm2s1", "waiting_for_stream");
    const double idle = state_of(result, "shim_mm2s1", "idle");
    std::vector<std::pair<double, std::string>> causes;
    if (result.speedup_over_soc) {
        for (const char* state : {"mode_switch", "input_broadcast", "mac", "row_open", "turnaround",
                                  "fold", "scale", "spill", "refill", "refresh"}) {
            causes.emplace_back(state_of(result, "pim", state), std::string{"PIM: "} + state);
        }
    } else if (result.stream) {
        for (const char* state : {"read", "write", "turnaround", "row_miss", "refresh", "idle"}) {
            causes.emplace_back(state_of(result, "dram_channel", state),
                                std::string{"DRAM data bus: "} + state);
        }
    } else if (!result.memory) {
        for (const char* state :
             {"issue", "loop_extra", "spill", "c_load", "c_store", "fill_drain"}) {
            causes.emplace_back(state_of(result, "core", state),
                                std::string{"core kernel: "} + state);
        }
    } else {
        const double starved = std::max(0.0, waiting - dispatch);
        const bool from_memory = memory >= stream && memory >= idle;
        const bool from_commands = idle > stream && idle > memory;
        causes = {{state_of(result, "core", "multiply"), "core kernel: multiply"},
                  {starved, from_memory     ? "shim reads waiting for DRAM and its fabric"
                            : from_commands ? "shim descriptors not programmed in time"
                                            : "streams between memory tiles and cores"},
                  {state_of(result, "core", "waiting_for_output"), "C drain"},
                  {state_of(result, "core", "zero"), "core kernel: zero"},
                  {state_of(result, "core", "lock_operation") + state_of(result, "core", "call"),
                   "lock operations and kernel calls"},
                  {dispatch, "dispatch"},
                  {state_of(result, "core", "waiting_for_host"), "host copies of B"},
                  {state_of(result, "core", "c_load") + state_of(result, "core", "c_store"),
                   "C transfer"},
                  {state_of(result, "core", "waiting_for_stream"), "streams of A and C"}};
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    result.bottleneck = causes[0].second;
    result.next_bottleneck = causes[1].second;
}

}  // namespace tilesim::sim
