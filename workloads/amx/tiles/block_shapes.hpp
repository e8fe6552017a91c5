// Blocks of accumulators, the one expected to be fastest first.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

struct BlockShape {
    std::int64_t m_acc = 0, n_acc = 0;

    bool operator==(const BlockShape&) const = default;
};

// Not larger than the product.
bool fits(const BlockShape& shape, const GemmProblem& gemm);

// Threads that have a block of that shape each.
std::int64_t threads_for(const GemmProblem& gemm, const BlockShape& shape, std::int64_t cores);

// What is in the L1 still when it is read again.
struct L1Use {
    std::int64_t k_tiles = 0;    // of a block of k; C moves the more often the fewer they are
    bool a_nontemporal = false;  // A passes it by and displaces no B

    bool operator==(const L1Use&) const = default;
};

// With which the mapping's blocks are expected to take least.
L1Use use_of_l1(const GemmProblem& gemm, const AmxMapping& mapping,
                const arch::amx::AmxConfig& socket);

// Those that use the tiles well, by what the busiest core of a socket takes: its share is whole
// blocks, so small ones share out better, and large ones load less. `data_in`: where the operands
// are at the start.
std::vector<BlockShape> shapes_by_expectation(
    const GemmProblem& gemm, const arch::amx::AmxConfig& socket,
    const arch::memory::device::MemoryConfig& memory,
    AmxMapping::DataIn data_in = AmxMapping::DataIn::Memory);

}  // namespace tilesim::workloads::amx::tiles
