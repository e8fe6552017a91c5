#include "arch/npu/core/stream_fed_call.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "arch/npu/core/core_testing.hpp"
#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::core {
namespace {

using base::Cycles;
using ::testing::ElementsAre;
using testing::kTile;
using ::testing::Pair;
using testing::spent;

constexpr std::int64_t kStated = 61;                         // cycles of a call
constexpr std::int64_t kWordsOfC = 8 * 4 * 2 / 4;            // 8 x 4 int16
constexpr std::int64_t kMultiply = kStated - 2 * kWordsOfC;  // 29: C's words come and go
constexpr std::int64_t kLatency = 5;
constexpr std::int64_t kFit = 11;  // words a stream holds when nobody takes them

program::Kernel kernel(std::int64_t k, std::optional<std::int64_t> cycles = kStated) {
    program::Kernel result;
    result.kind = program::KernelKind::Stream;
    result.m = 8;
    result.k = k;
    result.n = 4;
    result.a = result.b = result.c = DataType::Int16;
    result.cycles = cycles;
    return result;
}

// Gives a core's input what it wants, from a cycle on.
struct Source final : stream::StreamSourceClient {
    void on_stream_pushed(std::int64_t, std::int64_t, Cycles) override {}
    void on_stream_sent(Cycles) override {}
    void read_words(std::span<std::uint32_t> into) override {
        std::copy_n(words.begin(), into.size(), into.begin());
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(into.size()));
    }
    std::vector<std::uint32_t> words;
};

// Takes what a core's output gives.
struct Sink final : stream::StreamSinkClient {
    explicit Sink(CycleScheduler& scheduler) : sink(scheduler, *this) {}
    void on_stream_received(Cycles) override {
        sink.take_words([this](std::span<const std::uint32_t> more) {
            words.insert(words.end(), more.begin(), more.end());
        });
    }
    stream::StreamSink sink;
    std::vector<std::uint32_t> words;
};

struct Bench {
    explicit Bench(const program::Kernel& kernel, std::int64_t rate = 0, bool with_bytes = false,
                   std::int64_t words_per_cycle = 1)
        : streams(time.queue, base::Clock{base::Hertz{1'000'000'000 * words_per_cycle}},
                  words_per_cycle) {
        config.core.stream_inputs = 2;
        config.stream.width = base::BytesPerCycle{kWordBytes * words_per_cycle};
        config.kernels.stream_modes = {{}};
        config.kernels.stream_modes[0].fill_drain = Cycles{23};
        program.kernels = {kernel};
        program.external_buffers = {{"A", 0, 4096}};
        program.logic_streams = {{"A", kTile, 0, rate, {{0, a_bytes(kernel), 1}}}};
        memory.emplace(config, program);
        operands.emplace(rotations, timing, with_bytes ? &*memory : nullptr);
        ports.emplace(config.core, time.scheduler);
        call.emplace(program, kTile, config, *ports, time.scheduler, *operands,
                     with_bytes ? &store : nullptr, account, core);
        account.connect(&states);
        c_in.emplace("in", streams, source, branches(ports->input(1).sink()), kNoArbiters,
                     std::nullopt, false, with_bytes);
        c_out.emplace("out", streams, ports->output(0), branches(sink.sink), kNoArbiters,
                      std::nullopt, false, with_bytes);
        ports->output(0).add_flow(std::nullopt, *c_out);
    }
    std::vector<stream::StreamFlow::Branch> branches(stream::StreamSink& to) const {
        return {{&to, streams.ticks(Cycles{kLatency}), kFit}};
    }
    // C's words are sent from one cycle on, and taken from another.
    void run(std::int64_t sent, std::int64_t taken) {
        const std::int64_t words = c_words(program.kernels[0]);
        time.at(sent, [this, words, sent] { c_in->begin(words, words, Cycles{sent}); });
        time.at(taken, [this, words, taken] { sink.sink.begin(words, Cycles{taken}); });
        call->begin(program.kernels[0], op);
        time.run();
    }
    std::int64_t spent_in(CoreState state) const { return spent(account.stats(), state); }

    static inline const std::vector<stream::StreamArbiter*> kNoArbiters{};
    NpuConfig config = testing::core_config();
    program::Program program =
        testing::with_buffers({{"ping", kTile, 0, 1024}, {"pong", kTile, 1024, 1024}});
    program::CoreProgram rotations{kTile, {{"b", {1}}}, {}};
    program::CallOp op{0, {0}, {}};
    testing::Timeline time;
    CycleScheduler streams;
    testing::States states{time};
    base::stats::Group root{""};
    CoreAccount account{time.scheduler, root};
    testing::Core core{time};
    KernelTiming timing{config.kernels};
    memory::port::BackingStore store;
    std::optional<tile::TileMemory> memory;
    std::optional<CoreOperands> operands;
    std::optional<CorePorts> ports;
    std::optional<StreamFedCall> call;
    Source source;
    Sink sink{time.scheduler};
    std::optional<stream::StreamFlow> c_in;
    std::optional<stream::StreamFlow> c_out;
};

TEST(StreamFedCall, MultipliesThenReadsThenWritesC) {
    Bench b(kernel(4));
    b.run(0, 0);
    EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "multiply"), Pair(kMultiply, "c_load"),
                                              Pair(kMultiply + kWordsOfC, "c_store")));
    EXPECT_THAT(b.core.done, ElementsAre(kStated));
    EXPECT_EQ(b.spent_in(CoreState::WaitingForStream), 0);
}

