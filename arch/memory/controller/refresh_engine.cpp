#include "arch/memory/controller/refresh_engine.hpp"

#include <algorithm>

#include "arch/base/units.hpp"

namespace tilesim::arch::memory::controller {

RefreshEngine::RefreshEngine(const device::MemoryConfig& config, std::size_t channel)
    : policy_(policy::make_refresh(config, channel)),
      round_(policy_->round()),
      tREFI_(config.timing.tREFI.count()),
      lead_(time_of(config.controller.refresh_postpone + config.controller.refresh_pull_in)),
      after_writes_(config.controller.refresh_after_writes) {
    if (config.refresh) {
        due_ = first_due_ = policy_->first() + lead_;
    }
}

std::int64_t RefreshEngine::skip_until(std::int64_t now, std::int64_t idle_since) {
    last_unwatched_ = begun_ ? step_ : INT64_MAX;
    if (begun_ || due_ - lead_ >= now) {
        return 0;
    }
    // Those whose turn has come; of a backlog as many as there was time for.
    const std::int64_t since_first = now - (first_due_ - lead_);
    std::int64_t rounds = base::ceil_div(since_first * round_.per_tREFI, tREFI_) - done_;
    if (lead_ > 0) {
        rounds = std::min(rounds, base::ceil_div(now - idle_since, round_.pace));
    }
    if (rounds == 0) {
        return 0;
    }
    advance(rounds - 1);
    const std::int64_t backlog = lead_ > 0 ? idle_since + (rounds - 1) * round_.pace : 0;
    last_unwatched_ = std::max(backlog, due_ - lead_);
    return rounds - 1;
}

void RefreshEngine::advance(std::int64_t rounds) {
    done_ += rounds;
    due_ = first_due_ + time_of(done_);
    policy_->advance(rounds);
    round_ = policy_->round();
}

}  // namespace tilesim::arch::memory::controller
