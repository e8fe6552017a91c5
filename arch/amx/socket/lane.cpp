#include "arch/amx/socket/lane.hpp"

#include <algorithm>
#include <bit>

namespace tilesim::arch::amx::socket {

std::int64_t Lane::take(std::int64_t slot, std::int64_t now) {
    if (now - first_ >= kWords * kWordBits) {
        taken_ = {};
        first_ = now / kWordBits * kWordBits;
    }
    for (; first_ + kWordBits <= now; first_ += kWordBits) {
        word_of(first_) = 0;
    }
    const std::int64_t end = first_ + kWords * kWordBits;
    for (slot = std::max(slot, now); slot < end; slot = (slot / kWordBits + 1) * kWordBits) {
        std::uint64_t& word = word_of(slot);
        const std::int64_t bit = slot % kWordBits;
        const int busy = std::countr_one(word >> bit);
        if (bit + busy < kWordBits) {
            word |= std::uint64_t{1} << (bit + busy);
            return slot + busy;
        }
    }
    return end;
}

}  // namespace tilesim::arch::amx::socket
