// One GEMV in the banks, simulated: what dataflows and models in memory share.
#pragma once

#include <string>
#include <vector>

#include "workloads/dataflow.hpp"
#include "workloads/gemv.hpp"
#include "workloads/pim/gemv/gemv_data.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

// The product on the system on chip: its roofline.
double soc_gemv_ns(const arch::pim::SocConfig& soc, const GemvProblem& gemv);
// Adding up the parts of a split K there.
double reduction_ns(const arch::pim::SocConfig& soc, const GemvProblem& gemv,
                    const PimPlacement& placement);

// Runs it, with the ordinary requests beside it where the case has any. Cycles and time are those
// of the program and the reduction; `functional` may be null.
void run_gemv(Runner& runner, const Case& a_case, const GemvProblem& gemv,
              const PimPlacement& placement, FunctionalGemv* functional, RunResult& result);

// Reading the matrix in order, as the system on chip would.
struct PlainRead {
    double gb_per_s = 0;                     // the DRAM model gives to it
    std::vector<std::string> not_exercised;  // keys of the memory that could not matter to it
};
PlainRead plain_read(Runner& runner, const Case& a_case, const GemvProblem& gemv);

}  // namespace tilesim::workloads::pim::gemv
