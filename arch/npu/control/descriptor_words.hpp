// The words of a descriptor's registers: what they say, and what a driver writes.
//
// Ignores: of the first generation FIFO and interleaved mode, a descriptor that acquires a lock in
//          whatever state it is or releases it in the state it has, address counters that do not
//          nest, a length that ends within them, a start with buffer B, the fourth burst length
//          (`not_modelled` says so).
// Source:  register_layout.hpp, where the fields lie.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arch/npu/control/register_map.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::control {

// A descriptor as registers hold it: its locks are numbers of its tile, its buffer is an address,
// and so is the offset of its alternate.
struct RegisterDescriptor {
    program::BufferDescriptor descriptor;
    std::int64_t address = 0;  // bytes: in the tile's memory, or of the shim in DRAM
};
RegisterDescriptor decode_descriptor(program::TileKind kind, std::int64_t id,
                                     std::span<const std::uint32_t> words,
                                     Generation generation = Generation::Second);
// What a driver writes for it. Sizes that do not fit their fields are cut off. A descriptor of the
// first generation has one lock for both ends, and two dimensions.
std::vector<std::uint32_t> encode_descriptor(program::TileKind kind,
                                             const RegisterDescriptor& descriptor,
                                             Generation generation = Generation::Second);
// Whether it may be executed at all.
bool valid_descriptor(program::TileKind kind, std::span<const std::uint32_t> words,
                      Generation generation);
// What the words ask for that a descriptor of a program cannot say; empty: nothing.
std::string not_modelled(program::TileKind kind, std::span<const std::uint32_t> words,
                         Generation generation);

}  // namespace tilesim::arch::npu::control
