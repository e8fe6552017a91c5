// The array's registers: where they lie, and what the words in them say.
//
// Source:  register maps and descriptor fields of AIE-ML and AIE2P in Xilinx/aie-rt
//          (xaiemlgbl_params.h), checked against the compiler's own listings. First-generation
//          arrays have another map, which is not here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::control {

// A register of the array: its tile and its offset there.
struct RegisterAddress {
    program::TileCoordinate tile;
    std::int64_t offset = 0;
};
RegisterAddress split(std::uint64_t address);
std::uint64_t join(program::TileCoordinate tile, std::int64_t offset);

// Where a kind of tile has its descriptors, queues, states and locks.
struct RegisterMap {
    std::int64_t descriptors;  // kDescriptorStride apart
    std::int64_t queues;       // of S2MM 0; kQueueStride apart: control, then start queue
    std::int64_t mm2s;         // from S2MM 0 to MM2S 0
    std::int64_t states;       // of S2MM 0; a word apart
    std::int64_t mm2s_states;
    std::int64_t locks;  // kLockStride apart
};
inline constexpr std::int64_t kDescriptorStride = 0x20;
inline constexpr std::int64_t kQueueStride = 8;
inline constexpr std::int64_t kLockStride = 0x10;
inline constexpr std::uint32_t kLockBits = 0x3F;            // of a lock's register: its value
inline constexpr std::size_t kShimAddressWord = 1;          // of a descriptor: low half of it
inline constexpr std::int64_t kCoreMemory = 0x10000;        // bytes, from offset 0
inline constexpr std::int64_t kCoreControl = 0x32000;       // of a core: its reset
inline constexpr std::int64_t kMemoryTileWindow = 0x80000;  // a memory tile's DMA sees three tiles
inline constexpr std::int64_t kMemoryTileLocks = 64;        // likewise
const RegisterMap& register_map_of(program::TileKind kind);

// What offsets mean.
struct DescriptorWord {
    std::int64_t id = 0;
    std::size_t word = 0;
};
struct ChannelRegister {
    program::Direction direction = program::Direction::S2MM;
    std::int64_t channel = 0;
    bool queue = false;  // the start queue, not the control register
};
// Where one lies.
std::int64_t queue_offset(program::TileKind kind, const ChannelRegister& which);
std::optional<DescriptorWord> descriptor_word(program::TileKind kind, std::int64_t descriptors,
                                              std::int64_t offset);
std::optional<ChannelRegister> queue_register(program::TileKind kind, std::int64_t channels,
                                              std::int64_t offset);
std::optional<ChannelRegister> state_register(program::TileKind kind, std::int64_t channels,
                                              std::int64_t offset);
std::optional<std::int64_t> lock_register(program::TileKind kind, std::int64_t locks,
                                          std::int64_t offset);

// A descriptor as registers hold it: its locks are numbers of its tile, its buffer is an address.
struct RegisterDescriptor {
    program::BufferDescriptor descriptor;
    std::int64_t address = 0;  // bytes: in the tile's memory, or of the shim in DRAM
};
RegisterDescriptor decode_descriptor(program::TileKind kind, std::int64_t id,
                                     std::span<const std::uint32_t> words);
// What a driver writes for it. Sizes that do not fit their fields are cut off.
std::vector<std::uint32_t> encode_descriptor(program::TileKind kind,
                                             const RegisterDescriptor& descriptor);

program::Task decode_task(program::TileKind kind, std::uint32_t word);
std::uint32_t encode_task(const program::Task& task);

// The state of a channel: whether it runs, waits for a lock, and how many tasks are queued.
std::uint32_t encode_state(bool running, bool waits_for_lock, bool overflowed, std::int64_t queued);

}  // namespace tilesim::arch::npu::control
