#include "arch/memory/controller/refresh_engine.hpp"

#include <algorithm>

#include "arch/base/units.hpp"

namespace tilesim::arch::memory::controller {

RefreshEngine::RefreshEngine(const device::MemoryConfig& config, std::size_t channel)
    : after_writes_(config.controller.refresh_after_writes) {
    policy_ = policy::make_refresh(config, channel);
    round_ = policy_->round();
    const std::int64_t postponed = config.controller.refresh_postpone * round_.interval;
    if (config.refresh) {
        due_ = policy_->first() + postponed;
    }
    lead_ = postponed + config.controller.refresh_pull_in * round_.interval;
}

std::int64_t RefreshEngine::skip_until(std::int64_t now, std::int64_t idle_since) {
    last_unwatched_ = begun_ ? step_ : INT64_MAX;
    if (begun_ || due_ - lead_ >= now) {
        return 0;
    }
    // Those whose turn has come; of a backlog as many as there was time for.
    std::int64_t rounds = (now - 1 - (due_ - lead_)) / round_.interval + 1;
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
    due_ += rounds * round_.interval;
    policy_->advance(rounds);
    round_ = policy_->round();
}

}  // namespace tilesim::arch::memory::controller
