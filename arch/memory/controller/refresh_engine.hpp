// When a channel's next refresh is due, and what has been done of it.
//
// Models:  rounds that are put off while requests wait, up to a number of them, and made up for, or
//          done ahead, by a channel without requests, as it was before the run; a round that waits
//          for writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "arch/memory/policy/refresh_policies.hpp"

namespace tilesim::arch::memory::controller {

class RefreshEngine {
  public:
    RefreshEngine(const device::MemoryConfig& config, std::size_t channel);

    bool due(std::int64_t now) const { return now >= next(); }
    // CK at which the next refresh can wait no longer, or of the next step of one that goes on
    // beside other work; never comes where rows are not refreshed.
    std::int64_t next() const { return begun_ ? step_ : due_; }
    bool alone() const { return round_.alone; }
    // The round that is due, not begun yet, waits for the end of the writes being served.
    bool lets_writes_pass(std::int64_t now) const {
        return after_writes_ && !begun_ && now < due_ + time_of(kMostPutOff);
    }
    // Of a round that goes on beside other work: it has begun, and goes on at CK `when`.
    bool begun() const { return begun_; }
    void begin() { begun_ = true; }
    void go_on_at(std::int64_t when) { step_ = when; }
    const policy::RefreshRound& round() const { return round_; }
    // The round that was due has been done.
    void on_done() {
        begun_ = false;
        advance(1);
    }
    // How many rounds a channel idle since a CK has done unwatched before CK `now`, but for the
    // last, which may still be going on: they leave no trace but their count.
    std::int64_t skip_until(std::int64_t now, std::int64_t idle_since);
    // CK at which the next of these begins, or its next step.
    std::int64_t next_unwatched(std::int64_t idle_since) const {
        return begun_ ? step_ : std::max(lead_ > 0 ? idle_since : 0, due_ - lead_);
    }
    // CK at which that last one begins; none began: never.
    std::int64_t last_unwatched() const { return last_unwatched_; }

  private:
    static constexpr std::int64_t kMostPutOff = 8;  // JESD79-4: REF commands that may be put off

    // CK so many rounds take: of a fraction's, some come a CK later than others.
    std::int64_t time_of(std::int64_t rounds) const { return rounds * tREFI_ / round_.per_tREFI; }
    void advance(std::int64_t rounds);

    std::unique_ptr<policy::RefreshPolicy> policy_;
    policy::RefreshRound round_;
    std::int64_t tREFI_;
    std::int64_t done_ = 0;  // rounds
    std::int64_t first_due_ = INT64_MAX;
    std::int64_t due_ = INT64_MAX;
    std::int64_t lead_ = 0;          // CK by which a round may go before it has to
    std::int64_t step_ = INT64_MIN;  // of a round that has begun
    std::int64_t last_unwatched_ = INT64_MAX;
    bool begun_ = false;
    bool after_writes_ = false;
};

}  // namespace tilesim::arch::memory::controller
