// What a socket remembers of lines: which core has one, and whether it was used before.
//
// Sets of eight entries; a line that finds no room displaces the one of its set that came first,
// of which nothing is known then.
#pragma once

#include <cstdint>

#include "arch/amx/caches/cache.hpp"

namespace tilesim::arch::amx::socket {

class SnoopFilter {
  public:
    explicit SnoopFilter(std::int64_t lines);

    static constexpr std::uint16_t kNobody = 0;
    static constexpr std::uint16_t kSeveral = UINT16_MAX;
    struct Entry {
        std::uint32_t tag = 0;           // line + 1; 0: empty
        std::uint16_t holder = kNobody;  // core + 1
        bool fetched : 1 = false;        // from DRAM, at least once
        bool again : 1 = false;          // twice or more
        bool reused : 1 = false;         // since then from the L3, or from another core
        bool forwarded : 1 = false;      // one core has given it to another
        bool prefetched : 1 = false;     // into the L3, and not asked for since
    };

    // The host may fetch what `of` the line will look at.
    void expect(caches::Line line) const { __builtin_prefetch(&entries_[first_of(line)]); }
    // The line's entry; a new one where there was none.
    Entry& of(caches::Line line);
    bool has_forgotten() const { return next_ > 0; }  // any line for another
    static std::uint16_t name_of(std::size_t core) { return static_cast<std::uint16_t>(core + 1); }

  private:
    static constexpr std::size_t kWays = 8;
    std::size_t first_of(caches::Line line) const {  // of its set
        return (static_cast<std::size_t>(line) & (sets_ - 1)) * kWays;
    }

    std::size_t sets_;
    caches::Zeroed<Entry> entries_;  // a set fills a line of the host's cache
    std::size_t next_ = 0;
};

}  // namespace tilesim::arch::amx::socket
