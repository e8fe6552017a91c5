// What a memory had done when that began which a result reports: it is left out of the result.
#pragma once

#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/port/bank_counts.hpp"
#include "arch/memory/port/memory_totals.hpp"
#include "workloads/attribution.hpp"
#include "workloads/result.hpp"

namespace tilesim::sim::session {

class CountedBefore {
  public:
    // Takes down what the memory has done until `now`.
    void note(arch::memory::controller::MemorySystem& memory, arch::base::Femtoseconds now);

    // When that was; 0 where the result is of the whole run.
    arch::base::Femtoseconds began() const { return began_; }
    const workloads::ChargedBefore& charged() const { return charged_; }
    // From the result's `memory` and `banks`.
    void leave_out(workloads::RunResult& result) const;

  private:
    arch::base::Femtoseconds began_{0};
    arch::memory::port::MemoryTotals totals_;
    arch::memory::port::BankUse banks_;
    workloads::ChargedBefore charged_;  // of the channels' busses
};

}  // namespace tilesim::sim::session
