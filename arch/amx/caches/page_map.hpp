// Where the system has put a program's pages: in 4 KiB frames that lie anywhere, or as addresses
// say.
//
// A scattered frame is a permutation of the page's number: two pages never share one.
#pragma once

#include <cstdint>

#include "arch/amx/caches/cache.hpp"

namespace tilesim::arch::amx::caches {

class PageMap {
  public:
    explicit PageMap(bool scattered) : scattered_(scattered) {}

    // The line of memory behind a program's line.
    Line physical(Line line) const {
        return scattered_
                   ? static_cast<Line>(frame_of(static_cast<std::uint64_t>(line) / kLinesPerPage)) *
                             kLinesPerPage +
                         line % kLinesPerPage
                   : line;
    }

  private:
    // Odd factors and shifts to the right permute the numbers of so many bits.
    static std::uint64_t frame_of(std::uint64_t page) {
        constexpr int kFrameBits = 25;  // of the 128 GiB that addresses reach
        constexpr std::uint64_t kMask = (std::uint64_t{1} << kFrameBits) - 1;
        constexpr std::uint64_t kFactors[] = {0x1C0FFE5, 0x0D1B54B};
        for (const std::uint64_t factor : kFactors) {
            page = page * factor & kMask;
            page ^= page >> (kFrameBits / 2);
        }
        page = page * kFactors[0] & kMask;
        return page ^ page >> (kFrameBits / 2);
    }

    bool scattered_;
};

}  // namespace tilesim::arch::amx::caches
