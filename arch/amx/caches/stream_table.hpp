// What the streamer of an L2 remembers: the last line asked for of each of a few 4 KiB pages, and
// how far ahead of it lines have been fetched.
//
// Each access at a higher line than the page's last counts. From the one after `wakes` on every
// such access takes the streamer two lines further ahead, up to so many and never beyond the page.
#pragma once

#include <algorithm>
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
    Lines access(Line line, std::int64_t ahead) {
        const Line page = line / kLinesPerPage;
        Stream* const stream = find(page);
        if (stream == nullptr) {
            begin(line);
            return {};
        }
        if (line <= stream->last) {
            return {};
        }
        stream->last = line;
        most_ascended_ = std::max(most_ascended_, ++stream->ascended);
        const std::int64_t distance = std::min(kGain * (stream->ascended - wakes_), ahead);
        const Line end = std::min(line + 1 + distance, (page + 1) * kLinesPerPage);
        const Line first = std::max(stream->next, line + 1);
        if (end <= first) {
            return {};
        }
        stream->next = end;
        return {first, end};
    }
    // The streams, the one replaced next first.
    void record(StateRecord& to) const;
    // Ascending lines of one page that have been asked for.
    std::int64_t most_ascended() const { return most_ascended_; }

  private:
    struct Stream {
        Line page = -1;
        Line last = -1;
        Line next = 0;  // first line not fetched ahead
        std::int64_t ascended = 0;
    };
    static constexpr std::int64_t kGain = 2;  // lines an access
    // Of the pages with the same low bits: how many there are, and where the last was put. Finds
    // most, and most that are not there, without looking at every stream.
    struct Guess {
        std::uint8_t streams = 0;
        std::uint8_t latest = 0;
    };
    Guess& guess_of(Line page) { return guess_[static_cast<std::size_t>(page) % guess_.size()]; }
    Stream* find(Line page) {
        const Guess guess = guess_of(page);
        if (guess.streams == 0) {
            return nullptr;
        }
        Stream& latest = streams_[guess.latest];
        return latest.page == page ? &latest : search(page);
    }
    Stream* search(Line page);
    void begin(Line line);

    std::int64_t wakes_;
    std::int64_t most_ascended_ = 0;
    std::vector<Stream> streams_;
    std::size_t next_ = 0;  // replaced next
    std::array<Guess, 256> guess_{};
};

}  // namespace tilesim::arch::amx::caches
