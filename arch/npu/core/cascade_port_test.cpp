#include "arch/npu/core/cascade_port.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using ::testing::ElementsAre;
using testing::kTile;
using testing::spent;

constexpr std::int64_t kWidth = 8;  // bytes
constexpr std::int64_t kReadLatency = 17;
constexpr std::int64_t kFifos = 2 * 3;  // words, of both ends
constexpr std::int64_t kWire = 1;       // a word put in one cycle can be got in the next
constexpr program::TileCoordinate kEast{1, 2};

// A core and its end of the cascade.
struct End {
    End(const NpuConfig& config, testing::Timeline& time, tile::TileMemory* memory)
        : account(time.scheduler, root),
          timing(config.kernels),
          operands(program, timing, memory),
          core(time),
          port(config.cascade, time.scheduler, operands, account, core) {}
    std::int64_t spent_in(CoreState state) const { return spent(account.stats(), state); }
    base::stats::Group root{""};
    CoreAccount account;
    KernelTiming timing;
    program::CoreProgram program{kTile, {{"west", {0}}, {"east", {1}}}, {}};
    CoreOperands operands;
    testing::Core core;
    CascadePort port;
};

struct Bench {
    explicit Bench(bool functional = false)
        : west(config, time, functional ? &memory : nullptr),
          east(config, time, functional ? &memory : nullptr) {
        west.port.connect(nullptr, &link);
        east.port.connect(&link, nullptr);
    }
    NpuConfig config = testing::core_config();
    testing::Timeline time;
    program::Program program =
        testing::with_buffers({{"sent", kTile, 0, 3 * kWidth}, {"got", kTile, 64, 3 * kWidth}});
    tile::TileMemory memory{config, program};
    program::Cascade cascade{"cascade", kTile, kEast};
    CascadeLink link{cascade, config.cascade, time.scheduler};
    End west;
    End east;
};

TEST(CascadePort, APutEndsWithItsLastWordAndAGetAReadLatencyAfterItsLastReadBegan) {
    constexpr std::int64_t kWords = 5;
    Bench b;
    const program::PutCascadeOp put{kWords, {}};
    const program::GetCascadeOp get{kWords, {}};
    b.east.port.get(get);
    b.west.port.put(put);
    EXPECT_EQ(b.west.port.putting(), &put);
    EXPECT_EQ(b.east.port.getting(), &get);
    b.time.run();
    EXPECT_THAT(b.west.core.done, ElementsAre(kWords));
    // The last word is put in cycle 4, got in cycle 5, used from cycle 5 + 17 on.
    EXPECT_THAT(b.east.core.done, ElementsAre(kWords - 1 + kWire + kReadLatency));
    EXPECT_EQ(b.west.port.putting(), nullptr);
    EXPECT_EQ(b.east.port.getting(), nullptr);
}

TEST(CascadePort, WhatTheOtherCoreIsLateIsTimeWaited) {
    constexpr std::int64_t kWords = 5;
    constexpr std::int64_t kLate = 23;
    Bench b;
    const program::GetCascadeOp get{kWords, {}};
    const program::PutCascadeOp put{kWords, {}};
    b.east.port.get(get);
    b.time.at(kLate, [&] { b.west.port.put(put); });
    b.time.run();
    const std::int64_t end = kLate + kWords - 1 + kWire + kReadLatency;
    EXPECT_THAT(b.east.core.done, ElementsAre(end));
    b.east.account.finish(base::Cycles{end});
    EXPECT_EQ(b.east.spent_in(CoreState::WaitingForCascade), kLate + kWire);
    EXPECT_EQ(b.east.spent_in(CoreState::Cascade), kWords + kReadLatency - 1);
    EXPECT_EQ(b.west.spent_in(CoreState::WaitingForCascade), 0);
}

TEST(CascadePort, APutWaitsWhenBothFifosAreFull) {
    constexpr std::int64_t kLate = 23;
    Bench b;
    const program::PutCascadeOp put{kFifos + 1, {}};
    const program::GetCascadeOp get{kFifos + 1, {}};
    b.west.port.put(put);
    b.time.at(kLate, [&] { b.east.port.get(get); });
    b.time.run();
    // The last word takes the place of the first, which leaves in cycle 23.
    EXPECT_THAT(b.west.core.done, ElementsAre(kLate + 1));
    EXPECT_EQ(b.west.spent_in(CoreState::Cascade), kFifos + 1);
    EXPECT_EQ(b.west.spent_in(CoreState::WaitingForCascade), kLate + 1 - (kFifos + 1));
}

TEST(CascadePort, CarriesTheBytesOfItsOperands) {
    Bench b(true);
    for (std::size_t i = 0; i < 3 * kWidth; ++i) {
        b.memory.buffer(0)[i] = static_cast<std::byte>(i + 1);
        b.memory.buffer(1)[i] = std::byte{0xff};
    }
    const program::PutCascadeOp put{2, 0};
    const program::GetCascadeOp get{2, 1};
    b.west.port.put(put);
    b.east.port.get(get);
    b.time.run();
    for (std::size_t i = 0; i < 3 * kWidth; ++i) {
        EXPECT_EQ(b.memory.buffer(1)[i], i < 2 * kWidth ? b.memory.buffer(0)[i] : std::byte{0xff});
    }
}

TEST(CascadePort, AnOperandTakesItsNextTurnWhenItsWordsHaveMovedWhereTheOperationSaysSo) {
    for (const bool advance : {false, true}) {
        Bench b;
        b.west.program.rotations[0].buffers = {0, 1};
        b.east.program.rotations[1].buffers = {1, 0};
        const program::PutCascadeOp put{2, {.operand = 0, .advance = advance}};
        const program::GetCascadeOp get{2, {.operand = 1, .advance = advance}};
        b.west.port.put(put);
        b.east.port.get(get);
        EXPECT_EQ(b.west.operands.buffer(0), 0);
        EXPECT_EQ(b.east.operands.buffer(1), 1);
        b.time.run();
        EXPECT_EQ(b.west.operands.buffer(0), advance ? 1 : 0);
        EXPECT_EQ(b.east.operands.buffer(1), advance ? 0 : 1);
    }
}

TEST(CascadePort, AWordIsAsWideAsTheCascade) {
    // Two words of a buffer of three, then one of another content: nothing of the third between.
    Bench b(true);
    const auto pass = [&b](std::int64_t words, std::byte content) {
        std::ranges::fill(b.memory.buffer(0), content);
        const program::PutCascadeOp put{words, 0};
        const program::GetCascadeOp get{words, 1};
        b.west.port.put(put);
        b.east.port.get(get);
        b.time.run();
    };
    pass(2, std::byte{3});
    pass(1, std::byte{5});
    EXPECT_EQ(b.memory.buffer(1)[kWidth - 1], std::byte{5});
    EXPECT_EQ(b.memory.buffer(1)[kWidth], std::byte{3});
    EXPECT_EQ(b.memory.buffer(1)[2 * kWidth], std::byte{0});
}

TEST(CascadePort, WordsWithoutAnOperandAreZeroAndAreDropped) {
    Bench b(true);
    b.memory.buffer(1)[0] = std::byte{0xff};
    const program::PutCascadeOp put{2, {}};
    const program::GetCascadeOp dropped{1, {}};
    const program::GetCascadeOp got{1, 1};
    b.west.port.put(put);
    b.east.port.get(dropped);
    b.time.run();
    b.east.port.get(got);
    b.time.run();
    EXPECT_EQ(b.memory.buffer(1)[0], std::byte{0});
}

}  // namespace
}  // namespace tilesim::arch::npu::core
