// Lines on their way from DRAM, and who waits for each behind the first that asked.
//
// A table of open places, half of them free at least: a line lies in the place its number is spread
// to, or in one of those that follow without a gap (Knuth, "The Art of Computer Programming",
// volume 3, section 6.4, algorithms L and R).
#pragma once

#include <cstdint>
#include <vector>

#include "arch/amx/caches/cache.hpp"

namespace tilesim::arch::amx::socket {

class ComingLines {
  public:
    static constexpr std::uint64_t kNobody = UINT64_MAX;
    // Those who wait are a list, which is the uncore's.
    struct Coming {
        caches::Line line = caches::Cache::kNone;
        std::uint64_t first = kNobody;
        std::uint64_t last = kNobody;
    };

    bool contains(caches::Line line) const { return places_[place_of(line)].line == line; }
    // The line's, or null; no longer valid when another is added or taken.
    Coming* find(caches::Line line);
    void add(caches::Line line);
    // The line is there; it must have been coming.
    Coming take(caches::Line line);

  private:
    std::size_t home_of(caches::Line line) const;
    std::size_t place_of(caches::Line line) const;  // its own, or the free one where it belongs
    std::size_t after(std::size_t place) const { return (place + 1) & (places_.size() - 1); }
    void grow();

    std::vector<Coming> places_ = std::vector<Coming>(64);  // a power of two
    std::size_t lines_ = 0;
};

}  // namespace tilesim::arch::amx::socket
