// Builds the system a scenario names, runs it under SystemC and collects the result.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "arch/memory/memory_system.hpp"
#include "arch/npu/deadlock.hpp"
#include "sim/scenario.hpp"
#include "workloads/bounds.hpp"
#include "workloads/gemm_data.hpp"

namespace tilesim::sim {

enum class Status { Ok, Mismatch, Deadlock, TimeLimit };
const char* name_of(Status status);

struct RunResult {
    Status status = Status::Ok;
    std::string device;
    nlohmann::ordered_json workload;
    nlohmann::ordered_json mapping;
    double time_ns = 0;
    std::int64_t cycles = 0;
    double clock_ghz = 0;
    double tops = 0;
    double macs_per_cycle = 0;  // of the whole device
    double padding_waste = 0;   // share of the multiply-accumulates spent on padding
    std::optional<workloads::GemmBounds> bounds;
    std::string bottleneck;
    std::string next_bottleneck;
    // Component class -> state -> cycles, averaged over the components of the class.
    std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where;
    std::optional<arch::memory::MemoryTotals> memory;
    std::optional<workloads::ProductCheck> functional;
    std::optional<arch::memory::StreamResult> stream;
    std::optional<arch::npu::DeadlockReport> deadlock;
    std::vector<std::string> notes;  // what a reader must know: chosen mapping, overridden timing
    std::uint64_t events = 0;
    double wall_s = 0;
    nlohmann::ordered_json provenance;
};

// Once per process when the scenario needs simulation (SystemC elaborates once).
RunResult run(const Scenario& scenario);

// The GEMM's mapping: the scenario's, or one chosen by the bounds (then noted).
workloads::OutputStationaryMapping mapping_of(const Scenario& scenario,
                                              const workloads::GemmProblem& gemm,
                                              std::vector<std::string>& notes);
// Lowered, with kernel cycles overridden where the scenario says so, and routed.
workloads::LoweredGemm lower_gemm(const Scenario& scenario, const workloads::GemmProblem& gemm,
                                  const workloads::OutputStationaryMapping& mapping);

}  // namespace tilesim::sim
