// `mapping.pimnast` and `mapping.column_major`: a matrix-vector product in the banks.
#pragma once

#include "workloads/dataflow.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

const Dataflow& pimnast_dataflow();
const Dataflow& column_major_dataflow();
// Refused: rows spread over the banks, whose partial sums nobody could add.
const Dataflow& row_major_dataflow();

// Keys of a mapping of these, given or not, that cannot matter whatever the product is.
std::vector<UnfeltKey> unfelt_keys(const Mapping& mapping);

// The placement of a product under the case's mapping; without one, of all balanced placements the
// one whose commands take least.
PimPlacement placement_of(const Case& a_case, const GemvProblem& gemv, std::int64_t vectors = 1);
// The part of a placement that a product of fewer rows or columns fills.
PimPlacement shortened(const PimPlacement& placement, const GemvProblem& gemv, const Case& a_case);

}  // namespace tilesim::workloads::pim::gemv
