// The words of a channel's registers: tasks pushed to its start queue, its state; and the word of a
// first-generation tile's locks.
//
// Ignores: errors in the states; disabling a channel leaves it the tasks it already has.
#pragma once

#include <cstdint>

#include "arch/npu/control/register_map.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::control {

// The first generation has neither repeat counts nor tokens.
program::Task decode_task(program::TileKind kind, std::uint32_t word,
                          Generation generation = Generation::Second);
std::uint32_t encode_task(const program::Task& task);

// The state of a channel.
struct ChannelStatus {
    bool starting = false;  // it reads the task's first descriptor
    bool running = false;
    bool waits_for_lock = false;
    bool overflowed = false;  // a push to the full queue was lost
    std::int64_t queued = 0;
    std::int64_t descriptor = 0;
};
// Its bits of the word it is in.
std::uint32_t encode_state(program::TileKind kind, std::int64_t channel,
                           const ChannelStatus& status, Generation generation = Generation::Second);
// First generation: a lock's bits of the word that holds all of a tile.
std::uint32_t encode_lock(std::int64_t lock, std::int64_t value, bool held);

}  // namespace tilesim::arch::npu::control
