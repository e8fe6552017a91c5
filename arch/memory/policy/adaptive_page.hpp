// A timeout that learns, bank by bank, from what it did wrong: Intel's adaptive page management, as
// described in "Everything You Always Wanted to Know About SDRAM (Memory): But Were Afraid to Ask"
// (AnandTech 2010, pages 6 and 7).
//
// Two mistakes move a bank's counter: a row that was left open until a burst wanted another (too
// loose, up) and a row that was closed although the next burst wanted it again (too tight, down).
// What turned out well moves nothing. At the upper threshold the bank's timeout halves, at the
// lower it doubles, and the counter starts anew in the middle. The timeout begins at `page_timeout`
// and stays within a sixteenth and sixteen times of it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/page_policy.hpp"

namespace tilesim::arch::memory::policy {

class AdaptivePage final : public PagePolicy {
  public:
    static constexpr std::string_view kName = "adaptive";
    static constexpr std::string_view kKeys[] = {"page_timeout"};
    static constexpr int kMiddle = 8;  // of a four-bit counter
    static constexpr int kLoose = 12;  // its upper threshold
    static constexpr int kTight = 4;   // its lower one
    static constexpr std::int64_t kSpan = 16;

    explicit AdaptivePage(const device::ControllerConfig& config)
        : shortest_(std::max<std::int64_t>(1, config.page_timeout.count() / kSpan)),
          longest_(config.page_timeout.count() * kSpan) {
        for (Bank& bank : banks_) {
            bank.limit = config.page_timeout.count();
        }
    }

    std::int64_t idle_limit(std::size_t bank) const override { return banks_[bank].limit; }
    void on_open(std::size_t bank, std::int64_t row) override {
        Bank& b = banks_[bank];
        if (b.closed_row == row && --b.mistakes == kTight) {
            b.limit = std::min(b.limit * 2, longest_);
            b.mistakes = kMiddle;
        }
        b.closed_row = kNoRow;
    }
    void on_conflict(std::size_t bank) override {
        Bank& b = banks_[bank];
        if (++b.mistakes == kLoose) {
            b.limit = std::max(b.limit / 2, shortest_);
            b.mistakes = kMiddle;
        }
    }
    void on_idle_close(std::size_t bank, std::int64_t row) override {
        banks_[bank].closed_row = row;
    }

  private:
    static constexpr std::int64_t kNoRow = -1;
    struct Bank {
        std::int64_t limit = 0;
        std::int64_t closed_row = kNoRow;  // by this policy; nothing has been opened since
        int mistakes = kMiddle;
    };

    std::int64_t shortest_;
    std::int64_t longest_;
    std::array<Bank, device::kMaxBanks> banks_;
};

}  // namespace tilesim::arch::memory::policy
