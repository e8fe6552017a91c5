#include "arch/base/spread.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

namespace tilesim::arch::base {
namespace {

TEST(Spread, NeighboursAndNumbersAPowerOfTwoApartFillTheirPlaces) {
    constexpr unsigned kBits = 8;
    constexpr std::int64_t kNumbers = 256;
    for (const std::int64_t stride : {1, 64, 4096, 1 << 20}) {
        std::set<std::uint64_t> places;
        for (std::int64_t i = 0; i < kNumbers; ++i) {
            places.insert(spread(i * stride, kBits));
            EXPECT_LT(spread(i * stride, kBits), std::uint64_t{1} << kBits);
        }
        // Numbers drawn by chance fill 162 of 256; masked low bits of a stride of 256, one.
        EXPECT_GE(places.size(), std::size_t{140}) << stride;
    }
}

}  // namespace
}  // namespace tilesim::arch::base
