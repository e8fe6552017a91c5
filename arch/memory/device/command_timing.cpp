#include "arch/memory/device/command_timing.hpp"

#include <algorithm>
#include <bit>

#include "arch/base/check.hpp"
#include "arch/memory/device/bank_set.hpp"

namespace tilesim::arch::memory::device {

namespace {
constexpr std::int64_t kLongAgo = INT64_MIN / 2;
}

CommandTiming::CommandTiming(const MemoryConfig& config)
    : t_(config.timing),
      group_size_(static_cast<std::size_t>(config.banks_per_group)),
      rank_size_(static_cast<std::size_t>(config.banks_per_rank())),
      ranks_(static_cast<std::size_t>(config.ranks)),
      bus_(config.split_command_bus),
      to_write_((config.timing.tRCD_WR.count() > 0 ? config.timing.tRCD_WR : config.timing.tRCD)
                    .count()) {
    rows_.fill(kNoRow);
    activates_.fill(kLongAgo);
    closed_.fill(kLongAgo);
    opened_.fill(kLongAgo);
    partial_refresh_.fill(kLongAgo);
    for (Window& window : windows_) {
        window.activates.fill(kLongAgo);
    }
}

// tRRD and the window are the rank's own.
void CommandTiming::activate_in_rank(std::size_t bank, std::int64_t now) {
    Window& window = windows_[bank / rank_size_];
    window.activates[window.oldest] = now;
    window.oldest = (window.oldest + 1) % window.activates.size();
    const std::int64_t next =
        std::max(now + t_.tRRD_S.count(), window.activates[window.oldest] + t_.tFAW.count());
    for_rank(bank, true, [&](std::size_t other) { raise(banks_.activate[other], next); });
}

// Banks of the rank keep its spacing; the data of another rank's need a gap on the bus.
void CommandTiming::column_in_rank(bool write, std::size_t bank, std::int64_t now) {
    const std::int64_t read_latency = t_.read_latency.count();
    const std::int64_t write_latency = t_.write_latency.count();
    const std::int64_t data_end = now + (write ? write_latency : read_latency) + t_.burst.count();
    const std::int64_t gap = data_end + t_.tRTRS.count();
    for_rank(bank, true, [&](std::size_t other) {
        raise(banks_.read[other], write ? data_end + t_.tWTR_S.count() : now + t_.tCCD_S.count());
        raise(banks_.write[other],
              write ? now + t_.tCCD_S.count() : data_end + t_.tRTW.count() - write_latency);
    });
    for_rank(bank, false, [&](std::size_t other) {
        raise(banks_.read[other], gap - read_latency);
        raise(banks_.write[other], gap - write_latency);
    });
}

void CommandTiming::precharge_after_column(std::size_t bank) {
    rows_[bank] = kNoRow;
    open_ &= ~(std::uint64_t{1} << bank);
    closed_[bank] = banks_.precharge[bank];  // as soon as it may be
    raise(banks_.activate[bank], closed_[bank] + t_.tRP.count());
}

std::int64_t CommandTiming::open_ranks() const {
    std::int64_t ranks = 0;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
        ranks += rank_open(std::uint64_t{1} << (rank * rank_size_)) ? 1 : 0;
    }
    return ranks;
}

// A row that closes by itself has begun to by then: of the banks with no row, too.
std::int64_t CommandTiming::earliest_precharge_all(std::uint64_t banks) const {
    std::int64_t when = earliest(Command::Precharge);
    for_each_bank(banks, [&](std::size_t bank) { when = std::max(when, banks_.precharge[bank]); });
    return when;
}

void CommandTiming::precharge_all(std::uint64_t banks, std::int64_t now) {
    SIM_DCHECK(now >= earliest_precharge_all(banks), "a PRE of all banks at {} is too early", now);
    bus_.carry_row(now + t_.precharge_command.count());
    channel_.precharge = now + t_.tPPD.count();
    open_ &= ~banks;
    for_each_bank(banks, [&](std::size_t bank) {
        rows_[bank] = kNoRow;
        // As if by one of its own that takes tRP.
        closed_[bank] = now + (t_.all_banks_tRP() - t_.tRP).count();
        raise(banks_.activate[bank], now + t_.all_banks_tRP().count());
    });
}

