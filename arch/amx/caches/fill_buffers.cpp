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

void FillBuffers::record(StateRecord& to) const {
    for (const Queue* const queue : {&moves_, &waits_}) {
        to.add(queue->end() - queue->begin());
        for (const std::uint8_t index : *queue) {
            const FillBuffer& buffer = buffers_[index];
            to.add(buffer.line);
            to.add(buffer.fills_l1 ? 1 : 0);
            to.add(buffer.own ? 1 : 0);
            to.add(static_cast<std::int64_t>(buffer.level));
            to.time(buffer.ready_at);
            to.add(std::ssize(buffer.others) + (buffer.waiter == FillBuffer::kNobody ? 0 : 1));
            if (buffer.waiter != FillBuffer::kNobody) {
                to.entry(buffer.waiter);
            }
            for (const std::uint32_t other : buffer.others) {
                to.entry(other);
            }
        }
    }
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
