// A queue in one piece of memory. std::deque touches two more cache lines an access, and hundreds
// of streams and channels take turns in the cache.
#pragma once

#include <algorithm>
#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <iterator>

namespace tilesim::arch::base {

template <class T>
using Ring = boost::circular_buffer<T>;

// Makes room for one more element; a full ring would overwrite its oldest.
template <class T>
void make_room(Ring<T>& ring) {
    constexpr std::size_t kFirst = 8;
    if (ring.full()) {
        ring.set_capacity(std::max(kFirst, 2 * ring.capacity()));
    }
}

// Appends an element, to be filled in by the caller: copying one that has just been written would
// wait for that.
template <class T>
T& append(Ring<T>& ring) {
    make_room(ring);
    ring.push_back(T{});
    return ring.back();
}

// Inserts an element, to be filled in by the caller, before those at the end that are `later`.
template <class T, class Later>
T& insert_before(Ring<T>& ring, Later later) {
    if (ring.empty() || !later(ring.back())) [[likely]] {
        return append(ring);
    }
    append(ring);
    auto place = std::prev(ring.end());
    for (; place != ring.begin() && later(*std::prev(place)); --place) {
        *place = *std::prev(place);
    }
    return *place = T{};
}

}  // namespace tilesim::arch::base
