// Which channel, bank, row and column an address lies in.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/memory/memory_config.hpp"

namespace tilesim::arch::memory {

struct Location {
    std::int64_t channel = 0;
    std::int64_t bank_group = 0;
    std::int64_t bank = 0;  // of the channel: group * banks_per_group + bank of the group
    std::int64_t row = 0;
    std::int64_t column = 0;  // bursts
};

class AddressMap {
  public:
    explicit AddressMap(const MemoryConfig& config);
    // `burst`: address / burst size. Addresses beyond the capacity wrap around.
    Location locate(std::int64_t burst) const;

  private:
    std::vector<AddressBits> mapping_;
    std::int64_t bank_groups_;
    std::int64_t banks_per_group_;
    bool hash_;
};

}  // namespace tilesim::arch::memory
