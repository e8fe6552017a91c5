// What the L1's stride prefetcher remembers: of some load instructions the line each asked for last
// and how far it was from the one before.
#pragma once

#include <array>

#include "arch/amx/caches/cache.hpp"

namespace tilesim::arch::amx::caches {

class StrideTable {
  public:
    // `instruction` asks for `line`; the line a stride further, of the same 4 KiB, where this is
    // the second equal stride or a later one, otherwise Cache::kNone.
    Line access(std::size_t instruction, Line line);
    void record(StateRecord& to) const;

  private:
    struct Entry {
        std::size_t instruction = SIZE_MAX;
        Line last = 0;
        Line stride = 0;
    };
    static constexpr std::size_t kEntries = 64;
    std::array<Entry, kEntries> entries_{};
};

}  // namespace tilesim::arch::amx::caches
