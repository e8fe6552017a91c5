// Where the buffers of a core lie in its memory, as mlir-aie places them: largest first, each in
// the next bank in turn that has room for the whole of it; where one finds no such bank, all of
// them one after the other, wherever banks end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu {

// The addresses, in the order of the sizes given; nothing where the memory cannot hold them.
std::optional<std::vector<std::int64_t>> place_in_core(const std::vector<std::int64_t>& bytes,
                                                       const arch::npu::CoreConfig& core);

}  // namespace tilesim::workloads::npu
