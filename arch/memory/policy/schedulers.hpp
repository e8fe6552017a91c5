// The schedulers a configuration may choose from (choice.hpp says what one is).
#pragma once

#include "arch/memory/policy/fcfs.hpp"
#include "arch/memory/policy/fr_fcfs.hpp"
#include "arch/memory/policy/policy_table.hpp"

namespace tilesim::arch::memory::policy {

using Schedulers = PolicyTable<FrFcfs,  //
                               Fcfs>;

}  // namespace tilesim::arch::memory::policy
