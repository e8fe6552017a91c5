// Private caches driven by hand: for tests of their parts.
#pragma once

#include <vector>

#include "arch/amx/caches/private_caches.hpp"

namespace tilesim::arch::amx::caches {

inline constexpr base::Hertz kClock{1'000'000'000};

inline PrivateCacheConfig path_sample() {
    PrivateCacheConfig config;
    config.l2_latency = base::Cycles{17};
    return config;
}

// One set each: an L1 of 2 lines, an L2 of 3.
inline PrivateCacheConfig tiny_sample() {
    PrivateCacheConfig config = path_sample();
    config.l1 = {base::Bytes{2 * kLineBytes}, 2};
    config.l2 = {base::Bytes{3 * kLineBytes}, 3};
    return config;
}

// The lines the uncore has been asked for since.
inline std::vector<Line> asked_for(PrivateCaches& caches) {
    std::vector<Line> lines;
    for (const UncoreRequest& request : caches.outbox()) {
        lines.push_back(request.line);
    }
    caches.outbox().clear();
    return lines;
}

// All that arrives in [from, to).
inline std::vector<PrivateCaches::Arrival> pass(PrivateCaches& caches, std::int64_t from,
                                                std::int64_t to) {
    std::vector<PrivateCaches::Arrival> here;
    for (std::int64_t cycle = from; cycle < to; ++cycle) {
        caches.advance(cycle, here);
    }
    return here;
}

}  // namespace tilesim::arch::amx::caches
