// A GEMV in bytes: the matrix at its physical addresses, the input registers, the accumulators; of
// a GEMM one such product after the other, as many vectors at a time as share a pass.
#pragma once

#include <cstdint>
#include <memory>

#include "arch/pim/pim_unit.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::pim::gemv {

class FunctionalGemv : public arch::pim::PimListener {
  public:
    virtual ~FunctionalGemv() = default;
    // The results as they lay in memory when each pass ended, what lies in parts added, against
    // plain loops; of vectors whose pass was simulated.
    virtual ProductCheck check() const = 0;
};

// Matrix and scale factors, random from `seed`, lie where the placement wants them.
std::unique_ptr<FunctionalGemv> functional_gemv(const GemvProblem& gemv, std::int64_t vectors,
                                                const PimPlacement& placement,
                                                const arch::memory::device::MemoryConfig& memory,
                                                const arch::pim::PimConfig& pim,
                                                std::uint64_t seed);

}  // namespace tilesim::workloads::pim::gemv
