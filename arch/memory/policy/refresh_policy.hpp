// Which banks are refreshed when, and for how long.
#pragma once

#include <cstdint>

#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::policy {

// One refresh command's share.
struct RefreshRound {
    std::uint64_t banks = 0;    // closed before it, busy with it
    std::int64_t length = 0;    // CK until they can be activated again
    std::int64_t interval = 1;  // CK to the next round
    device::Command command = device::Command::Refresh;
    bool alone = true;  // nothing else goes on until it is done
};

// CK of a channel's first round: the same for all, or else they share out an interval.
inline std::int64_t first_round(const device::MemoryConfig& config, std::size_t channel,
                                std::int64_t interval) {
    const std::int64_t first = config.controller.refresh_first.count();
    return first > 0 ? first : interval * static_cast<std::int64_t>(channel + 1) / config.channels;
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
