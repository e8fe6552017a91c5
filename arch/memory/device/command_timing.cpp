#include "arch/memory/device/command_timing.hpp"

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::memory::device {

namespace {
constexpr std::int64_t kLongAgo = INT64_MIN / 2;
}

CommandTiming::CommandTiming(const MemoryConfig& config)
    : t_(config.timing), group_size_(static_cast<std::size_t>(config.banks_per_group)) {
    rows_.fill(kNoRow);
    activates_.fill(kLongAgo);
}

std::int64_t CommandTiming::earliest_refresh() const {
    std::int64_t when = command_bus_;
    for (const Scope& each : banks_) {
        when = std::max(when, each.activate);
    }
    return when;
}

void CommandTiming::quiet_until(std::int64_t when) {
    SIM_CHECK(all_closed(), "a channel with open rows cannot be lent");
    raise(command_bus_, when);
    for (Scope& bank : banks_) {
        raise(bank.activate, when);
    }
}

}  // namespace tilesim::arch::memory::device
