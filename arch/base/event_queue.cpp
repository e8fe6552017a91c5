#include "arch/base/event_queue.hpp"

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::base {

namespace {

constexpr std::size_t kArity = 4;

// Of time, then of order, as one number: comparing two takes no branch nobody could predict.
__extension__ typedef unsigned __int128 Key;
Key key_of(Femtoseconds time, std::uint64_t order) {
    return static_cast<Key>(time.count()) << 64 | order;
}

}  // namespace

void EventQueue::at(Femtoseconds time, EventHandler& handler, std::uint64_t tag) {
    SIM_CHECK(time >= now_, "event scheduled at {} fs, before the present {} fs", time.count(),
              now_.count());
    const Entry entry{time, order_++, &handler, tag};
    std::size_t hole = heap_.size();
    heap_.push_back(entry);
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / kArity;
        if (!before(entry, heap_[parent])) {
            break;
        }
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = entry;
    if (hole == 0 && watcher_ != nullptr) {
        watcher_->on_earlier(time);
    }
}

void EventQueue::pop() {
    // Moved at the end, not copied first: it may just have been written, and the host would wait.
    const Entry& last = heap_.back();
    const std::size_t size = heap_.size() - 1;
    std::size_t hole = 0;
    while (true) {
        const std::size_t first = hole * kArity + 1;
        if (first >= size) {
            break;
        }
        const std::size_t end = std::min(first + kArity, size);
        std::size_t least = first;
        Key least_key = key_of(heap_[first].time, heap_[first].order);
        for (std::size_t child = first + 1; child < end; ++child) {
            const Key key = key_of(heap_[child].time, heap_[child].order);
            least = key < least_key ? child : least;
            least_key = key < least_key ? key : least_key;
        }
        if (!before(heap_[least], last)) {
            break;
        }
        heap_[hole] = heap_[least];
        hole = least;
    }
    heap_[hole] = last;
    heap_.pop_back();
}

void EventQueue::run_until(Femtoseconds limit) {
    while (!heap_.empty() && heap_.front().time <= limit) {
        now_ = heap_.front().time;
        EventHandler& handler = *heap_.front().handler;
        const std::uint64_t tag = heap_.front().tag;
        pop();
        ++executed_;
        handler.on_event(tag, now_);
    }
}

void EventQueue::advance_to(Femtoseconds time) {
    SIM_CHECK(time <= next_time(), "the present would be {} fs, after the event at {} fs",
              time.count(), next_time().count());
    now_ = std::max(now_, time);
}

}  // namespace tilesim::arch::base
