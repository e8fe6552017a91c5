#include "sim/system/memory.hpp"

#include <optional>

#include "arch/base/clock.hpp"
#include "arch/memory/controller/command_trace.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "sim/attribution.hpp"
#include "sim/system/limits.hpp"

namespace tilesim::sim::system {

using arch::base::EventQueue;
using arch::systemc::Outcome;
using Json = nlohmann::ordered_json;

RunResult run_stream(const Scenario& scenario, const arch::memory::traffic::StreamConfig& stream,
                     arch::base::ProbeListener* listener) {
    RunResult result;
    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(scenario.device.memory,
                                      arch::memory::traffic::StreamDriver::latency(scenario.device.memory),
                                      queue, root);
    std::optional<arch::memory::controller::CommandTrace> commands;
    if (listener != nullptr) {
        memory.listen(&commands.emplace(scenario.device.memory, *listener));
    }
    arch::memory::traffic::StreamDriver driver(stream, memory);
    driver.start();
    const Outcome outcome = arch::systemc::run(queue, limits_of(scenario.run),
                                                    [&driver] { return driver.finished(); });
    if (commands) {
        commands->finish();
    }
    memory.finish_statistics();
    result.status = outcome == Outcome::Finished ? Status::Ok : Status::TimeLimit;
    result.stream = driver.result();
    if (stream.trace.empty()) {
        result.workload = {{"memory_stream", {{"requests", stream.requests}}}};
    } else {
        result.workload = {{"memory_trace", stream.trace.substr(stream.trace.rfind('/') + 1)}};
    }
    result.mapping = Json::object();
    result.time_ns = static_cast<double>(result.stream->time.count()) / kFemtosecondsPerNanosecond;
    result.cycles =
        arch::base::Clock{scenario.device.memory.clock}.cycle_at(result.stream->time).count();
    set_rates(result, 0, scenario.device.memory.clock);
    result.events = queue.executed();
    result.memory = memory.totals();
    result.banks = memory.bank_use();
    add_not_exercised(result, arch::memory::controller::not_exercised(scenario.device.memory,
                                                                      memory.totals(), false));
    result.where = where_time_went(root);
    result.busy = busy_shares(root);
    name_bottlenecks(result);
    return result;
}

}  // namespace tilesim::sim::system
