#include "arch/memory/device/command_timing.hpp"

#include <algorithm>

#include "arch/base/check.hpp"
#include "arch/memory/device/bank_set.hpp"

namespace tilesim::arch::memory::device {

namespace {
constexpr std::int64_t kLongAgo = INT64_MIN / 2;
}

CommandTiming::CommandTiming(const MemoryConfig& config)
    : t_(config.timing),
      group_size_(static_cast<std::size_t>(config.banks_per_group)),
      bus_(config.split_command_bus) {
    rows_.fill(kNoRow);
    activates_.fill(kLongAgo);
}

std::int64_t CommandTiming::earliest_refresh(std::uint64_t banks) const {
    std::int64_t when = bus_.free_for_rows();
    for_each_bank(banks, [&](std::size_t bank) { when = std::max(when, banks_[bank].activate); });
    return when;
}

void CommandTiming::refresh(std::uint64_t banks, std::int64_t now, std::int64_t until) {
    SIM_CHECK((open_ & banks) == 0, "a bank with an open row cannot be refreshed");
    SIM_DCHECK(now >= earliest_refresh(banks), "a refresh at {} is too early", now);
    bus_.carry_row(now + 1);
    for_each_bank(banks, [&](std::size_t bank) { raise(banks_[bank].activate, until); });
}

void CommandTiming::quiet_until(std::int64_t when) {
    SIM_CHECK(open_ == 0, "a channel with open rows cannot be lent");
    bus_.hold(when);
    for (Scope& bank : banks_) {
        raise(bank.activate, when);
    }
}

}  // namespace tilesim::arch::memory::device
