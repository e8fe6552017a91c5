// When a channel's next refresh is due, and what has been done of it.
//
// Ignores: postponed and pulled-in refreshes.
#pragma once

#include <cstdint>
#include <memory>

#include "arch/memory/policy/refresh_policies.hpp"

namespace tilesim::arch::memory::controller {

class RefreshEngine {
  public:
    RefreshEngine(const device::MemoryConfig& config, std::size_t channel);

    bool due(std::int64_t now) const { return now >= next(); }
    // CK of the next refresh, or of the next step of one that goes on beside other work; never
    // comes where rows are not refreshed.
    std::int64_t next() const { return step_ > due_ ? step_ : due_; }
    bool alone() const { return round_.alone; }
    // Of a round that goes on beside other work: it has begun, and goes on at CK `when`.
    bool begun() const { return begun_; }
    void begin() { begun_ = true; }
    void go_on_at(std::int64_t when) { step_ = when; }
    const policy::RefreshRound& round() const { return round_; }
    // The round that was due has been done.
    void on_done() {
        begun_ = false;
        step_ = INT64_MIN;
        advance(1);
    }
    // How many rounds an idle channel has done unwatched before CK `now`, but for the last, which
    // may still be going on: they leave no trace but their count.
    std::int64_t skip_until(std::int64_t now);

  private:
    void advance(std::int64_t rounds);

    std::unique_ptr<policy::RefreshPolicy> policy_;
    policy::RefreshRound round_;
    std::int64_t due_ = INT64_MAX;
    std::int64_t step_ = INT64_MIN;
    bool begun_ = false;
};

}  // namespace tilesim::arch::memory::controller
