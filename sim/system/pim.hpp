// The PIM system: one controller per channel executing a GEMV's commands in the DRAM model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arch/systemc/kernel_module.hpp"
#include "sim/result.hpp"
#include "sim/scenario.hpp"
#include "workloads/gemv_data.hpp"

namespace tilesim::sim::system {

RunResult run_gemv(const Scenario& scenario, const workloads::GemvProblem& gemv);
// C = A B with B in the banks: every row of A is a vector of its own, for which the whole of B is
// used again.
workloads::GemvProblem vector_of(const workloads::GemmProblem& gemm);
RunResult run_gemm_in_memory(const Scenario& scenario, const workloads::GemmProblem& gemm);
// Tile, order, registers and the first commands of a GEMV scenario.
std::string lowered_gemv_text(const Scenario& scenario, const workloads::GemvProblem& gemv);

// The parts of it, for workloads of several GEMVs.

workloads::PimPlacement placement_of(const Scenario& scenario, const workloads::GemvProblem& gemv);
// The product on the system on chip: its roofline.
double soc_gemv_ns(const arch::pim::SocConfig& soc, const workloads::GemvProblem& gemv);

// Adding up the parts of a split K there.
double reduction_ns(const arch::pim::SocConfig& soc, const workloads::GemvProblem& gemv,
                    const workloads::PimPlacement& placement);

struct PimRun {
    arch::systemc::Outcome outcome = arch::systemc::Outcome::Finished;
    std::int64_t cycles = 0;  // CK
    double reduction_ns = 0;  // adding the parts of a split K on the system on chip
    double time_ns = 0;       // both
    std::uint64_t events = 0;
    decltype(RunResult::where) where;
    arch::memory::port::BankUse banks;
    arch::memory::port::MemoryTotals memory;  // of ordinary requests
    std::vector<std::string> not_exercised;   // by the program, of `pim`
    std::optional<arch::memory::traffic::StreamResult> traffic;
};

// `functional` may be null.
PimRun simulate_gemv(const Scenario& scenario, const workloads::GemvProblem& gemv,
                     const workloads::PimPlacement& placement,
                     workloads::FunctionalGemv* functional);

}  // namespace tilesim::sim::system
