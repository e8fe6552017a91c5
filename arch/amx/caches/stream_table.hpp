// What a stream prefetcher remembers: the last line asked for of each of a few 4 KiB pages.
//
// A page's second access at a higher line makes a stream; the lines behind it, up to so many ahead
// are worth fetching: none beyond the page, unless the streams are to run on into the next. A
// stream that reaches the end of its page goes on with the first line of the next.
#pragma once

#include <vector>

#include "arch/amx/caches/cache.hpp"

namespace tilesim::arch::amx::caches {

class StreamTable {
  public:
    explicit StreamTable(bool beyond_page);

    struct Lines {
        Line first = 0;
        Line end = 0;  // first == end: none
    };
    // `line` is asked for; what to fetch of the `ahead` lines behind it.
    Lines access(Line line, std::int64_t ahead);

  private:
    struct Stream {
        Line page = -1;
        Line last = -1;
    };
    bool beyond_page_;
    std::vector<Stream> streams_;
    std::size_t next_ = 0;  // replaced next
};

}  // namespace tilesim::arch::amx::caches
