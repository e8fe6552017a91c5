#include "arch/amx/caches/stream_table.hpp"

#include <algorithm>

namespace tilesim::arch::amx::caches {

namespace {

constexpr std::size_t kStreams = 32;
constexpr std::int64_t kGain = 2;  // lines an access

}  // namespace

StreamTable::StreamTable(std::int64_t wakes) : wakes_(wakes), streams_(kStreams) {}

StreamTable::Stream* StreamTable::find(Line page) {
    Stream& guess = streams_[guess_[static_cast<std::size_t>(page) % guess_.size()]];
    if (guess.page == page) {
        return &guess;
    }
    const auto stream = std::find_if(streams_.begin(), streams_.end(),
                                     [page](const Stream& s) { return s.page == page; });
    return stream == streams_.end() ? nullptr : &*stream;
}

StreamTable::Lines StreamTable::access(Line line, std::int64_t ahead) {
    const Line page = line / kLinesPerPage;
    Stream* const stream = find(page);
    if (stream == nullptr) {
        streams_[next_] = {page, line, line + 1, 1};
        guess_[static_cast<std::size_t>(page) % guess_.size()] = static_cast<std::uint8_t>(next_);
        next_ = (next_ + 1) % kStreams;
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
    if (distance <= 0 || end <= first) {
        return {};
    }
    stream->next = end;
    return {first, end};
}

}  // namespace tilesim::arch::amx::caches
