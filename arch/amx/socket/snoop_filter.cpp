#include "arch/amx/socket/snoop_filter.hpp"

#include <bit>
#include <new>

namespace tilesim::arch::amx::socket {

SnoopFilter::SnoopFilter(std::int64_t lines)
    : sets_(std::bit_ceil(static_cast<std::size_t>(lines)) / kWays),
      entries_(static_cast<Entry*>(std::calloc((sets_ + 1) * kWays, sizeof(Entry)))) {
    if (entries_ == nullptr) {
        throw std::bad_alloc();
    }
    constexpr std::size_t kSetBytes = kWays * sizeof(Entry);
    static_assert(kSetBytes == caches::kLineBytes);
    void* aligned = entries_.get();
    std::size_t bytes = (sets_ + 1) * kSetBytes;
    first_ = static_cast<Entry*>(std::align(kSetBytes, sets_ * kSetBytes, aligned, bytes));
}

SnoopFilter::Entry& SnoopFilter::of(caches::Line line) {
    const auto tag = static_cast<std::uint32_t>(line + 1);
    Entry* const set = set_of(line);
    Entry* empty = nullptr;
    for (std::size_t way = 0; way < kWays; ++way) {
        if (set[way].tag == tag) {
            return set[way];
        }
        empty = set[way].tag == 0 && empty == nullptr ? &set[way] : empty;
    }
    Entry& entry = empty != nullptr ? *empty : set[next_++ % kWays];
    entry = Entry{};
    entry.tag = tag;
    return entry;
}

}  // namespace tilesim::arch::amx::socket
