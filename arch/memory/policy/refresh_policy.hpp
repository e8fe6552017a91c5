// Which banks are refreshed when, and for how long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::policy {

// One refresh command's share.
struct RefreshRound {
    std::uint64_t banks = 0;     // closed before it, busy with it
    std::int64_t length = 0;     // CK until they can be activated again
    std::int64_t per_tREFI = 1;  // rounds in tREFI, evenly spread
    std::int64_t pace = 1;       // CK from one to the next where nothing else goes on
    device::Command command = device::Command::Refresh;
    bool alone = true;  // nothing else goes on until it is done
};

// The place of a channel among those that share out an interval: in order of their numbers read
// from the lowest bit up, so that neighbours are far apart in time. In order of the numbers a
// sequential stream with few requests under way would go from channel to channel with the
// refreshes, and meet one nearly everywhere.
inline std::int64_t refresh_turn(std::size_t channel, std::size_t channels) {
    const auto from_lowest_bit = [channels](std::size_t number) {
        std::size_t value = 0;
        for (std::size_t place = 1; place <= channels; place *= 2) {
            value = 2 * value + number / place % 2;
        }
        return value;
    };
    std::int64_t turn = 0;
    for (std::size_t other = 0; other < channels; ++other) {
        turn += from_lowest_bit(other) < from_lowest_bit(channel) ? 1 : 0;
    }
    return turn;
}

// CK of a channel's first round: the same for all, or else they share out the time from one to the
// next, around which they can be shifted.
inline std::int64_t first_round(const device::MemoryConfig& config, std::size_t channel,
                                std::int64_t per_tREFI) {
    const std::int64_t interval = config.timing.tREFI.count() / per_tREFI;
    const std::int64_t first = config.controller.refresh_first.count();
    const std::int64_t shift = config.controller.refresh_shift.count();
    if (first > 0) {
        return first + shift;
    }
    const std::int64_t spread =
        interval * (refresh_turn(channel, static_cast<std::size_t>(config.channels)) + 1) /
        config.channels;
    const std::int64_t shifted = spread + shift % std::max<std::int64_t>(interval, 1);
    return shifted > interval ? shifted - interval : shifted;
}

class RefreshPolicy {
  public:
    virtual ~RefreshPolicy() = default;

    // CK at which the first round is due.
    virtual std::int64_t first() const = 0;
    // The round that is due, or the next one.
    virtual RefreshRound round() const = 0;
    // It has been done, and maybe some more at once, of which nobody needs to know the banks.
    virtual void advance(std::int64_t rounds) = 0;
};

}  // namespace tilesim::arch::memory::policy
