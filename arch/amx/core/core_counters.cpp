#include "arch/amx/core/core_counters.hpp"

namespace tilesim::arch::amx::core {

namespace {

template <class T, std::size_t kMembers>
void grow(T& counts, const T& then, const T& now,
          const std::array<std::int64_t T::*, kMembers>& members, std::int64_t times) {
    for (const auto member : members) {
        counts.*member += times * (now.*member - then.*member);
    }
}

}  // namespace

Counts grown(Counts counts, const Counts& then, const Counts& now, std::int64_t times) {
    grow<Counts, 2>(counts, then, now, {&Counts::walks, &Counts::misses}, times);
    using Cores = CoreCounters;
    grow<Cores, 7>(counts.core, then.core, now.core,
                   {&Cores::instructions, &Cores::dots, &Cores::dot_cycles, &Cores::b_cycles,
                    &Cores::tile_load_lines, &Cores::tile_loads, &Cores::tile_stores},
                   times);
    using Caches = caches::CacheCounters;
    grow<Caches, 8>(counts.caches, then.caches, now.caches,
                    {&Caches::l1_hits, &Caches::l1_misses, &Caches::l2_hits, &Caches::l2_misses,
                     &Caches::ownerships, &Caches::fills, &Caches::write_backs, &Caches::streams},
                    times);
    for (std::size_t state = 0; state < counts.spent.size(); ++state) {
        counts.spent[state] += times * (now.spent[state] - then.spent[state]);
        counts.overlapped[state] += times * (now.overlapped[state] - then.overlapped[state]);
    }
    return counts;
}

}  // namespace tilesim::arch::amx::core
