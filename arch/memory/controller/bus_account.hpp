// Charges every CK of a channel's data bus to what it did or waited for.
//
// A gap before a burst's data was idle until something was queued, then refresh until the last one
// of the burst's bank was over; the rest is the row's, where one had to be opened for the burst, or
// else the direction's or the column spacing's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/memory/controller/channel_stats.hpp"
#include "arch/memory/device/bank_set.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::controller {

class BusAccount {
  public:
    explicit BusAccount(base::stats::StateAccount& states) : states_(states) {
        refresh_end_.fill(INT64_MIN / 2);
    }

    // CK after the last data on the bus.
    std::int64_t data_end() const { return data_end_; }
    void on_first_queued(std::int64_t now) { busy_since_ = now; }
    // These banks can be activated again at CK `until`.
    void on_refresh(std::uint64_t banks, std::int64_t until) {
        device::for_each_bank(banks, [&](std::size_t bank) { refresh_end_[bank] = until; });
    }
    // A burst's data take `length` from CK `start`; `latency`: since its command.
    void on_data(bool write, std::size_t bank, bool opened_row, std::int64_t start,
                 std::int64_t latency, std::int64_t length);
    void on_guest(std::int64_t from, std::int64_t until) {
        states_.charge(BusState::Idle, std::max(from, data_end_));
        data_end_ = until;
        states_.charge(BusState::Guest, data_end_);
    }
    void finish(std::int64_t now) { states_.charge_until(std::max(now, data_end_)); }

  private:
    base::stats::StateAccount& states_;
    std::int64_t busy_since_ = 0;  // CK since which bursts have been queued
    std::int64_t data_end_ = 0;
    std::array<std::int64_t, device::kMaxBanks> refresh_end_;  // of each bank's last one
    bool last_write_ = false;
};

inline void BusAccount::on_data(bool write, std::size_t bank, bool opened_row, std::int64_t start,
                                std::int64_t latency, std::int64_t length) {
    const std::int64_t gap = start - data_end_;
    if (gap > 0) {
        const std::int64_t idle = std::clamp<std::int64_t>(busy_since_ - data_end_, 0, gap);
        const std::int64_t refreshing = std::clamp<std::int64_t>(
            refresh_end_[bank] + latency - data_end_ - idle, 0, gap - idle);
        states_.charge(BusState::Idle, data_end_ + idle);
        states_.charge(BusState::Refresh, data_end_ + idle + refreshing);
        states_.charge(opened_row                          ? BusState::RowMiss
                       : write != last_write_ || idle == 0 ? BusState::Turnaround
                                                           : BusState::Idle,
                       start);
    }
    data_end_ = start + length;
    states_.charge(write ? BusState::Write : BusState::Read, data_end_);
    last_write_ = write;
}

}  // namespace tilesim::arch::memory::controller
