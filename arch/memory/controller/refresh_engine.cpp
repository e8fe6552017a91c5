#include "arch/memory/controller/refresh_engine.hpp"

namespace tilesim::arch::memory::controller {

RefreshEngine::RefreshEngine(const device::MemoryConfig& config, std::size_t channel) {
    using Made = std::unique_ptr<policy::RefreshPolicy>;
    policy_ = policy::RefreshPolicies::make<Made>(
        config.controller.refresh_policy,
        [&]<class Policy>() -> Made { return std::make_unique<Policy>(config, channel); });
    if (config.refresh) {
        due_ = policy_->first();
    }
    round_ = policy_->round();
}

std::int64_t RefreshEngine::skip_until(std::int64_t now) {
    if (begun_ || now - round_.interval <= due_) {
        return 0;
    }
    const std::int64_t rounds = (now - due_) / round_.interval;
    advance(rounds);
    return rounds;
}

void RefreshEngine::advance(std::int64_t rounds) {
    due_ += rounds * round_.interval;
    policy_->advance(rounds);
    round_ = policy_->round();
}

}  // namespace tilesim::arch::memory::controller
