// Which channel, bank, row and column an address lies in.
//
// Every bit of a location is a bit of the burst number or the XOR of some: the locations of a
// number's high and low bits, XORed, are its own.
#pragma once

#include <array>
#include <cstddef>
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
    static constexpr int kLowBits = 6;
    static constexpr std::size_t kLow = std::size_t{1} << kLowBits;

    Location compute(std::int64_t burst) const;

    struct Piece {  // where some bits of the burst number go
        std::size_t field = 0;
        int from = 0;
        std::int64_t mask = 0;  // of its bits, moved to bit 0
        int to = 0;
    };
    std::vector<Piece> pieces_;
    // Both counts are powers of two.
    int group_bits_;
    int bank_bits_;
    bool hash_;
    std::array<Location, kLow> low_{};  // of the bursts below kLow
    // Bursts come one after the other: the high bits located last are remembered.
    mutable std::int64_t high_bits_ = 0;
    mutable Location high_{};
};

}  // namespace tilesim::arch::memory
