#include "arch/amx/caches/fill_buffers.hpp"

#include <algorithm>

namespace tilesim::arch::amx::caches {

const FillBuffer* FillBuffers::search(Line line) const {
    for (const FillBuffer& buffer : buffers_) {
        if (buffer.line == line) {
            return &buffer;
        }
    }
    return nullptr;
}

FillBuffer& FillBuffers::take_wait(std::int64_t cycle) {
    FillBuffer& buffer = take_any();
    buffer.moves = false;
    buffer.ready_at = cycle;
    enqueue(waits_, buffer);
    return buffer;
}

void FillBuffers::move_to_start(Queue& queue) {
    std::copy(queue.begin(), queue.end(), queue.of.begin());
    queue.behind -= queue.first;
    queue.first = 0;
}

void FillBuffers::dequeue_from_within(Queue& queue, const FillBuffer& buffer) const {
    std::size_t place = queue.first;
    while (place < queue.behind && queue.of[place] != index_of(buffer)) {
        ++place;
    }
    if (place == queue.behind) {
        return;
    }
    for (; place > queue.first; --place) {
        queue.of[place] = queue.of[place - 1];
    }
    ++queue.first;
}

}  // namespace tilesim::arch::amx::caches
