// Placements of shipped designs: `mapping.bank_rows` (GDDR6-AiM: a matrix row in a bank's row) and
// `mapping.tile_pairs` (HBM-PIM: tiles of eight outputs a unit, alternating between its two banks).
#pragma once

#include "workloads/dataflow.hpp"
#include "workloads/gemv.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

// A bank holds rows of the matrix, each in as many of its rows as it takes. The inputs of one of
// them fill the input registers; a bank's sum is read before its next row.
arch::pim::PimProgram lower_bank_rows(const GemvProblem& gemv, std::int64_t vectors,
                                      const arch::memory::device::MemoryConfig& memory,
                                      const arch::pim::PimConfig& pim);

// A unit works on as many outputs as it has output registers; the inputs of as many registers are a
// tile, which lies in one of its two banks: even tiles first, then odd ones.
arch::pim::PimProgram lower_tile_pairs(const GemvProblem& gemv, std::int64_t vectors,
                                       const arch::memory::device::MemoryConfig& memory,
                                       const arch::pim::PimConfig& pim);

const Dataflow& bank_rows_dataflow();
const Dataflow& tile_pairs_dataflow();

}  // namespace tilesim::workloads::pim::gemv
