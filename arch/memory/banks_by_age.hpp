// Some banks a queue has bursts for, in order of the age of their next one.
//
// A scheduler that prefers the oldest of those that are ready looks no further than the first that
// is. Ages change little from one command to the next, so an update moves a bank few places.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilesim::arch::memory {

// A burst's order, lower is older, and the number of its bank in one.
class Age {
  public:
    static constexpr int kBankBits = 6;

    Age() = default;
    Age(std::uint64_t order, std::size_t bank) : value_(order << kBankBits | bank) {}
    std::size_t bank() const { return value_ & ((std::size_t{1} << kBankBits) - 1); }
    // This age with the bits of `mask` from the other one.
    Age blend(Age other, std::uint64_t mask) const {
        other.value_ = value_ ^ ((value_ ^ other.value_) & mask);
        return other;
    }
    auto operator<=>(const Age&) const = default;

  private:
    std::uint64_t value_ = UINT64_MAX;
};

class BanksByAge {
  public:
    auto begin() const { return ages_.begin(); }
    auto end() const { return ages_.end(); }

    void insert(Age age) {
        ages_.push_back(age);
        move_towards_older(ages_.end() - 1);
    }
    void remove(Age age) { ages_.erase(std::find(ages_.begin(), ages_.end(), age)); }
    // The bank's next burst is another one.
    void update(Age from, Age to) {
        auto place = std::find(ages_.begin(), ages_.end(), from);
        for (; place + 1 != ages_.end() && *(place + 1) < to; ++place) {
            *place = *(place + 1);
        }
        *place = to;
        move_towards_older(place);
    }

  private:
    void move_towards_older(std::vector<Age>::iterator place) {
        const Age age = *place;
        for (; place != ages_.begin() && age < *(place - 1); --place) {
            *place = *(place - 1);
        }
        *place = age;
    }

    std::vector<Age> ages_;  // oldest first
};

}  // namespace tilesim::arch::memory
