// How many registers and commands the parts of a placed product take: what its commands and its
// closed form both count with.
#pragma once

#include <cstdint>

#include "arch/base/data_type.hpp"
#include "arch/pim/pim_config.hpp"
#include "workloads/gemv.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

std::int64_t registers_for(std::int64_t elements, arch::base::DataType type,
                           const arch::pim::PimConfig& pim);

// One row block's share of a chunk of K.
struct ChunkCost {
    std::int64_t mac_words = 0;
    std::int64_t scale_factors = 0;
    std::int64_t scale_commands = 0;
};
ChunkCost chunk_cost(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                     const arch::pim::PimConfig& pim);

// Registers that a batch of inputs from there fills.
std::int64_t inputs_of(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                       const arch::pim::PimConfig& pim);

// How often the lanes are folded before `to` elements of K are done; the last fold is the row
// block's own.
std::int64_t folds_before(const PimPlacement& p, std::int64_t to, const arch::pim::PimConfig& pim);

// Registers, or reads of the host, with which a row block's results leave.
std::int64_t results_of(const GemvProblem& gemv, const PimPlacement& p,
                        const arch::pim::PimConfig& pim);

}  // namespace tilesim::workloads::pim::gemv
