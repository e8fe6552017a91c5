#include "arch/amx/caches/stream_table.hpp"

#include <algorithm>

namespace tilesim::arch::amx::caches {

namespace {

constexpr std::size_t kStreams = 16;

}  // namespace

StreamTable::StreamTable(bool beyond_page) : beyond_page_(beyond_page), streams_(kStreams) {}

StreamTable::Lines StreamTable::access(Line line, std::int64_t ahead) {
    const Line page = line / kLinesPerPage;
    const auto stream = std::find_if(streams_.begin(), streams_.end(),
                                     [page](const Stream& s) { return s.page == page; });
    // A stream that has reached the end of its page goes on in the next one.
    const bool goes_on = std::any_of(streams_.begin(), streams_.end(), [line](const Stream& s) {
        return s.last == line - 1 && s.last >= 0;
    });
    const bool ascends = stream == streams_.end() ? goes_on : line > stream->last;
    if (stream == streams_.end()) {
        streams_[next_] = {page, line};
        next_ = (next_ + 1) % kStreams;
    } else {
        stream->last = line;
    }
    if (!ascends) {
        return {};
    }
    const Line end = line + 1 + ahead;
    return {line + 1, beyond_page_ ? end : std::min(end, (page + 1) * kLinesPerPage)};
}

}  // namespace tilesim::arch::amx::caches
