#include "arch/npu/core/logic_stream.hpp"

#include <gmock/gmock.h>

#include <array>

#include "arch/npu/core/core_testing.hpp"
#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::core {
namespace {

using base::Cycles;
using ::testing::ElementsAre;
using testing::kTile;

constexpr std::int64_t kAddress = 4096;

struct Bench {
    Bench() {
        program.external_buffers = {{"unused", 0, 64}, {"A", kAddress, 64}};
        for (std::size_t i = 0; i < 16; ++i) {
            const std::array value{static_cast<std::byte>(i)};
            store.write(kAddress + static_cast<std::int64_t>(i), value);
        }
    }
    LogicStreamPlayer player(std::int64_t rate = 0) {
        stream.bytes_per_cycle = rate;
        return {program, stream};
    }
    // The next bytes, as numbers.
    std::vector<int> play(LogicStreamPlayer& from, std::size_t bytes) {
        std::vector<std::byte> into(bytes);
        from.play(static_cast<std::int64_t>(bytes), &store, into, Cycles{0});
        std::vector<int> values;
        for (const std::byte value : into) {
            values.push_back(static_cast<int>(value));
        }
        return values;
    }
    program::Program program;
    // Bytes 3 and 4 twice, then 7, 8 and 9 once.
    program::LogicStream stream{"A", kTile, 1, 0, {{3, 2, 2}, {7, 3, 1}}};
    memory::port::BackingStore store;
};

TEST(LogicStream, BytesArriveAtTheStreamsRate) {
    Bench b;
    const LogicStreamPlayer player = b.player(7);
    EXPECT_EQ(player.time_of(7 * 5).count(), 5);
    EXPECT_EQ(player.time_of(7 * 5 + 1).count(), 6);
}

TEST(LogicStream, WithoutARateTheyArriveAsFastAsTheCoreReads) {
    Bench b;
    EXPECT_EQ(b.player().time_of(1000).count(), 0);
}

TEST(LogicStream, PlaysItsPassesInOrderAsOftenAsTheySay) {
    Bench b;
    LogicStreamPlayer player = b.player();
    EXPECT_THAT(b.play(player, 3), ElementsAre(3, 4, 3));
    EXPECT_THAT(b.play(player, 3), ElementsAre(4, 7, 8));
    EXPECT_THAT(b.play(player, 1), ElementsAre(9));
}

TEST(LogicStream, ACoreThatReadsOnAfterTheEndIsAFault) {
    Bench b;
    LogicStreamPlayer player = b.player();
    player.play(7, nullptr, {}, Cycles{0});  // timing mode: the bytes only pass
    try {
        player.play(1, nullptr, {}, Cycles{37});
        FAIL();
    } catch (const program::ProgramFault& fault) {
        EXPECT_STREQ(fault.what(), "cycle 37: stream A has ended, its core reads on");
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::core
