#include "arch/amx/socket/lane.hpp"

#include <algorithm>
#include <bit>

namespace tilesim::arch::amx::socket {

// Slots before `now` are free for those that come in their place.
void Lane::forget(std::int64_t now) {
    if (now - first_ >= kWords * kWordBits) {
        taken_ = {};
        full_ = {};
        first_ = now / kWordBits * kWordBits;
    }
    for (; first_ + kWordBits <= now; first_ += kWordBits) {
        const std::size_t word = word_of(first_);
        taken_[word] = 0;
        full_[word / kWordBits] &= ~(std::uint64_t{1} << word % kWordBits);
    }
}

// How many words in turn have no free slot, from that of `slot` on. Where a lane is busy for long,
// looking at each would take most of the time.
std::int64_t Lane::full_from(std::int64_t slot) const {
    std::int64_t words = 0;
    while (words < kWords) {
        const std::size_t word = word_of(slot + words * kWordBits);
        const std::size_t bit = word % kWordBits;
        const int full = std::countr_one(full_[word / kWordBits] >> bit);
        words += full;
        if (bit + static_cast<std::size_t>(full) < kWordBits) {
            break;
        }
    }
    return words;
}

std::int64_t Lane::take(std::int64_t slot, std::int64_t now) {
    forget(now);
    const std::int64_t end = first_ + kWords * kWordBits;
    slot = std::max(slot, now);
    while (slot < end) {
        const std::size_t word = word_of(slot);
        const std::int64_t bit = slot % kWordBits;
        const int busy = std::countr_one(taken_[word] >> bit);
        if (bit + busy < kWordBits) {
            taken_[word] |= std::uint64_t{1} << (bit + busy);
            const bool is_full = taken_[word] == ~std::uint64_t{0};
            full_[word / kWordBits] |= std::uint64_t{is_full} << word % kWordBits;
            return slot + busy;
        }
        slot += kWordBits - bit;
        slot += full_from(slot) * kWordBits;
    }
    return end;
}

}  // namespace tilesim::arch::amx::socket
