// What each bank has done under commands for all, half or one of them.
#pragma once

#include <cstddef>
#include <vector>

#include "arch/memory/port/bank_counts.hpp"
#include "arch/pim/all_bank_timing.hpp"
#include "arch/pim/bank_set.hpp"

namespace tilesim::arch::pim {

class AllBankCounts {
  public:
    explicit AllBankCounts(std::size_t banks) : of_bank_(banks) {}

    void add(AllBankCommand command, BankSet banks);
    memory::port::BankCounts of(std::size_t bank) const;

  private:
    memory::port::BankCounts of_all_;
    std::vector<memory::port::BankCounts> of_bank_;  // beyond what all have done
};

}  // namespace tilesim::arch::pim
