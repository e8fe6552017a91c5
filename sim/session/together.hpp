// Several agents on one memory: each is a case of its own, run by its own dataflow, in its own
// address range, from its own start, once, several times or until all others are done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/probe.hpp"
#include "arch/memory/controller/command_log.hpp"
#include "arch/memory/port/memory_window.hpp"
#include "sim/scenario.hpp"
#include "workloads/result.hpp"

namespace tilesim::sim::session {

// What became of an agent.
struct AgentOutcome {
    std::string name;
    workloads::RunResult result;  // of its first run
    std::int64_t runs = 0;        // that came to their end
    double mean_ns = 0;           // of these
    std::int64_t bytes = 0;       // asked of the memory
    double read_latency_ns = 0;   // mean
    // Of the memory's channels, per agent in order of the scenario: ns, on average over channels,
    // for which they worked for it while requests of this one waited there.
    std::vector<double> waited_ns;
    std::vector<std::int64_t> rows_lost;
};

struct TogetherOutcome {
    std::vector<AgentOutcome> agents;
    double time_ns = 0;  // until the last agent that ends of itself was done
    arch::memory::port::MemoryTotals memory;
    arch::memory::port::BankUse banks;  // ordinary commands and those of PIM
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where;
    std::vector<std::pair<std::string, double>> busy;  // of the memory
    // When the last data left the memory, once all agents had ended.
    arch::base::Femtoseconds memory_done{0};
    std::uint64_t events = 0;
    workloads::Status status = workloads::Status::Ok;
    std::optional<arch::base::DeadlockReport> deadlock;
};

// `only`: that agent alone, without SystemC; else all together, in SystemC's modules where it still
// elaborates. `listener` and `log` may be null.
TogetherOutcome run_together(const std::vector<AgentCase>& agents,
                             const arch::memory::device::MemoryConfig& memory,
                             const workloads::RunOptions& options, std::optional<std::size_t> only,
                             arch::base::ProbeListener* listener,
                             arch::memory::controller::CommandLog* log = nullptr);

}  // namespace tilesim::sim::session
