// `mapping.bank_rows` and `mapping.tile_pairs`: placements of shipped designs
// (natural_lowering.hpp).
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::pim::gemv {

const Dataflow& bank_rows_dataflow();
const Dataflow& tile_pairs_dataflow();

}  // namespace tilesim::workloads::pim::gemv
