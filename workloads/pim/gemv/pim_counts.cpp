#include "workloads/pim/gemv/pim_counts.hpp"

#include <algorithm>

#include "arch/base/units.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::pim::PimConfig;

std::int64_t registers_for(std::int64_t elements, arch::base::DataType type, const PimConfig& pim) {
    return ceil_div(elements * bits_of(type), pim.register_bits);
}

namespace {

// Scale blocks of a row that end within K elements [from, to).
std::int64_t scale_blocks_in(const GemvProblem& gemv, std::int64_t from, std::int64_t to,
                             std::int64_t end) {
    if (gemv.scale_block == 0) {
        return 0;
    }
    const std::int64_t last = to == end ? ceil_div(to, gemv.scale_block) : to / gemv.scale_block;
    return last - from / gemv.scale_block;
}

}  // namespace

ChunkCost chunk_cost(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                     const PimConfig& pim) {
    const std::int64_t to = std::min(from + p.chunk, p.part_k);
    const std::int64_t blocks = scale_blocks_in(gemv, from, to, p.part_k);
    ChunkCost cost;
    cost.mac_words = ceil_div((to - from) * p.m, p.lanes);
    cost.scale_factors = blocks * p.m;
    // For the rows of a word together, or for a register of sums, which several row blocks share
    // where their rows do not fill it.
    cost.scale_commands =
        pim.scale_law == arch::pim::ScaleLaw::Word
            ? blocks * ceil_div(p.m, p.lanes) * pim.scale_commands
            : ceil_div(blocks * p.output_registers * pim.scale_commands, ceil_div(p.lanes, p.m));
    return cost;
}

std::int64_t inputs_of(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                       const PimConfig& pim) {
    const std::int64_t elements = std::min(p.chunk, p.part_k - from);
    return (registers_for(elements, gemv.input, pim) + (gemv.scale_block > 0 ? 1 : 0)) * p.vectors;
}

std::int64_t folds_before(const PimPlacement& p, std::int64_t to, const PimConfig& pim) {
    return pim.fold_every == 0 ? 0 : std::min(to, p.part_k - 1) / pim.fold_every;
}

std::int64_t results_of(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim) {
    if (pim.spill != arch::pim::Spill::Read) {
        return p.output_registers * p.vectors;
    }
    const bool folded = pim.reduction_tree || pim.fold != arch::pim::Fold::Host;
    return ceil_div((folded ? p.m : std::max(p.m, p.lanes)) * bits_of(gemv.accumulate),
                    pim.result_bits) *
           p.vectors;
}

}  // namespace tilesim::workloads::pim::gemv
