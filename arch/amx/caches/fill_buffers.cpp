#include "arch/amx/caches/fill_buffers.hpp"

#include <algorithm>
#include <bit>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::caches {

const FillBuffer* FillBuffers::search(Line line) const {
    for (const FillBuffer& buffer : buffers_) {
        if (buffer.line == line) {
            return &buffer;
        }
    }
    return nullptr;
}

FillBuffer& FillBuffers::take_any() {
    SIM_DCHECK(!full(), "no fill buffer is free");
    FillBuffer& buffer = buffers_[static_cast<std::size_t>(std::countr_zero(free_))];
    free_ &= free_ - 1;
    ++busy_;
    buffer.busy = true;
    buffer.asked = true;
    buffer.fills_l1 = false;
    buffer.own = false;
    buffer.ready_at = kUnknownCycle;
    buffer.order = order_++;
    buffer.waiters.clear();
    return buffer;
}

FillBuffer& FillBuffers::take(Line line) {
    FillBuffer& buffer = take_any();
    buffer.line = line;
    buffer.moves = true;
    Held& held = held_[slot_of(line)];
    ++held.count;
    held.latest = index_of(buffer);
    return buffer;
}

FillBuffer& FillBuffers::take_wait(std::int64_t cycle) {
    FillBuffer& buffer = take_any();
    buffer.moves = false;
    buffer.ready_at = cycle;
    enqueue(waits_, buffer);
    return buffer;
}

// Behind all that are ready sooner, or at the same time in a buffer taken before.
void FillBuffers::enqueue(Queue& queue, const FillBuffer& buffer) {
    if (queue.behind == queue.of.size()) {
        std::copy(queue.begin(), queue.end(), queue.of.begin());
        queue.behind -= queue.first;
        queue.first = 0;
    }
    std::size_t place = queue.behind++;
    for (; place > queue.first; --place) {
        const FillBuffer& before = buffers_[queue.of[place - 1]];
        if (before.ready_at < buffer.ready_at ||
            (before.ready_at == buffer.ready_at && before.order < buffer.order)) {
            break;
        }
        queue.of[place] = queue.of[place - 1];
    }
    queue.of[place] = index_of(buffer);
}

// Where it is there: a line nobody knows of is not.
void FillBuffers::dequeue(Queue& queue, const FillBuffer& buffer) const {
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

void FillBuffers::set_ready(FillBuffer& buffer, std::int64_t cycle) {
    if (buffer.ready_at != kUnknownCycle) {
        dequeue(moves_, buffer);
    }
    buffer.ready_at = cycle;
    enqueue(moves_, buffer);
}

void FillBuffers::give_back(FillBuffer& buffer) {
    dequeue(buffer.moves ? moves_ : waits_, buffer);
    if (buffer.moves) {
        --held_[slot_of(buffer.line)].count;
    }
    buffer.line = Cache::kNone;
    buffer.busy = false;
    free_ |= std::uint64_t{1} << index_of(buffer);
    --busy_;
}

}  // namespace tilesim::arch::amx::caches
