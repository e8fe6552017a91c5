// What the streamer of an L2 remembers: the last line asked for of each of a few 4 KiB pages, and
// how far ahead of it lines have been fetched.
//
// Each access at a higher line than the page's last counts. From the one after `wakes` on every
// such access takes the streamer two lines further ahead, up to so many and never beyond the page.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/amx/caches/cache.hpp"

namespace tilesim::arch::amx::caches {

class StreamTable {
  public:
    explicit StreamTable(std::int64_t wakes);

    struct Lines {
        Line first = 0;
        Line end = 0;  // first == end: none
    };
    // `line` is asked for; which lines behind it, `ahead` at most, to fetch now.
    Lines access(Line line, std::int64_t ahead);
    // Ascending lines of one page that have been asked for.
    std::int64_t most_ascended() const { return most_ascended_; }

  private:
    struct Stream {
        Line page = -1;
        Line last = -1;
        Line next = 0;  // first line not fetched ahead
        std::int64_t ascended = 0;
    };
    Stream* find(Line page);

    std::int64_t wakes_;
    std::int64_t most_ascended_ = 0;
    std::vector<Stream> streams_;
    std::size_t next_ = 0;  // replaced next
    // Where a page was put last, by its low bits: finds most without looking at every stream.
    std::array<std::uint8_t, 64> guess_{};
};

}  // namespace tilesim::arch::amx::caches
