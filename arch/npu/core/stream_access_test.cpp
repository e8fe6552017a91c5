#include "arch/npu/core/stream_access.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using base::Cycles;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kTile;
using ::testing::Pair;
using testing::spent;

constexpr std::int64_t kWords = 13;
constexpr std::int64_t kLatency = 5;
constexpr std::int64_t kFit = 7;    // words the stream holds when nobody takes them
constexpr std::int64_t kLate = 31;  // the other core begins
constexpr program::TileCoordinate kEast{1, 2};

struct End {
    End(program::TileCoordinate tile, const NpuConfig& config, testing::Timeline& time,
        tile::TileMemory* memory)
        : ports(config.core, time.scheduler),
          account(time.scheduler, root),
          timing(config.kernels),
          operands(program, timing, memory),
          core(time),
          states(time),
          access(tile, config, ports, time.scheduler, operands, account, core) {
        account.connect(&states);
    }
    std::int64_t spent_in(CoreState state) const { return spent(account.stats(), state); }
    CorePorts ports;
    base::stats::Group root{""};
    CoreAccount account;
    KernelTiming timing;
    program::CoreProgram program{kTile, {{"sent", {0}}, {"got", {1}}}, {}};
    CoreOperands operands;
    testing::Core core;
    testing::States states;
    StreamAccess access;
};