void CommandTiming::hold_back(std::uint64_t banks, std::int64_t now) {
    const std::int64_t never = now + 2 * kLongestConstraint;
    for_each_bank(banks, [&](std::size_t bank) {
        banks_.activate[bank] = banks_.read[bank] = banks_.write[bank] = never;
    });
}

std::int64_t CommandTiming::refresh_ready(std::uint64_t banks) const {
    std::int64_t when = std::max(bus_.free_for_rows(),
                                 partial_refresh_[rank_of(banks)] + t_.tREFpb_to_REFpb.count());
    for_each_bank(banks, [&](std::size_t bank) {
        when = std::max({when, closed_[bank] + t_.tRP.count(), opened_[bank] + t_.tRC.count()});
    });
    return when;
}

// Towards other banks' ACTs it counts as one itself.
std::int64_t CommandTiming::earliest_partial_refresh(std::uint64_t banks) const {
    std::int64_t when = refresh_ready(banks);
    const std::size_t rank = rank_of(banks);
    std::uint64_t groups = 0;  // bit set for each bank that shares a group with one of them
    for_each_bank(banks, [&](std::size_t bank) {
        groups |= ((std::uint64_t{1} << group_size_) - 1) << (bank & ~(group_size_ - 1));
    });
    for (std::size_t bank = rank * rank_size_; bank < (rank + 1) * rank_size_; ++bank) {
        const bool near = (groups >> bank & 1) != 0;
        when = std::max(when, opened_[bank] + (near ? t_.tRRD_L : t_.tRRD_S).count());
    }
    return when;
}

void CommandTiming::keep_activates_back(std::uint64_t banks, std::int64_t when) {
    const std::int64_t next = when + t_.tREFpb_to_ACT.count();
    for_rank(rank_of(banks) * rank_size_, true,
             [&](std::size_t other) { raise(banks_.activate[other], next); });
}

void CommandTiming::partial_refresh(std::uint64_t banks, std::int64_t now, std::int64_t until) {
    SIM_CHECK((open_ & banks) == 0, "a bank with an open row cannot be refreshed");
    SIM_DCHECK(now >= earliest_partial_refresh(banks), "a refresh at {} is too early", now);
    bus_.carry_row(now + t_.precharge_command.count());
    partial_refresh_[rank_of(banks)] = now;
    const auto first = static_cast<std::size_t>(std::countr_zero(banks));
    for_rank(first, true, [&](std::size_t other) {
        raise(banks_.activate[other], now + t_.tREFpb_to_ACT.count());
    });
    for_each_bank(banks, [&](std::size_t bank) {
        banks_.activate[bank] = until;
        banks_.read[bank] = banks_.write[bank] = now;  // an ACT comes first
        const std::size_t group = bank & ~(group_size_ - 1);
        for (std::size_t other = group; other < group + group_size_; ++other) {
            if ((banks >> other & 1) == 0) {  // has kept what columns of the group ask for
                raise(banks_.read[bank], banks_.read[other]);
                raise(banks_.write[bank], banks_.write[other]);
            }
        }
        closed_[bank] = until - t_.tRP.count();  // nor is it refreshed again before
    });
}

std::int64_t CommandTiming::earliest_refresh(std::uint64_t banks) const {
    std::int64_t when = bus_.free_for_rows();
    for_each_bank(banks, [&](std::size_t bank) { when = std::max(when, banks_.activate[bank]); });
    return when;
}

void CommandTiming::refresh(std::uint64_t banks, std::int64_t now, std::int64_t until) {
    SIM_CHECK((open_ & banks) == 0, "a bank with an open row cannot be refreshed");
    SIM_DCHECK(now >= earliest_refresh(banks), "a refresh at {} is too early", now);
    bus_.carry_row(now + t_.precharge_command.count());
    for_each_bank(banks, [&](std::size_t bank) { raise(banks_.activate[bank], until); });
}

}  // namespace tilesim::arch::memory::device
