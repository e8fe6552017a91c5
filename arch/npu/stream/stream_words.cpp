// A stream in functional mode: words between its source and its receivers.
#include <algorithm>

#include "arch/npu/stream/stream_flow.hpp"

namespace tilesim::arch::npu::stream {

void StreamFlow::pump(std::int64_t words) {
    std::int64_t read_by_all = words_.end();
    for (const BranchState& state : branches_) {
        read_by_all = std::min(read_by_all, state.read_position);
    }
    words_.drop_before(read_by_all);
    if (header_unread_) {
        std::uint32_t header = 0;
        source_.read_words({&header, 1});
        header_unread_ = false;
    }
    if (header_unpumped_) {
        words_.append(1)[0] = *header_;
        header_unpumped_ = false;
    }
    if (words > 0) {
        source_.read_words(words_.append(words));
        transfer_unpumped_ -= words;
    }
}

void StreamFlow::take_words(std::size_t branch, std::int64_t words,
                            const std::function<void(std::span<const std::uint32_t>)>& use) {
    BranchState& state = branches_[branch];
    while (words > 0) {
        auto& headers = state.unread_headers;
        if (!headers.empty() && headers.front() == state.read_position) {
            headers.pop_front();
            ++state.read_position;
        }
        const std::int64_t begin = state.read_position;
        const std::int64_t piece =
            headers.empty() ? words : std::min(words, headers.front() - begin);
        if (begin + piece > words_.end()) {
            pump(std::min(transfer_unpumped_, begin + piece - words_.end()));
        }
        state.read_position = begin + piece;
        words -= piece;
        use(words_.words(begin, piece));
    }
}

}  // namespace tilesim::arch::npu::stream
