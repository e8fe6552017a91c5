// One GEMV in the banks, simulated: what dataflows and models in memory share.
#pragma once

#include <string>
#include <vector>

#include "workloads/attribution.hpp"
#include "workloads/dataflow.hpp"
#include "workloads/gemv.hpp"
#include "workloads/pim/gemv/gemv_data.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"
#include "workloads/pim/gemv/product.hpp"

namespace tilesim::workloads::pim::gemv {

// What no mapping beats: every unit multiplies a word an interval.
double multiply_bound_ns(const Case& a_case, const Product& product);
// The system on chip's reading of so many sums beside the results it would have as well.
double extra_sums_ns(const arch::pim::SocConfig& soc, const GemvProblem& gemv, double sums);
// What is left for it to add: parts of sums, lanes that are not folded in the banks.
double host_ns(const arch::pim::SocConfig& soc, const arch::pim::PimConfig& pim,
               const GemvProblem& gemv, const PimPlacement& placement, double in_banks_ns);
// The same of parts that the device does not charge.
double uncharged_ns(const arch::pim::SocConfig& soc, const arch::pim::PimConfig& pim,
                    const GemvProblem& gemv, const PimPlacement& placement);

// Runs it `times` in a row, with the ordinary requests beside it where the case has any. Cycles and
// time are those of the program and the reduction; `functional` may be null. Of many, as many are
// simulated as refreshes take to show, and stand for all.
void run_gemv(Runner& runner, const Case& a_case, const GemvProblem& gemv,
              const PimPlacement& placement, std::int64_t times, FunctionalGemv* functional,
              RunResult& result);

// A program on every channel, with the ordinary requests of the case beside it where it has any.
// Cycles and time are the program's, bottlenecks those of the unit that ended last, whose causes it
// returns; `listener` may be null.
std::vector<Cause> run_program(Runner& runner, const Case& a_case,
                               const arch::pim::PimProgram& program, double macs,
                               arch::pim::PimListener* listener, RunResult& result);

// What a reader would change to have the system on chip read faster.
inline constexpr const char* kSocBandwidth = "SoC: bandwidth";
// What the system on chip still does behind a program of such causes takes its part of the time.
// `beside_ns`: for which it has done the same beside the program, which then could not be shorter.
void add_rest_on_host(double ns, double beside_ns, std::vector<Cause> causes,
                      const arch::memory::device::MemoryConfig& dram, RunResult& result);

// Reading the matrix in order, as the system on chip would.
struct PlainRead {
    double gb_per_s = 0;                     // the DRAM model gives to it
    std::vector<std::string> not_exercised;  // keys of the memory that could not matter to it
};
PlainRead plain_read(Runner& runner, const Case& a_case, const GemvProblem& gemv);

}  // namespace tilesim::workloads::pim::gemv
