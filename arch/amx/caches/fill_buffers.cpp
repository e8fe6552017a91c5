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
    auto place = queue.end();
    while (place != queue.begin()) {
        const FillBuffer& before = buffers_[*(place - 1)];
        if (before.ready_at < buffer.ready_at ||
            (before.ready_at == buffer.ready_at && before.order < buffer.order)) {
            break;
        }
        --place;
    }
    queue.insert(place, index_of(buffer));
}

void FillBuffers::set_ready(FillBuffer& buffer, std::int64_t cycle) {
    if (buffer.ready_at != kUnknownCycle) {
        std::erase(moves_, index_of(buffer));
    }
    buffer.ready_at = cycle;
    enqueue(moves_, buffer);
}

void FillBuffers::give_back(FillBuffer& buffer) {
    Queue& queue = buffer.moves ? moves_ : waits_;
    const auto place = std::find(queue.begin(), queue.end(), index_of(buffer));  // mostly the first
    if (place != queue.end()) {
        queue.erase(place);
    }
    if (buffer.moves) {
        --held_[slot_of(buffer.line)].count;
    }
    buffer.line = Cache::kNone;
    buffer.busy = false;
    free_ |= std::uint64_t{1} << index_of(buffer);
    --busy_;
}

}  // namespace tilesim::arch::amx::caches
