// The array's registers: where they lie. What the words in them say: descriptor_words.hpp,
// channel_words.hpp.
//
// Two generations: the first is that of Versal AI Engine (AIE1), the second that of AIE-ML and
// AIE2P (XDNA, XDNA2), whose maps are alike. Where nothing else is said the second is meant, which
// run-time sequences are written for.
// Ignores: switches, traces, timers, events; of a first-generation shim's AXI settings all but the
//          burst's length.
// Source:  Xilinx/aie-rt: xaiemlgbl_params.h, checked against the compiler's own listings;
//          xaiegbl_params.h and xaiegbl_reginit.c for the first generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::control {

enum class Generation { First, Second };
// Binary locks are the first generation's.
Generation generation_of(const NpuConfig& config);

// A register of the array: its tile and its offset there.
struct RegisterAddress {
    program::TileCoordinate tile;
    std::int64_t offset = 0;
};
RegisterAddress split(std::uint64_t address, Generation generation = Generation::Second);
std::uint64_t join(program::TileCoordinate tile, std::int64_t offset,
                   Generation generation = Generation::Second);

// A field of a word that holds channels' states: that of channel 0; the next channel's is `step`
// bits higher.
struct StateField {
    int low = -1;  // -1: there is none
    int width = 1;
    int step = 0;
};
struct StateLayout {
    bool shared = false;  // a word holds the states of all channels of a direction
    StateField status{}, running{}, waits_for_lock{}, queued{}, descriptor{}, overflowed{};
};

// Where a kind of tile has its descriptors, queues, states and locks.
struct RegisterMap {
    std::int64_t descriptors;  // descriptor_stride apart
    std::int64_t queues;       // of S2MM 0; kQueueStride apart: control, then start queue
    std::int64_t mm2s;         // from S2MM 0 to MM2S 0
    std::int64_t states;       // of S2MM 0; a word apart, where they are not shared
    std::int64_t mm2s_states;
    std::int64_t locks;  // kLockStride apart; -1: not of this generation
    std::int64_t descriptor_stride;
    std::int64_t lock_requests = -1;  // first generation: kRequestStride apart
    std::int64_t lock_states = -1;    // first generation: two bits a lock
    // Bits of a channel's control register; -1: there is none.
    int enable = -1;  // without it set, tasks stay in the queue
    int reset = -1;
    std::uint32_t pauses = 0;  // bits that stop it, which is not modelled
    const StateLayout* state = nullptr;
};
inline constexpr std::int64_t kDescriptorStride = 0x20;  // second generation
inline constexpr std::int64_t kQueueStride = 8;
inline constexpr std::int64_t kLockStride = 0x10;
inline constexpr std::int64_t kRequestStride = 0x80;
inline constexpr std::uint32_t kLockBits = 0x3F;       // of a lock's register: its value
inline constexpr std::size_t kShimAddressWord = 1;     // of a descriptor: low half of it
inline constexpr std::int64_t kCoreMemory = 0x10000;   // bytes, from offset 0; second generation
inline constexpr std::int64_t kCoreControl = 0x32000;  // of a core: its reset
inline constexpr std::int64_t kMemoryTileWindow = 0x80000;  // a memory tile's DMA sees three tiles
inline constexpr std::int64_t kMemoryTileLocks = 64;        // likewise
// The first generation has no memory tiles: asking for theirs is an error of the caller.
const RegisterMap& register_map_of(program::TileKind kind,
                                   Generation generation = Generation::Second);

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
struct StateRegister {  // the states of so many channels
    program::Direction direction = program::Direction::S2MM;
    std::int64_t first = 0;
    std::int64_t channels = 1;
};
// First generation: reading the register tries to acquire or release a lock and says whether that
// was done, 1 or 0. Without a value a lock is acquired in whatever state it is, and released in the
// state it has.
struct LockRequest {
    std::int64_t lock = 0;
    bool acquire = false;
    std::optional<std::int64_t> value;
};
// Where one lies.
std::int64_t descriptor_offset(program::TileKind kind, std::int64_t id,
                               Generation generation = Generation::Second);
std::int64_t queue_offset(program::TileKind kind, const ChannelRegister& which,
                          Generation generation = Generation::Second);
std::int64_t request_offset(program::TileKind kind, const LockRequest& request);
std::optional<DescriptorWord> descriptor_word(program::TileKind kind, std::int64_t descriptors,
                                              std::int64_t offset,
                                              Generation generation = Generation::Second);
std::optional<ChannelRegister> queue_register(program::TileKind kind, std::int64_t channels,
                                              std::int64_t offset,
                                              Generation generation = Generation::Second);
std::optional<StateRegister> state_register(program::TileKind kind, std::int64_t channels,
                                            std::int64_t offset,
                                            Generation generation = Generation::Second);
// Second generation only; the first has requests and one register of all states.
std::optional<std::int64_t> lock_register(program::TileKind kind, std::int64_t locks,
                                          std::int64_t offset,
                                          Generation generation = Generation::Second);
std::optional<LockRequest> lock_request(program::TileKind kind, std::int64_t locks,
                                        std::int64_t offset, Generation generation);

}  // namespace tilesim::arch::npu::control
