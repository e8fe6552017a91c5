// The NPU system: array, fabric and memory around a lowered GEMM, or one core alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/base/probe.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/check/program_graph.hpp"
#include "arch/npu/tile/tile_memory.hpp"
#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

RunResult run_gemm(const Scenario& scenario, const workloads::GemmProblem& gemm,
                   arch::base::ProbeListener* listener);
// A hand-written program, checked and routed first.
RunResult run_program(const Scenario& scenario, const ProgramWorkload& workload,
                      arch::base::ProbeListener* listener);
RunResult run_core_kernel(const Scenario& scenario, const CoreKernelWorkload& workload);

// The parts of these, for other dataflows.

nlohmann::ordered_json describe(const workloads::GemmProblem& gemm);
std::string kernel_cycles_note(std::int64_t cycles);
// What a functional run does with the array's bytes at start and at the end.
struct Contents {
    std::function<void(arch::npu::tile::TileMemory&)> fill;
    std::function<void(arch::npu::tile::TileMemory&)> check;
};
// Runs a verified and routed program; the result's status says how it ended. `bytes`: DRAM in
// functional mode, else nullptr.
void simulate(const Scenario& scenario, const arch::npu::program::Program& program,
              const arch::npu::check::ProgramAnalysis& analysis, arch::memory::port::BackingStore* bytes,
              const Contents& contents, double macs, arch::base::ProbeListener* listener,
              RunResult& result);
// A matrix product lowered to a program: its bounds, and how a functional run fills the operands
// and checks C.
struct LoweredProduct {
    const arch::npu::program::Program& program;
    workloads::GemmBounds bounds;
    std::function<void(arch::memory::port::BackingStore&)> fill;
    std::function<workloads::ProductCheck(arch::memory::port::BackingStore&)> check;
};
// simulate() with these; a result with status Ok or Mismatch has its bounds.
void simulate_product(const Scenario& scenario, const workloads::GemmProblem& gemm,
                      const LoweredProduct& product, arch::base::ProbeListener* listener,
                      RunResult& result);
// A kernel call alone that takes `cycles`, but for where they went.
RunResult kernel_result(const Scenario& scenario, const CoreKernelWorkload& workload,
                        arch::base::Cycles cycles);

// The GEMM's mapping: the scenario's, or one chosen by the bounds (then noted).
workloads::OutputStationaryMapping mapping_of(const Scenario& scenario,
                                              const workloads::GemmProblem& gemm,
                                              std::vector<std::string>& notes);
// A mapping as results print it.
nlohmann::ordered_json described(const workloads::OutputStationaryMapping& mapping);
// Lowered, with kernel cycles overridden where the scenario says so, and routed.
workloads::LoweredGemm lower_gemm(const Scenario& scenario, const workloads::GemmProblem& gemm,
                                  const workloads::OutputStationaryMapping& mapping);

// The physical program of a GEMM scenario, with what it uses of each tile.
std::string lowered_program_text(const Scenario& scenario, const ProgramWorkload& workload);
std::string lowered_gemm_text(const Scenario& scenario, const workloads::GemmProblem& gemm);

}  // namespace tilesim::sim::system
