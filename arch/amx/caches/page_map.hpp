// Where the system has put a program's pages: in 4 KiB frames that lie anywhere, or as addresses
// say.
//
// A scattered frame is a permutation of the page's number: two pages never share one.
#pragma once

#include <array>
#include <cstdint>

#include "arch/amx/caches/cache.hpp"

namespace tilesim::arch::amx::caches {

// The number by which a product with `factor`, odd, is undone in so many low bits. A step doubles
// how many of its bits are right; of an odd number itself three are.
constexpr std::uint64_t inverse_of(std::uint64_t factor, int low_bits) {
    std::uint64_t inverse = factor;
    for (int right = 3; right < low_bits; right *= 2) {
        inverse *= 2 - factor * inverse;
    }
    return inverse;
}

class PageMap {
  public:
    explicit PageMap(bool scattered) : scattered_(scattered) {}

    // The line of memory behind a program's line.
    Line physical(Line line) const { return moved(line, frame_of); }

    // The program's line behind a line of memory.
    Line program_line(Line line) const { return moved(line, page_of); }

  private:
    static constexpr int kFrameBits = 25;  // of the 128 GiB that addresses reach
    static constexpr int kShift = kFrameBits / 2;
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << kFrameBits) - 1;
    // Odd; one draw that crowds the L2's sets as chance does on average (page_map_test).
    static constexpr std::array<std::uint64_t, 3> kFactors{0x1AF68E1, 0x1E84F73, 0x1AF68E1};

    // The same line of the page that `to` makes of its own.
    Line moved(Line line, std::uint64_t (*to)(std::uint64_t)) const {
        if (!scattered_) {
            return line;
        }
        const auto number = static_cast<std::uint64_t>(line);
        return static_cast<Line>(to(number / kLinesPerPage) * kLinesPerPage +
                                 number % kLinesPerPage);
    }

    // Odd factors and shifts to the right permute the numbers of so many bits.
    static std::uint64_t frame_of(std::uint64_t page) {
        for (const std::uint64_t factor : kFactors) {
            page = page * factor & kMask;
            page ^= page >> kShift;
        }
        return page;
    }
    static constexpr std::array<std::uint64_t, 3> kInverses{inverse_of(kFactors[0], kFrameBits),
                                                            inverse_of(kFactors[1], kFrameBits),
                                                            inverse_of(kFactors[2], kFrameBits)};
    static std::uint64_t page_of(std::uint64_t frame) {
        for (std::size_t i = kFactors.size(); i-- > 0;) {
            frame ^= frame >> kShift ^ frame >> 2 * kShift;
            frame = frame * kInverses[i] & kMask;
        }
        return frame;
    }

    bool scattered_;
};

}  // namespace tilesim::arch::amx::caches