// The western core's output 0 leads to the eastern one's input 1.
struct Bench {
    explicit Bench(bool functional = false, std::int64_t words_per_cycle = 1)
        : config(config_of(words_per_cycle)),
          streams(time.queue, base::Clock{base::Hertz{1'000'000'000 * words_per_cycle}},
                  words_per_cycle),
          west(kTile, config, time, functional ? &memory : nullptr),
          east(kEast, config, time, functional ? &memory : nullptr),
          flow("stream", streams, west.ports.output(0),
               {{&east.ports.input(1).sink(), Cycles{kLatency * words_per_cycle}, kFit}}, {},
               std::nullopt, false, functional) {
        west.ports.output(0).add_flow(std::nullopt, flow);
    }
    static NpuConfig config_of(std::int64_t words_per_cycle) {
        NpuConfig config = testing::core_config();
        config.core.stream_inputs = 2;
        config.stream.width = base::BytesPerCycle{kWordBytes * words_per_cycle};
        return config;
    }
    NpuConfig config;
    testing::Timeline time;
    CycleScheduler streams;
    program::Program program = testing::with_buffers(
        {{"sent", kTile, 0, 4 * (kWords + 1)}, {"got", kTile, 128, 4 * (kWords + 1)}});
    tile::TileMemory memory{config, program};
    End west;
    End east;
    stream::StreamFlow flow;
};

const program::PutStreamOp kPut{0, kWords, {}};
const program::GetStreamOp kGet{1, kWords, {}};

// A word read in one cycle can be used stream_read_latency after that cycle began.
const std::int64_t kUse = testing::core_config().core.stream_read_latency.count() - 1;

TEST(StreamAccess, APutEndsWithItsLastWordAndAGetWhenItsCanBeUsed) {
    Bench b;
    b.east.access.get(kGet);
    b.west.access.put(kPut);
    b.time.run();
    EXPECT_THAT(b.west.core.done, ElementsAre(kWords));
    EXPECT_THAT(b.east.core.done, ElementsAre(kLatency + kWords + kUse));
    EXPECT_EQ(b.west.spent_in(CoreState::Stream), kWords);
    EXPECT_EQ(b.west.spent_in(CoreState::WaitingForStream), 0);
    EXPECT_EQ(b.east.spent_in(CoreState::Stream), kWords + kUse);
    EXPECT_EQ(b.east.spent_in(CoreState::WaitingForStream), kLatency);
}

TEST(StreamAccess, AGetWaitsForAPutThatComesLate) {
    Bench b;
    b.east.access.get(kGet);
    b.time.at(kLate, [&b] { b.west.access.put(kPut); });
    b.time.run();
    EXPECT_THAT(b.east.core.done, ElementsAre(kLate + kLatency + kWords + kUse));
    EXPECT_EQ(b.east.spent_in(CoreState::WaitingForStream), kLate + kLatency);
    EXPECT_THAT(b.east.states.told, ElementsAre(Pair(0, "stall")));
    EXPECT_THAT(b.west.states.told, IsEmpty());
}

TEST(StreamAccess, APutRunsAheadByWhatTheStreamHolds) {
    Bench b;
    const program::PutStreamOp put{0, kLatency + kFit + 1, {}};
    const program::GetStreamOp get{1, kLatency + kFit + 1, {}};
    b.west.access.put(put);
    b.time.at(kLate, [&] { b.east.access.get(get); });
    b.time.run();
    // What stands before a receiver that has stopped: kFit words. The rest follows as it takes.
    EXPECT_THAT(b.east.core.done, ElementsAre(kLate + kLatency + kFit + 1 + kUse));
    EXPECT_THAT(b.west.core.done, ElementsAre(kLate + kLatency + 1));
    EXPECT_EQ(b.west.spent_in(CoreState::Stream), kLatency + kFit + 1);
    EXPECT_EQ(b.west.spent_in(CoreState::WaitingForStream), kLate - kFit);
    EXPECT_THAT(b.west.states.told, ElementsAre(Pair(kFit, "stall")));
}

TEST(StreamAccess, WordsMoveAsManyACycleAsTheStreamIsWide) {
    Bench b(false, 2);
    b.east.access.get(kGet);
    b.west.access.put(kPut);
    b.time.run();
    EXPECT_THAT(b.west.core.done, ElementsAre((kWords + 1) / 2));
    EXPECT_THAT(b.east.core.done, ElementsAre(kLatency + (kWords + 1) / 2 + kUse));
    EXPECT_EQ(b.east.spent_in(CoreState::WaitingForStream), kLatency);
    EXPECT_EQ(b.west.spent_in(CoreState::WaitingForStream), 0);
}

TEST(StreamAccess, TheStallsOfAWideStreamAreToldInCycles) {
    Bench b(false, 2);
    b.time.at(kLate, [&b] {
        b.east.access.get(kGet);
        b.west.access.put(kPut);
    });
    b.time.run();
    EXPECT_THAT(b.west.states.told, IsEmpty());
    EXPECT_THAT(b.east.states.told, ElementsAre(Pair(kLate, "stall")));
}

TEST(StreamAccess, SaysWhichPortItStandsAtAndForWhat) {
    Bench b;
    EXPECT_FALSE(b.east.access.streaming());
    const program::GetStreamOp one{1, 1, {}};
    b.east.access.get(one);
    EXPECT_EQ(b.east.access.streaming(),
              (program::ChannelId{kEast, program::Direction::S2MM, 1, program::PortKind::Core}));
    EXPECT_EQ(b.east.access.streamed(), "1 word");
    b.west.access.put(kPut);
    EXPECT_EQ(b.west.access.streaming(),
              (program::ChannelId{kTile, program::Direction::MM2S, 0, program::PortKind::Core}));
    EXPECT_EQ(b.west.access.streamed(), "13 words");
    b.time.run();
    EXPECT_FALSE(b.east.access.streaming());
}

TEST(StreamAccess, CarriesTheBytesOfItsOperands) {
    Bench b(true);
    for (std::size_t i = 0; i < 4 * (kWords + 1); ++i) {
        b.memory.buffer(0)[i] = static_cast<std::byte>(i + 1);
        b.memory.buffer(1)[i] = std::byte{0xff};
    }
    const program::PutStreamOp put{0, kWords, 0};
    const program::GetStreamOp get{1, kWords, 1};
    b.west.access.put(put);
    b.east.access.get(get);
    b.time.run();
    for (std::size_t i = 0; i < 4 * (kWords + 1); ++i) {
        EXPECT_EQ(b.memory.buffer(1)[i], i < 4 * kWords ? b.memory.buffer(0)[i] : std::byte{0xff});
    }
}

TEST(StreamAccess, AnOperandTakesItsNextTurnWhenItsWordsHaveMovedWhereTheOperationSaysSo) {
    for (const bool advance : {false, true}) {
        Bench b;
        b.west.program.rotations[0].buffers = {0, 1};
        b.east.program.rotations[1].buffers = {1, 0};
        const program::PutStreamOp put{0, kWords, {.operand = 0, .advance = advance}};
        const program::GetStreamOp get{1, kWords, {.operand = 1, .advance = advance}};
        b.west.access.put(put);
        b.east.access.get(get);
        EXPECT_EQ(b.west.operands.buffer(0), 0);
        EXPECT_EQ(b.east.operands.buffer(1), 1);
        b.time.run();
        EXPECT_EQ(b.west.operands.buffer(0), advance ? 1 : 0);
        EXPECT_EQ(b.east.operands.buffer(1), advance ? 0 : 1);
    }
}

TEST(StreamAccess, WordsWithoutAnOperandAreZeroAndAreDropped) {
    Bench b(true);
    std::ranges::fill(b.memory.buffer(0), std::byte{7});
    std::ranges::fill(b.memory.buffer(1), std::byte{0xff});
    const program::PutStreamOp zeros{0, 2, {}};
    const program::PutStreamOp sevens{0, 1, 0};
    const program::GetStreamOp dropped{1, 1, {}};
    const program::GetStreamOp got{1, 2, 1};
    b.west.access.put(zeros);
    b.east.access.get(dropped);
    b.time.run();
    b.west.access.put(sevens);
    b.east.access.get(got);
    b.time.run();
    EXPECT_EQ(b.memory.buffer(1)[0], std::byte{0});
    EXPECT_EQ(b.memory.buffer(1)[3], std::byte{0});
    EXPECT_EQ(b.memory.buffer(1)[4], std::byte{7});
    EXPECT_EQ(b.memory.buffer(1)[8], std::byte{0xff});
}

}  // namespace
}  // namespace tilesim::arch::npu::core