TEST(StreamFedCall, TakesWhatTheTimingModelSaysUnlessItStatesItsCycles) {
    Bench b(kernel(4, std::nullopt));
    b.run(0, 0);
    // 4 steps of k: 4 half accumulators, 1 instruction each (32 products); A's 64 B in 4 reads;
    // the pipeline; of C's 16 words each way the first is hidden.
    EXPECT_THAT(b.core.done, ElementsAre(4 + 23 + 2 * (kWordsOfC - 1)));
}

TEST(StreamFedCall, TakesNoLessThanCTakesOnItsStreams) {
    Bench b(kernel(4, 2 * kWordsOfC - 3));
    b.run(0, 0);
    EXPECT_THAT(b.core.done, ElementsAre(kLatency + 2 * kWordsOfC));
}

TEST(StreamFedCall, StarvesWhenItsAArrivesAfterTheMultiplications) {
    const auto starved = [](std::int64_t k) {
        Bench b(kernel(k), 16);  // a step of k is 8 x 2 B of A: a cycle
        b.run(0, 0);
        EXPECT_THAT(b.core.done, ElementsAre(std::max(k, kMultiply) + 2 * kWordsOfC));
        return b.spent_in(CoreState::WaitingForStream);
    };
    EXPECT_EQ(starved(kMultiply), 0);
    EXPECT_EQ(starved(kMultiply + 1), 1);
    EXPECT_EQ(starved(kMultiply + 18), 18);
}

TEST(StreamFedCall, WaitsForCThatComesLate) {
    constexpr std::int64_t kSent = 101;
    Bench b(kernel(4));
    b.run(kSent, 0);
    EXPECT_THAT(b.core.done, ElementsAre(kSent + kLatency + 2 * kWordsOfC));
    EXPECT_EQ(b.spent_in(CoreState::ReadingC), kWordsOfC);
    EXPECT_EQ(b.spent_in(CoreState::WaitingForStream), kSent + kLatency - kMultiply);
}

TEST(StreamFedCall, WaitsUntilCIsTaken) {
    constexpr std::int64_t kTaken = 211;
    Bench b(kernel(4));
    b.run(0, kTaken);
    // What the stream does not hold follows the words taken.
    EXPECT_THAT(b.core.done, ElementsAre(kTaken + kWordsOfC - kFit));
    EXPECT_EQ(b.spent_in(CoreState::WritingC), kWordsOfC);
    EXPECT_EQ(b.spent_in(CoreState::WaitingForStream), kTaken - kFit - (kMultiply + kWordsOfC));
}

TEST(StreamFedCall, GoesOnWithTheCycleAfterTheOneInWhichItsLastWordsMove) {
    constexpr std::int64_t kWide = 3;  // words a cycle
    constexpr std::int64_t kCycles = base::ceil_div(kWordsOfC, kWide);
    // What the stream has not held sets out when the first words are taken.
    constexpr std::int64_t kRead = base::ceil_div(kLatency * kWide + kWordsOfC - kFit, kWide);
    static_assert(kWordsOfC % kWide != 0 && (kWordsOfC - kFit) % kWide != 0);
    Bench b(kernel(4), 0, false, kWide);
    b.run(0, 0);
    constexpr std::int64_t kMultiplied = kStated - 2 * kCycles;
    EXPECT_THAT(b.states.entered, ElementsAre(Pair(0, "multiply"), Pair(kMultiplied, "c_load"),
                                              Pair(kMultiplied + kRead, "c_store")));
    EXPECT_THAT(b.core.done, ElementsAre(kMultiplied + kRead + kCycles));
}

TEST(StreamFedCall, SaysWhichPortItStandsAt) {
    Bench b(kernel(4));
    EXPECT_FALSE(b.call->streaming().has_value());
    b.call->begin(b.program.kernels[0], b.op);
    EXPECT_FALSE(b.call->streaming().has_value());
    b.time.run_to(kMultiply);
    EXPECT_EQ(b.call->streaming(),
              (program::ChannelId{kTile, program::Direction::S2MM, 1, program::PortKind::Core}));
    b.c_in->begin(kWordsOfC, kWordsOfC, Cycles{kMultiply});
    b.time.run();
    EXPECT_EQ(b.call->streaming(),
              (program::ChannelId{kTile, program::Direction::MM2S, 0, program::PortKind::Core}));
}

TEST(StreamFedCall, EachCallReadsAsMuchOfAAsItsBlockHas) {
    Bench b(kernel(4));
    b.run(0, 0);
    EXPECT_THROW(b.run(b.time.now(), b.time.now()), program::ProgramFault);
}

TEST(StreamFedCall, AddsTheProductToTheCThatPasses) {
    Bench b(kernel(2), 0, true);
    std::array<std::int16_t, 8 * 2> a{};  // column by column
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<std::int16_t>(i + 1);
    }
    b.store.write(0, std::as_bytes(std::span{a}));
    const std::array<std::int16_t, 2 * 4> columns{3, 5, 7, 11, 100, 200, 300, 400};  // row by row
    std::copy_n(std::as_bytes(std::span{columns}).begin(), 16, b.memory->buffer(1).begin());
    b.source.words.assign(kWordsOfC, 0x00010002);  // 2 and 1
    b.run(0, 0);
    ASSERT_EQ(b.sink.words.size(), static_cast<std::size_t>(kWordsOfC));
    const auto c = [&b](std::size_t row, std::size_t column) {
        const std::uint32_t word = b.sink.words[(column * 8 + row) / 2];
        return static_cast<std::int16_t>(row % 2 == 0 ? word & 0xffff : word >> 16);
    };
    EXPECT_EQ(c(0, 0), 2 + 1 * 3 + 9 * 100);
    EXPECT_EQ(c(7, 0), 1 + 8 * 3 + 16 * 100);
    EXPECT_EQ(c(2, 3), 2 + 3 * 11 + 11 * 400);
}

}  // namespace
}  // namespace tilesim::arch::npu::core
