// The refresh policies a configuration may choose from.
#pragma once

#include <bit>
#include <memory>

#include "arch/memory/device/power.hpp"
#include "arch/memory/policy/all_bank_refresh.hpp"
#include "arch/memory/policy/partial_refresh.hpp"
#include "arch/memory/policy/policy_table.hpp"

namespace tilesim::arch::memory::policy {

using RefreshPolicies = PolicyTable<AllBankRefresh,  //
                                    PerBankRefresh,  //
                                    PairRefresh,     //
                                    SameBankRefresh>;

// The one that the configuration chooses.
inline std::unique_ptr<RefreshPolicy> make_refresh(const device::MemoryConfig& config,
                                                   std::size_t channel) {
    using Made = std::unique_ptr<RefreshPolicy>;
    return RefreshPolicies::make<Made>(
        config.controller.refresh_policy,
        [&]<class Policy>() -> Made { return std::make_unique<Policy>(config, channel); });
}

// What its refreshes are to the banks.
inline device::Refreshes refreshes_of(const device::MemoryConfig& config) {
    const RefreshRound round = make_refresh(config, 0)->round();
    return {round.command, std::popcount(round.banks)};
}

}  // namespace tilesim::arch::memory::policy
