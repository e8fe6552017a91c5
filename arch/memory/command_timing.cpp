#include "arch/memory/command_timing.hpp"

#include <algorithm>
#include <bit>

#include "arch/base/check.hpp"

namespace tilesim::arch::memory {

namespace {
constexpr std::int64_t kLongAgo = INT64_MIN / 2;
}

CommandTiming::CommandTiming(const MemoryConfig& config)
    : t_(config.timing),
      group_shift_(static_cast<unsigned>(
          std::countr_zero(static_cast<std::uint64_t>(config.banks_per_group)))),
      rows_(static_cast<std::size_t>(config.banks()), kNoRow),
      banks_(static_cast<std::size_t>(config.banks())),
      groups_(static_cast<std::size_t>(config.bank_groups)) {
    activates_.fill(kLongAgo);
}

std::int64_t CommandTiming::earliest(Command command, std::size_t bank) const {
    if (command != Command::Refresh) {
        return earliest(bound_of(command), bank);
    }
    std::int64_t when = command_bus_;
    for (const Scope& each : banks_) {
        when = std::max(when, each.activate);
    }
    return when;
}

std::int64_t CommandTiming::command_cycles(Command command) const {
    switch (command) {
        case Command::Activate:
            return t_.activate_command.count();
        case Command::Read:
        case Command::Write:
            return t_.column_command.count();
        default:
            return 1;
    }
}

void CommandTiming::issue(Command command, std::size_t bank, std::int64_t row, std::int64_t now) {
    SIM_DCHECK(now >= earliest(command, bank), "DRAM command {} to bank {} at {} is too early",
               static_cast<int>(command), bank, now);
    Scope& b = banks_[bank];
    Scope& g = groups_[group_of(bank)];
    command_bus_ = now + command_cycles(command);
    switch (command) {
        case Command::Activate:
            rows_[bank] = row;
            ++open_banks_;
            raise(b.read, now + t_.tRCD.count());
            raise(b.write, now + t_.tRCD.count());
            raise(b.precharge, now + t_.tRAS.count());
            raise(b.activate, now + t_.tRC.count());
            raise(g.activate, now + t_.tRRD_L.count());
            raise(channel_.activate, now + t_.tRRD_S.count());
            activates_[oldest_activate_] = now;
            oldest_activate_ = (oldest_activate_ + 1) % activates_.size();
            break;
        case Command::Read: {
            // Write data may follow read data after the bus has turned.
            const std::int64_t write =
                now + (t_.read_latency + t_.burst + t_.tRTW).count() - t_.write_latency.count();
            raise(b.precharge, now + t_.tRTP.count());
            raise(g.read, now + t_.tCCD_L.count());
            raise(channel_.read, now + t_.tCCD_S.count());
            raise(channel_.write, write);
            break;
        }
        case Command::Write: {
            const std::int64_t data_end = now + (t_.write_latency + t_.burst).count();
            raise(b.precharge, data_end + t_.tWR.count());
            raise(g.write, now + t_.tCCD_L_WR.count());
            raise(channel_.write, now + t_.tCCD_S.count());
            raise(g.read, data_end + t_.tWTR_L.count());
            raise(channel_.read, data_end + t_.tWTR_S.count());
            break;
        }
        case Command::Precharge:
            rows_[bank] = kNoRow;
            --open_banks_;
            raise(b.activate, now + t_.tRP.count());
            break;
        case Command::Refresh:
            for (Scope& each : banks_) {
                raise(each.activate, now + t_.tRFC.count());
            }
            break;
    }
}

void CommandTiming::quiet_until(std::int64_t when) {
    SIM_CHECK(all_closed(), "a channel with open rows cannot be lent");
    raise(command_bus_, when);
    for (Scope& bank : banks_) {
        raise(bank.activate, when);
    }
}

}  // namespace tilesim::arch::memory
