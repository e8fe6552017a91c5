// Which channel, bank, row and column an address lies in.
//
// Every bit of a location is a bit of the burst number or the XOR of some: the locations of a
// number's high and low bits, XORed, are its own.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::device {

// One number, so that locations are joined in one step.
class Location {
  public:
    Location() = default;
    // `bank`: of the channel, (rank * groups + group) * banks_per_group + bank of the group.
    Location(std::int64_t channel, std::int64_t bank, std::int64_t row, std::int64_t column)
        : bits_(static_cast<std::uint64_t>(column) << kColumn |
                static_cast<std::uint64_t>(bank) << kBank |
                static_cast<std::uint64_t>(channel) << kChannel |
                static_cast<std::uint64_t>(row) << kRow) {}

    std::size_t channel() const { return field(kChannel, kRow); }
    std::size_t bank() const { return field(kBank, kChannel); }
    std::int64_t row() const { return static_cast<std::int64_t>(bits_ >> kRow); }
    std::size_t column() const { return field(kColumn, kBank); }  // bursts

    // So many columns further on in the same row.
    Location plus(std::uint64_t columns) const {
        Location further = *this;
        further.bits_ += columns << kColumn;
        return further;
    }
    Location operator^(Location other) const {
        other.bits_ ^= bits_;
        return other;
    }
    auto operator<=>(const Location&) const = default;

  private:
    // Where the fields begin; a configuration's limits leave room for its counts.
    static constexpr unsigned kColumn = 0;
    static constexpr unsigned kBank = 24;
    static constexpr unsigned kChannel = 32;
    static constexpr unsigned kRow = 40;

    std::size_t field(unsigned from, unsigned to) const {
        return bits_ >> from & ((std::size_t{1} << (to - from)) - 1);
    }

    std::uint64_t bits_ = 0;
};

class AddressMap {
  public:
    explicit AddressMap(const MemoryConfig& config);
    // `burst`: address / burst size. Addresses beyond the capacity wrap around.
    Location locate(std::int64_t burst) const { return lowest(burst) ^ of_higher_digits(burst); }
    // Calls `use(location)` for each of these bursts in turn.
    template <class Use>
    void locate(std::int64_t first, std::int64_t last, Use use) const {
        Location higher = of_higher_digits(first);
        for (std::int64_t burst = first; burst <= last; ++burst) {
            if (static_cast<std::size_t>(burst) % kDigit == 0) {
                higher = of_higher_digits(burst);
            }
            use(lowest(burst) ^ higher);
        }
    }

  private:
    static constexpr int kDigitBits = 8;
    static constexpr std::size_t kDigit = std::size_t{1} << kDigitBits;
    using Digit = std::array<Location, kDigit>;

    Location lowest(std::int64_t burst) const {
        return digits_.front()[static_cast<std::size_t>(burst) % kDigit];
    }
    Location of_higher_digits(std::int64_t burst) const {
        Location location;
        for (std::size_t i = 1; i < digits_.size(); ++i) {
            burst >>= kDigitBits;
            location = location ^ digits_[i][static_cast<std::size_t>(burst) % kDigit];
        }
        return location;
    }

    // Of a burst's number, lowest first: what each value says. There is one at least, since a bank
    // has more than one row.
    std::vector<Digit> digits_;
};

}  // namespace tilesim::arch::memory::device
