// The refresh policies a configuration may choose from.
#pragma once

#include "arch/memory/policy/all_bank_refresh.hpp"
#include "arch/memory/policy/partial_refresh.hpp"
#include "arch/memory/policy/policy_table.hpp"

namespace tilesim::arch::memory::policy {

using RefreshPolicies = PolicyTable<AllBankRefresh,  //
                                    PerBankRefresh,  //
                                    PairRefresh,     //
                                    SameBankRefresh>;

}  // namespace tilesim::arch::memory::policy
