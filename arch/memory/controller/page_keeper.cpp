#include "arch/memory/controller/page_keeper.hpp"

namespace tilesim::arch::memory::controller {

PageKeeper::PageKeeper(const device::MemoryConfig& config) {
    using Made = std::unique_ptr<policy::PagePolicy>;
    policy_ = policy::PagePolicies::make<Made>(
        config.controller.page_policy,
        [&]<class Policy>() -> Made { return std::make_unique<Policy>(config.controller); });
    always_open_ = policy_->always_open();
    auto_precharge_ = policy_->may_auto_precharge();
}

}  // namespace tilesim::arch::memory::controller
