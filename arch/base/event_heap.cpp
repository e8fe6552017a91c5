#include "arch/base/event_heap.hpp"

#include <algorithm>

namespace tilesim::arch::base {

namespace {

constexpr std::size_t kArity = 4;

// Of time, then of order, as one number: comparing two takes no branch nobody could predict.
__extension__ typedef unsigned __int128 Key;
Key key_of(const Event& event) {
    return static_cast<Key>(event.time.count()) << 64 | event.order;
}

}  // namespace

void EventHeap::push(const Event& event) {
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / kArity;
        if (key_of(event) >= key_of(heap_[parent])) {
            break;
        }
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = event;
}

void EventHeap::pop() {
    // Moved at the end, not copied first: it may just have been written, and the host would wait.
    const Event& last = heap_.back();
    const std::size_t size = heap_.size() - 1;
    std::size_t hole = 0;
    while (true) {
        const std::size_t first = hole * kArity + 1;
        if (first >= size) {
            break;
        }
        const std::size_t end = std::min(first + kArity, size);
        std::size_t least = first;
        Key least_key = key_of(heap_[first]);
        for (std::size_t child = first + 1; child < end; ++child) {
            const Key key = key_of(heap_[child]);
            least = key < least_key ? child : least;
            least_key = key < least_key ? key : least_key;
        }
        if (least_key >= key_of(last)) {
            break;
        }
        heap_[hole] = heap_[least];
        hole = least;
    }
    heap_[hole] = last;
    heap_.pop_back();
}

}  // namespace tilesim::arch::base
