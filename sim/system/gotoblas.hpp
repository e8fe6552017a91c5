// A GEMM on one AI Engine tile fed by programmable logic and the host.
#pragma once

#include <string>

#include "arch/base/probe.hpp"
#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

RunResult run_gotoblas(const Scenario& scenario, const workloads::GemmProblem& gemm,
                       arch::base::ProbeListener* listener);
// The loop nest and the physical program.
std::string lowered_gotoblas_text(const Scenario& scenario, const workloads::GemmProblem& gemm);
// The micro-kernel alone, its A and C waiting on their streams.
RunResult run_stream_kernel(const Scenario& scenario, const CoreKernelWorkload& workload);

}  // namespace tilesim::sim::system
