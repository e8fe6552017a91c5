// Which rows have been idle for so long that the page policy wants them closed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/policy/page_policies.hpp"

namespace tilesim::arch::memory::controller {

// A bank whose row can be closed now, or when to look again.
struct Closing {
    static constexpr std::size_t kNobody = SIZE_MAX;
    std::size_t bank = kNobody;
    std::int64_t when = INT64_MAX;
};

class PageKeeper {
  public:
    explicit PageKeeper(const device::MemoryConfig& config);

    bool always_open() const { return always_open_; }
    void on_use(std::size_t bank, std::int64_t now) { last_used_[bank] = now; }
    // Whether column commands may close their rows, and whether the one that has just gone does.
    bool may_auto_precharge() const { return auto_precharge_; }
    bool closes_with_column(std::size_t bank, bool others_wait) {
        return policy_->auto_precharge(++columns_[bank], others_wait);
    }
    void on_open(std::size_t bank, std::int64_t row) {
        columns_[bank] = 0;
        if (!always_open_) {
            policy_->on_open(bank, row);
        }
    }
    void on_conflict(std::size_t bank) {
        if (!always_open_) {
            policy_->on_conflict(bank);
        }
    }
    void on_idle_close(std::size_t bank, std::int64_t row) { policy_->on_idle_close(bank, row); }
    // Of these banks with open rows: one that nobody wants open any more.
    Closing idle_row(std::uint64_t banks, const device::CommandTiming& timing,
                     std::int64_t now) const {
        return find(banks, timing, now,
                    [this](std::size_t bank) { return policy_->idle_limit(bank); });
    }
    // One that can be closed, used or not.
    Closing any_row(std::uint64_t banks, const device::CommandTiming& timing,
                    std::int64_t now) const {
        return find(banks, timing, now, [](std::size_t) { return std::int64_t{0}; });
    }

  private:
    template <class Limit>
    Closing find(std::uint64_t banks, const device::CommandTiming& timing, std::int64_t now,
                 Limit limit) const;

    std::unique_ptr<policy::PagePolicy> policy_;
    bool always_open_;
    bool auto_precharge_;
    std::array<std::int64_t, device::kMaxBanks> columns_{};  // of each bank's row so far
    // CK of each bank's last RD or WR: a row that nobody waits for has had one.
    std::array<std::int64_t, device::kMaxBanks> last_used_{};
};

template <class Limit>
Closing PageKeeper::find(std::uint64_t banks, const device::CommandTiming& timing, std::int64_t now,
                         Limit limit) const {
    Closing found;
    for (; banks != 0; banks &= ~std::bit_floor(banks)) {  // the highest that can goes
        const auto bank = static_cast<std::size_t>(std::bit_width(banks) - 1);
        const std::int64_t when = std::max(timing.earliest(device::Command::Precharge, bank),
                                           last_used_[bank] + limit(bank));
        if (when <= now) {
            return {.bank = bank};
        }
        found.when = std::min(found.when, when);
    }
    return found;
}

}  // namespace tilesim::arch::memory::controller
