#include "arch/amx/socket/snoop_filter.hpp"

#include <bit>

namespace tilesim::arch::amx::socket {

SnoopFilter::SnoopFilter(std::int64_t lines)
    : sets_(std::bit_ceil(static_cast<std::size_t>(lines)) / kWays), entries_(sets_ * kWays) {}

SnoopFilter::Entry& SnoopFilter::of(caches::Line line) {
    const auto tag = static_cast<std::uint32_t>(line + 1);
    Entry* const set = &entries_[first_of(line)];
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
