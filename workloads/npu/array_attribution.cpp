#include "workloads/npu/array_attribution.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "workloads/attribution.hpp"

namespace tilesim::workloads::npu {

namespace {

// Cycles in which the busiest of the shims' readers had nothing to fetch or nowhere to put it.
double slack_of_readers(const RunResult& result, double dispatch) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [name, states] : result.where) {
        if (name.starts_with("shim_mm2s")) {
            least = std::min(least, std::max(0.0, state_of(result, name, "idle") - dispatch) +
                                        state_of(result, name, "waiting_for_stream"));
        }
    }
    return least;
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
    // Readers that hardly ever pause while cores do set the pace: faster kernels would wait longer.
    const bool reads_bind = from_memory && 2 * slack_of_readers(result, dispatch) < starved;
    return {{core("multiply"), "core kernel: multiply"},
            {starved + (reads_bind ? core("multiply") : 0.0),
             from_memory     ? "shim reads waiting for DRAM and its fabric"
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
            {core("stream") + core("waiting_for_stream"), "cores' own streams"},
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

void name_array_bottlenecks(RunResult& result) {
    take_longest(result,
                 has_class(result, "core") ? causes_of_cores(result) : causes_of_shims(result));
}

}  // namespace tilesim::workloads::npu
