#include "arch/amx/caches/stream_table.hpp"

namespace tilesim::arch::amx::caches {

namespace {

constexpr std::size_t kStreams = 32;

}  // namespace

StreamTable::StreamTable(std::int64_t wakes) : wakes_(wakes), streams_(kStreams) {}

StreamTable::Stream* StreamTable::search(Line page) {
    const auto stream = std::find_if(streams_.begin(), streams_.end(),
                                     [page](const Stream& s) { return s.page == page; });
    return stream == streams_.end() ? nullptr : &*stream;
}

void StreamTable::record(StateRecord& to) const {
    for (std::size_t i = 0; i < kStreams; ++i) {
        const Stream& stream = streams_[(next_ + i) % kStreams];
        to.add(stream.last);  // and its page with it
        to.add(stream.next);
        to.add(stream.ascended);
    }
}

void StreamTable::begin(Line line) {
    const Line page = line / kLinesPerPage;
    if (streams_[next_].page >= 0) {
        --guess_of(streams_[next_].page).streams;
    }
    streams_[next_] = {page, line, line + 1, 1};
    Guess& guess = guess_of(page);
    ++guess.streams;
    guess.latest = static_cast<std::uint8_t>(next_);
    next_ = (next_ + 1) % kStreams;
}

}  // namespace tilesim::arch::amx::caches
