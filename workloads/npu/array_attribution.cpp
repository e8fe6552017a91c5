#include "workloads/npu/array_attribution.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "workloads/attribution.hpp"

namespace tilesim::workloads::npu {

namespace {

// How a shim's reader spends its time. Idle: with nothing to fetch, the dispatch not counted.
struct Reader {
    double streaming = 0, memory = 0, stream = 0, idle = 0;

    // Cycles in which it had nothing to fetch or nowhere to put it.
    double slack() const { return idle + stream; }
    bool hardly_pauses() const { return 10 * (memory + stream + idle) < streaming; }
};

// The one that is idle least sets the pace: others may have brought all they had to, as a vector.
Reader busiest_reader(const RunResult& result, double dispatch) {
    Reader busiest;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [name, states] : result.where) {
        if (name.starts_with("shim_mm2s")) {
            const auto state = [&, &lane = name](const char* of) {
                return state_of(result, lane, of);
            };
            const double idle = std::max(0.0, state("idle") - dispatch);
            if (idle < least) {
                least = idle;
                busiest = {state("streaming"), state("waiting_for_memory"),
                           state("waiting_for_stream"), idle};
            }
        }
    }
    return busiest;
}

// An array's time as its cores see it. The dispatch passes while they wait for the host or for
// their first input; waiting for input is split by whom the shim's reads wait for.
std::vector<Cause> causes_of_cores(const RunResult& result) {
    const auto core = [&](const char* state) { return state_of(result, "core", state); };
    const double dispatch = state_of(result, "command_processor", "dispatch");
    const double host = core("waiting_for_host");
    const double starved = core("waiting_for_input") - std::max(0.0, dispatch - host);
    const Reader reader = busiest_reader(result, dispatch);
    const bool from_memory = reader.memory >= reader.stream && reader.memory >= reader.idle;
    const bool from_commands = reader.idle > reader.stream && reader.idle > reader.memory;
    // Readers that hardly ever pause while cores do set the pace: faster kernels would wait longer.
    const bool reads_bind = (from_memory || reader.hardly_pauses()) && 2 * reader.slack() < starved;
    return {{core("multiply"), "core kernel: multiply"},
            {starved + (reads_bind ? core("multiply") : 0.0),
             reader.hardly_pauses() ? "streams from the shims, a word a cycle"
             : from_memory          ? "shim reads waiting for DRAM and its fabric"
             : from_commands        ? "shim descriptors not programmed in time"
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
