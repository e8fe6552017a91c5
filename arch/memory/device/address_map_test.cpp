#include "arch/memory/device/address_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tilesim::arch::memory::device {
namespace {

TEST(AddressMap, FieldsTakeTheirBitsOfTheBurstNumber) {
    MemoryConfig config;
    config.bank_hash = false;
    const AddressMap map(config);
    // From the lowest bit: a bank group bit, a column bit, two channel bits, two bank group bits,
    // five column bits, two bank bits, the row.
    const Location at = map.locate(0b101'10'10011'01'11'0'1);
    EXPECT_EQ(at.column(), 0b100110);
    EXPECT_EQ(at.channel(), 0b11);
    EXPECT_EQ(at.bank(), 0b011'10);  // of the channel: behind those of lower groups
    EXPECT_EQ(at.row(), 0b101);
}

TEST(AddressMap, TheHashSpreadsRowsOfOneBankOverAllOfThem) {
    const MemoryConfig config;
    const AddressMap map(config);
    const std::int64_t bursts_a_row = config.row / config.burst * config.banks() * config.channels;
    std::set<std::size_t> banks;
    for (std::int64_t row = 0; row < config.banks(); ++row) {
        banks.insert(map.locate(row * bursts_a_row).bank());
    }
    EXPECT_EQ(static_cast<std::int64_t>(banks.size()), config.banks());
}

TEST(AddressMap, EveryBurstHasAPlaceOfItsOwnWhateverWasAskedBefore) {
    const AddressMap map(MemoryConfig{});
    constexpr std::int64_t kBursts = 1 << 16;
    std::vector<Location> in_order;
    std::set<Location> places;
    for (std::int64_t burst = 0; burst < kBursts; ++burst) {
        in_order.push_back(map.locate(burst));
        places.insert(in_order.back());
    }
    EXPECT_EQ(static_cast<std::int64_t>(places.size()), kBursts);
    constexpr std::int64_t kStep = 40503;  // odd: meets every burst
    for (std::int64_t i = 0; i < kBursts; ++i) {
        const std::int64_t burst = i * kStep % kBursts;
        EXPECT_EQ(map.locate(burst), in_order[static_cast<std::size_t>(burst)]);
    }
    std::vector<Location> together;
    map.locate(100, kBursts - 1, [&](Location where) { together.push_back(where); });
    EXPECT_TRUE(
        std::equal(together.begin(), together.end(), in_order.begin() + 100, in_order.end()));
}

}  // namespace
}  // namespace tilesim::arch::memory::device
