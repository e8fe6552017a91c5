// The mapping of a product on AMX cores that states none.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

// The whole socket, cut along m and n, operands in DRAM as every device finds them: among the block
// shapes that use the tiles well, the one this product or convolution runs fastest with. Large
// ones, which take too long to simulate, get a mapping by rule.
Choice choose_mapping(const Dataflow& dataflow, const Case& a_case, Runner& runner);

}  // namespace tilesim::workloads::amx::tiles
