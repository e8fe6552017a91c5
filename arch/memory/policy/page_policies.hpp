// The page policies a configuration may choose from.
#pragma once

#include "arch/memory/policy/adaptive_page.hpp"
#include "arch/memory/policy/auto_precharge_page.hpp"
#include "arch/memory/policy/closed_page.hpp"
#include "arch/memory/policy/open_page.hpp"
#include "arch/memory/policy/policy_table.hpp"
#include "arch/memory/policy/timeout_page.hpp"

namespace tilesim::arch::memory::policy {

using PagePolicies = PolicyTable<OpenPage,            //
                                 ClosedPage,          //
                                 TimeoutPage,         //
                                 AdaptivePage,        //
                                 ClosedAdaptivePage,  //
                                 CapPage>;

}  // namespace tilesim::arch::memory::policy
