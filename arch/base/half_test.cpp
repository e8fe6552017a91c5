#include "arch/base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace tilesim::arch::base {
namespace {

TEST(Half, EveryHalfKeepsItsBitsThroughAFloat) {
    for (std::uint32_t bits = 0; bits <= UINT16_MAX; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const float value = from_f16(half);
        if (!std::isnan(value)) {
            EXPECT_EQ(to_f16(value), half);
        }
    }
}

TEST(Half, HalvesAreThoseOfIeee754) {
    EXPECT_EQ(from_f16(0x3C00), 1.0F);
    EXPECT_EQ(from_f16(0xC100), -2.5F);
    EXPECT_EQ(from_f16(0x7BFF), 65504.0F);
    EXPECT_EQ(from_f16(0x0400), std::ldexp(1.0F, -14));
    EXPECT_EQ(from_f16(0x0001), std::ldexp(1.0F, -24));
    EXPECT_EQ(from_f16(0xFC00), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(from_f16(0x7C01)));
    EXPECT_TRUE(std::isnan(from_f16(to_f16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Half, FloatsRoundToTheNearestHalfAndTiesToTheEvenOne) {
    EXPECT_EQ(to_f16(1.0F + std::ldexp(1.0F, -11)), 0x3C00);      // between 0x3C00 and 0x3C01
    EXPECT_EQ(to_f16(1.0F + 3 * std::ldexp(1.0F, -11)), 0x3C02);  // between 0x3C01 and 0x3C02
    EXPECT_EQ(to_f16(1.0F + std::ldexp(1.25F, -11)), 0x3C01);
    EXPECT_EQ(to_f16(2.0F - std::ldexp(1.0F, -11)), 0x4000);  // carries
    EXPECT_EQ(to_f16(std::ldexp(1.0F, -25)), 0x0000);
    EXPECT_EQ(to_f16(std::ldexp(1.5F, -25)), 0x0001);
    EXPECT_EQ(to_f16(-std::ldexp(1.0F, -30)), 0x8000);
    EXPECT_EQ(to_f16(65519.0F), 0x7BFF);
    EXPECT_EQ(to_f16(65520.0F), 0x7C00);
    EXPECT_EQ(to_f16(-std::numeric_limits<float>::max()), 0xFC00);
}

}  // namespace
}  // namespace tilesim::arch::base
