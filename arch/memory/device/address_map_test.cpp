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

// Two ranks of two groups of four banks.
TEST(AddressMap, BanksOfARankLieBehindThoseOfTheRanksBefore) {
    MemoryConfig config;
    config.bank_hash = false;
    config.ranks = 2;
    config.bank_groups = 2;
    config.mapping = {{AddressField::Column, 6},  {AddressField::BankGroup, 1},
                      {AddressField::Bank, 2},    {AddressField::Rank, 1},
                      {AddressField::Channel, 2}, {AddressField::Row, 16}};
    const AddressMap map(config);
    EXPECT_EQ(map.locate(0b0'11'1'000000).bank(), (0 * 2 + 1) * 4 + 3);
    EXPECT_EQ(map.locate(0b1'11'0'000000).bank(), (1 * 2 + 0) * 4 + 3);
    EXPECT_EQ(map.locate(0b1'01'1'000000).bank(), (1 * 2 + 1) * 4 + 1);
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

MemoryConfig with_all_rows_hashed() {
    MemoryConfig config;
    config.bank_hash_rows = HashedRows::All;
    return config;
}

TEST(AddressMap, AHashOfAllRowBitsDealsThemToBankBitsAndThenToGroupBitsInTurn) {
    const MemoryConfig config = with_all_rows_hashed();
    const AddressMap map(config);
    const std::int64_t bursts_a_row = config.row / config.burst * config.banks() * config.channels;
    // Of a channel: group * banks of a group + bank, so bank bits are the lower ones.
    for (int bit = 0; std::int64_t{1} << bit < config.rows; ++bit) {
        const Location at = map.locate(bursts_a_row << bit);
        EXPECT_EQ(at.bank(), std::size_t{1} << (bit % 5)) << bit;
        EXPECT_EQ(at.row(), std::int64_t{1} << bit);
    }
    // Rows 0, 5 and 10 of one bank's bit: the third brings back what two cancelled.
    EXPECT_EQ(map.locate(bursts_a_row * 0b100001).bank(), 0);
    EXPECT_EQ(map.locate(bursts_a_row * 0b10000100001).bank(), 1);
}

TEST(AddressMap, WithAllRowBitsHashedStridesOfRowsMeetEveryBankAlike) {
    const MemoryConfig config = with_all_rows_hashed();
    const AddressMap map(config);
    const std::int64_t bursts_a_row = config.row / config.burst * config.banks() * config.channels;
    // 512 KiB to 1 GiB: with the lowest ones alone those of 16 MiB and more meet one bank.
    for (std::int64_t rows = 1; rows * config.banks() <= config.rows; rows *= 2) {
        std::vector<int> met(static_cast<std::size_t>(config.banks()));
        for (std::int64_t i = 0; i * rows < config.rows; ++i) {
            ++met[map.locate(i * rows * bursts_a_row).bank()];
        }
        EXPECT_EQ(std::ranges::min(met), std::ranges::max(met)) << rows;
    }
}

TEST(AddressMap, EveryBurstOfASmallDeviceHasAPlaceOfItsOwnWithEachHash) {
    for (const HashedRows rows : {HashedRows::Lowest, HashedRows::All}) {
        for (const bool channel_hash : {false, true}) {
            MemoryConfig config;
            config.bank_hash_rows = rows;
            config.channel_hash = channel_hash;
            config.channels = 2;
            config.rows = 128;
            config.row = base::Bytes{512};
            config.mapping = {{AddressField::BankGroup, 1}, {AddressField::Column, 1},
                              {AddressField::Channel, 1},   {AddressField::BankGroup, 2},
                              {AddressField::Column, 2},    {AddressField::Bank, 2},
                              {AddressField::Row, 7}};
            const AddressMap map(config);
            const std::int64_t bursts = config.capacity() / config.burst;
            std::set<Location> places;
            for (std::int64_t burst = 0; burst < bursts; ++burst) {
                places.insert(map.locate(burst));
            }
            EXPECT_EQ(static_cast<std::int64_t>(places.size()), bursts) << channel_hash;
        }
    }
}

TEST(AddressMap, TheChannelHashAddsTheBitsAboveTheChannelToItInTurn) {
    MemoryConfig config;
    config.bank_hash = false;
    const AddressMap plain(config);
    config.channel_hash = true;
    const AddressMap hashed(config);
    constexpr int kLowest = 2;  // of the two channel bits of a burst's number
    constexpr int kAbove = kLowest + 2;
    for (int bit = 0; bit < 27; ++bit) {
        const std::int64_t burst = std::int64_t{1} << bit;
        const std::size_t expected =
            plain.locate(burst).channel() ^
            (bit < kAbove ? std::size_t{0} : std::size_t{1} << ((bit - kAbove) % 2));
        EXPECT_EQ(hashed.locate(burst).channel(), expected) << bit;
        EXPECT_EQ(hashed.locate(burst).bank(), plain.locate(burst).bank());
        EXPECT_EQ(hashed.locate(burst).row(), plain.locate(burst).row());
        EXPECT_EQ(hashed.locate(burst).column(), plain.locate(burst).column());
    }
}

// A channel bit at either end of the columns: the upper one names its channel as it is, and the
// bits above it go on where those below it ended.
TEST(AddressMap, TheChannelHashDoesNotFoldTheChannelsOwnBits) {
    MemoryConfig config;
    config.bank_hash = false;
    config.channel_hash = true;
    config.mapping = {{AddressField::Channel, 1}, {AddressField::Column, 6},
                      {AddressField::Channel, 1}, {AddressField::BankGroup, 3},
                      {AddressField::Bank, 2},    {AddressField::Row, 16}};
    const AddressMap map(config);
    for (int bit = 1; bit < 7; ++bit) {
        EXPECT_EQ(map.locate(1 << bit).channel(), std::size_t{1} << ((bit - 1) % 2)) << bit;
    }
    EXPECT_EQ(map.locate(1 << 7).channel(), 2U);
    EXPECT_EQ(map.locate(1 << 8).channel(), 1U);
    EXPECT_EQ(map.locate(1 << 9).channel(), 2U);
}

TEST(AddressMap, WithTheChannelHashStridesOfARowsBytesMeetEveryChannelAlike) {
    MemoryConfig config;
    config.channel_hash = true;
    const AddressMap map(config);
    // 512 B to 32 KiB of 64 B: without the hash they meet half of the channels, or one.
    for (std::int64_t stride = 8; stride <= 512; stride *= 2) {
        std::vector<int> met(static_cast<std::size_t>(config.channels));
        for (std::int64_t i = 0; i < 1024; ++i) {
            ++met[map.locate(i * stride).channel()];
        }
        EXPECT_EQ(std::ranges::min(met), std::ranges::max(met)) << stride;
    }
}

TEST(AddressMap, EveryBurstHasAPlaceOfItsOwnWithTheChannelHashToo) {
    MemoryConfig config;
    config.channel_hash = true;
    const AddressMap map(config);
    constexpr std::int64_t kBursts = 1 << 16;
    std::set<Location> places;
    for (std::int64_t burst = 0; burst < kBursts; ++burst) {
        places.insert(map.locate(burst));
    }
    EXPECT_EQ(static_cast<std::int64_t>(places.size()), kBursts);
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

TEST(Location, FurtherColumnsLieInTheSameRow) {
    const Location here(3, 5, 77, 11);
    EXPECT_EQ(here.plus(6), Location(3, 5, 77, 17));
    EXPECT_EQ(here.plus(0), here);
}

}  // namespace
}  // namespace tilesim::arch::memory::device
