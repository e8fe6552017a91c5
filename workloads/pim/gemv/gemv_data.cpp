#include "workloads/pim/gemv/gemv_data.hpp"

#include "workloads/pim/gemv/balanced_gemv_data.hpp"
#include "workloads/pim/gemv/column_major_gemv_data.hpp"

namespace tilesim::workloads::pim::gemv {

std::unique_ptr<FunctionalGemv> functional_gemv(const GemvProblem& gemv, std::int64_t vectors,
                                                const PimPlacement& placement,
                                                const arch::memory::device::MemoryConfig& memory,
                                                const arch::pim::PimConfig& pim,
                                                std::uint64_t seed) {
    if (placement.mapping.placement == PimMapping::Placement::ColumnMajor) {
        return std::make_unique<ColumnMajorGemv>(gemv, vectors, placement, memory, pim, seed);
    }
    return std::make_unique<BalancedGemv>(gemv, vectors, placement, memory, pim, seed);
}

}  // namespace tilesim::workloads::pim::gemv
