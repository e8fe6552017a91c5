#include "arch/amx/socket/lane.hpp"

#include <algorithm>
#include <bit>

namespace tilesim::arch::amx::socket {

// Slots before `now` are free for those that come in their place. Those behind the last one taken
// are free as they are.
void Lane::forget(std::uint64_t now) {
    const std::uint64_t first = now / kWordBits;
    const std::uint64_t end = std::min(first, last_ + 1);
    for (; first_ < end; ++first_) {
        taken_[first_ % kWords] = 0;
        full_[first_ % kWords / kWordBits] &= ~(std::uint64_t{1} << first_ % kWordBits);
    }
    first_ = std::max(first_, first);
}

// How many words in turn have no free slot, from `word` on. Where a lane is busy for long, looking
// at each would take most of the time.
std::uint64_t Lane::full_from(std::uint64_t word) const {
    std::uint64_t words = 0;
    while (words < kWords) {
        const std::uint64_t place = (word + words) % kWords;
        const std::uint64_t bit = place % kWordBits;
        const auto full =
            static_cast<std::uint64_t>(std::countr_one(full_[place / kWordBits] >> bit));
        words += full;
        if (bit + full < kWordBits) {
            break;
        }
    }
    return words;
}

std::int64_t Lane::take(std::int64_t slot, std::int64_t now) {
    const auto present = static_cast<std::uint64_t>(now);
    if (present / kWordBits > first_) {
        forget(present);
    }
    std::uint64_t from = std::max(static_cast<std::uint64_t>(slot), present);
    std::uint64_t word = from / kWordBits;
    while (word < first_ + kWords) {
        std::uint64_t& taken = taken_[word % kWords];
        const std::uint64_t free = ~taken >> from % kWordBits << from % kWordBits;
        if (free != 0) {
            taken |= free & (~free + 1);  // the first of them
            if (taken == ~std::uint64_t{0}) {
                full_[word % kWords / kWordBits] |= std::uint64_t{1} << word % kWordBits;
            }
            last_ = std::max(last_, word);
            return static_cast<std::int64_t>(word * kWordBits) + std::countr_zero(free);
        }
        ++word;
        word += full_from(word);
        from = 0;
    }
    return static_cast<std::int64_t>((first_ + kWords) * kWordBits);
}

}  // namespace tilesim::arch::amx::socket
