// A shim's channels between a stream and a memory that answers after a fixed time. A cycle is a
// nanosecond.
#include "arch/npu/dma/shim_mover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "arch/memory/port/backing_store.hpp"
#include "arch/memory/port/stub_memory_testing.hpp"
#include "arch/npu/bench_testing.hpp"

namespace tilesim::arch::npu::dma {
namespace {

using namespace base::literals;
using base::Cycles;
using program::Direction;

constexpr Cycles kStartOfTask{17};
constexpr Cycles kRequest{71};  // way to the memory
constexpr Cycles kMemory{31};
constexpr Cycles kResponse{53};
constexpr Cycles kTranslation{29};
constexpr std::int64_t kBurst = 64;        // bytes
constexpr Cycles kPort{kBurst / 8};        // a burst crosses the AXI port, 8 B a cycle
constexpr Cycles kBurstWords{kBurst / 4};  // and the stream, a word a cycle
constexpr std::int64_t kPage = 4096;
constexpr Cycles kLatency{7};           // of the stream
constexpr std::int64_t kCapacity = 11;  // its FIFOs hold what is on its way: no gap after a stop

struct Source final : stream::StreamSourceClient {
    void on_stream_pushed(std::int64_t, std::int64_t, Cycles) override {}
    void on_stream_sent(Cycles) override {}
    void read_words(std::span<std::uint32_t> into) override {
        for (std::uint32_t& word : into) {
            word = next++;
        }
    }
    std::uint32_t next = 1000;
};
struct Receiver final : stream::StreamSinkClient {
    std::vector<Cycles> received;
    CriticalPath* path = nullptr;
    void on_stream_received(Cycles now) override { received.push_back(now); }
    CriticalPath* critical_path() override { return path; }
};

struct ShimBench : TestBench {
    // `walk`: of a page; `words`: the streams move in a cycle; `interval`: of requests.
    ShimBench(Direction direction, ShimConfig config, base::Femtoseconds walk,
              std::int64_t words = 1, base::Femtoseconds interval = {})
        : shim(config),
          streams(queue, base::Clock{base::Hertz{words * 1'000'000'000}}, words),
          fabric({.request_latency = 71_ns,
                  .response_latency = 53_ns,
                  .request_interval = interval,
                  .link_width = base::BytesPerCycle{1024},
                  .link_clock = base::Hertz{1'000'000'000'000},
                  .line = base::Bytes{1024},
                  .page = base::Bytes{kPage},
                  .page_walk = walk},
                 1, base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{8}, memory, queue),
          channel({{0, 0}, direction, 0}, {kStartOfTask, 1_cyc, 0_cyc, 4, words}, scheduler, locks,
                  table, group, [](const program::ChannelId&, Cycles) {}) {}

    void write_descriptor(std::int64_t id, std::int64_t bytes, std::int64_t offset = 0) {
        program::BufferDescriptor descriptor;
        descriptor.id = id;
        descriptor.length = bytes / 4;
        descriptor.offset = offset;
        table.write(descriptor);
    }
    void push_at(Cycles cycle, program::Task task = {}) {
        at(cycle, [this, task] { channel.push(task); });
    }
    ShimContext context(memory::port::BackingStore* store = nullptr) {
        return {shim, scheduler, streams, fabric, 0, buffers, store};
    }
    // When a request reaches the memory.
    static Cycles arrival(const memory::port::MemoryRequest& request) {
        return base::Clock{base::Hertz{1'000'000'000}}.first_cycle_from(request.arrival);
    }

    ShimConfig shim;
    CycleScheduler streams;
    memory::port::StubMemory memory{queue, 31_ns};
    fabric::Fabric fabric;
    std::vector<program::ExternalBuffer> buffers{{"buffer", 0, 1 << 20}};
    tile::LockUnit locks{{}};
    DescriptorTable table{16};
    base::stats::Group group{"tile"};
    DmaChannel channel;
};

ShimConfig config_with(std::int64_t outstanding, std::int64_t fifo = 1 << 20) {
    return {.burst = base::Bytes{kBurst},
            .outstanding_bursts = outstanding,
            .outstanding_writes = outstanding,
            .data_fifo = base::Bytes{fifo}};
}

// --- reads ---------------------------------------------------------------------------------------

struct ReaderBench : ShimBench {
    explicit ReaderBench(ShimConfig config, std::int64_t capacity = kCapacity,
                         std::int64_t words = 1, base::Femtoseconds interval = {})
        : ShimBench(Direction::MM2S, config, 29_ns, words, interval),
          reader(new ShimReader(channel, context())),
          flow("flow", streams, *reader, {{&sink, kLatency * words, capacity, 0}}, {}, {}, false,
               false) {
        channel.set_mover(std::unique_ptr<Mover>(reader));
        reader->flows().add({}, flow);
    }
    void take(std::int64_t bytes) {
        at(0_cyc, [this, bytes] { sink.begin(bytes / 4, 0_cyc); });
    }

    Receiver receiver;
    stream::StreamSink sink{scheduler, receiver};
    ShimReader* reader;
    stream::StreamFlow flow;
};

// When the answer of the first burst, which pays for its page, has crossed the port.
constexpr Cycles kFirstAnswer =
    kStartOfTask + kTranslation + kRequest + kMemory + kResponse + kPort;

// Of bursts that come one after the other all is reading but for the last one's words; of those
// that wait for room in the FIFO the stream's.
TEST(ShimReader, WhatItWaitsForIsOnItsPath) {
    constexpr std::int64_t kBursts = 5;
    const auto path = [](ShimConfig config) {
        ReaderBench bench(config);
        bench.write_descriptor(0, kBursts * kBurst);
        bench.take(kBursts * kBurst);
        bench.push_at(0_cyc);
        bench.run();
        return bench.channel.path();
    };
    const CriticalPath one_by_one = path(config_with(1));
    EXPECT_EQ(one_by_one.spent(PathPart::Fetching), kStartOfTask.count());
    EXPECT_EQ(one_by_one.spent(PathPart::Reading),
              (kTranslation + (kRequest + kMemory + kResponse + kPort) * kBursts).count());
    EXPECT_EQ(one_by_one.spent(PathPart::Stream), kBurstWords.count());
    const CriticalPath all = path(config_with(kBursts));
    EXPECT_EQ(all.spent(PathPart::Reading), (kFirstAnswer - kStartOfTask).count());
    EXPECT_EQ(all.spent(PathPart::Stream), kBursts * kBurstWords.count());
}

// It made the stream wait, but not the reads: each set out as the one before had been answered.
TEST(ShimReader, AReceiverThatBeganLateDelaysNoReads) {
    constexpr std::int64_t kBursts = 3;
    constexpr Cycles kLate = kFirstAnswer + kBurstWords + 5_cyc;
    ReaderBench bench(config_with(1));
    CriticalPath receiver;
    receiver.charge(PathPart::Multiply, kLate);
    bench.receiver.path = &receiver;
    bench.write_descriptor(0, kBursts * kBurst);
    bench.at(kLate, [&] { bench.sink.begin(kBursts * kBurst / 4, kLate); });
    bench.push_at(0_cyc);
    bench.run_until(kLate + 1_cyc);
    EXPECT_EQ(bench.channel.path().spent(PathPart::Multiply), kLate.count());
    bench.run();
    EXPECT_EQ(bench.channel.path().spent(PathPart::Multiply), 0);
    EXPECT_EQ(bench.channel.path().spent(PathPart::Reading),
              (kTranslation + (kRequest + kMemory + kResponse + kPort) * kBursts).count());
}

TEST(ShimReader, TheFirstRequestLeavesAtTheTasksStart) {
    ReaderBench bench(config_with(3));
    bench.write_descriptor(0, kBurst);
    bench.push_at(5_cyc);
    bench.run();
    ASSERT_EQ(bench.memory.reads.size(), 1U);
    EXPECT_EQ(ShimBench::arrival(bench.memory.reads[0]),
              5_cyc + kStartOfTask + kTranslation + kRequest);
}

TEST(ShimReader, KeepsNoMoreReadsUnderWayThanItMay) {
    for (const std::int64_t most : {1, 3, 5}) {
        ReaderBench bench(config_with(most));
        bench.memory.answers = false;
        bench.write_descriptor(0, 11 * kBurst);
        bench.push_at(0_cyc);
        bench.run();
        EXPECT_EQ(std::ssize(bench.memory.reads), most);
    }
}

// Apart from the picoseconds one takes on the link.
TEST(ShimReader, ModifiableReadsGoTogetherOthersAnIntervalApart) {
    for (const bool modifiable : {false, true}) {
        ShimConfig config = config_with(3);
        config.modifiable = modifiable;
        ReaderBench bench(config, kCapacity, 1, 997_ns);
        bench.write_descriptor(0, 2 * kBurst);
        bench.push_at(0_cyc);
        bench.run();
        const auto& reads = bench.memory.reads;
        ASSERT_EQ(reads.size(), 2U);
        const Cycles apart = ShimBench::arrival(reads[1]) - ShimBench::arrival(reads[0]);
        EXPECT_EQ(apart, modifiable ? 0_cyc : 997_cyc - kTranslation);
    }
}

TEST(ShimReader, AnAnswerThatHasCrossedThePortLetsTheNextReadGo) {
    ReaderBench bench(config_with(1));
    bench.write_descriptor(0, 2 * kBurst);
    bench.push_at(0_cyc);
    bench.take(2 * kBurst);
    bench.run();
    ASSERT_EQ(bench.memory.reads.size(), 2U);
    EXPECT_EQ(ShimBench::arrival(bench.memory.reads[1]), kFirstAnswer + kRequest);
}

TEST(ShimReader, ReadsNoMoreThanItsDataFifoHolds) {
    const auto reads_with = [](std::int64_t fifo) {
        ReaderBench bench(config_with(7, fifo), 0);  // nobody takes a word
        bench.write_descriptor(0, 11 * kBurst);
        bench.push_at(0_cyc);
        bench.run();
        return bench.memory.reads.size();
    };
    EXPECT_EQ(reads_with(3 * kBurst - 1), 2U);
    EXPECT_EQ(reads_with(3 * kBurst), 3U);
}

TEST(ShimReader, ABurstGoesOnceSoManyWordsHaveLeftTheDataFifo) {
    ReaderBench bench(config_with(7, kBurst));
    bench.write_descriptor(0, 2 * kBurst);
    bench.push_at(0_cyc);
    bench.take(2 * kBurst);
    bench.run();
    ASSERT_EQ(bench.memory.reads.size(), 2U);
    EXPECT_EQ(ShimBench::arrival(bench.memory.reads[1]), kFirstAnswer + kBurstWords + kRequest);
}

// Six pieces of half a burst leave without a gap, the first by cycle 1009 + 8, and no more.
TEST(ShimReader, EveryBurstGoesWhenThePiecesItNeedsHaveLeftTheDataFifo) {
    constexpr Cycles kLeaves = 1009_cyc;
    constexpr std::int64_t kPiece = kBurst / 2 / 4;  // words
    ReaderBench bench(config_with(7, 3 * kBurst), 0);
    bench.write_descriptor(0, 7 * kBurst);
    bench.push_at(0_cyc);
    bench.at(kLeaves, [&] { bench.reader->on_stream_pushed(6, kPiece, kLeaves + Cycles{kPiece}); });
    bench.run();
    ASSERT_EQ(bench.memory.reads.size(), 6U);
    for (std::int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(ShimBench::arrival(bench.memory.reads[static_cast<std::size_t>(3 + i)]),
                  kLeaves + Cycles{2 * kPiece} * (i + 1) + kRequest);
    }
}

TEST(ShimReader, ABurstWaitsForPiecesThatLeaveAtDifferentTimes) {
    constexpr std::int64_t kPiece = kBurst / 2 / 4;  // words
    ReaderBench bench(config_with(7, kBurst), 0);
    bench.write_descriptor(0, 2 * kBurst);
    bench.push_at(0_cyc);
    for (const Cycles leaves : {1009_cyc, 1201_cyc}) {
        bench.at(leaves, [&, leaves] {
            bench.reader->on_stream_pushed(1, kPiece, leaves + Cycles{kPiece});
        });
    }
    bench.run();
    ASSERT_EQ(bench.memory.reads.size(), 2U);
    EXPECT_EQ(ShimBench::arrival(bench.memory.reads[1]), 1201_cyc + Cycles{kPiece} + kRequest);
}

// Seven bursts, three at a time: each three wait for the three before them, whose answers cross the
// port in half the cycles that their words take to leave.
TEST(ShimReader, AnswersAreThoseOfTheirReads) {
    ReaderBench bench(config_with(3));
    bench.write_descriptor(0, 7 * kBurst);
    bench.push_at(0_cyc);
    bench.take(7 * kBurst);
    bench.run();
    const Cycles again = kRequest + kMemory + kResponse + kPort;
    EXPECT_EQ(bench.channel.last_progress(), kFirstAnswer + again * 2 + kBurstWords);
    EXPECT_EQ(std::ssize(bench.receiver.received), 1);
}

TEST(ShimReader, AnswersAreUsedInOrderAndTheirWordsFollowWithoutAGap) {
    constexpr Cycles kLater = 1009_cyc;
    ReaderBench bench(config_with(3));
    bench.write_descriptor(0, kBurst, kPage);               // its page is known from then on
    bench.write_descriptor(1, 2 * kBurst, kPage - kBurst);  // and the second is answered first
    bench.push_at(0_cyc);
    bench.push_at(kLater, {.descriptor = 1});
    bench.take(3 * kBurst);
    bench.run();
    EXPECT_EQ(bench.channel.last_progress(), kLater + kFirstAnswer + kBurstWords * 2);
    EXPECT_EQ(bench.receiver.received.at(0), kLater + kFirstAnswer + kBurstWords * 2 + kLatency);
    // An answer out of turn brings no word, and ends no wait.
    EXPECT_EQ(bench.reader->memory_wait(), kFirstAnswer - kStartOfTask);
}

TEST(ShimReader, AStreamOfTwoWordsACycleTakesHalfTheCyclesAndOneMoreForAnOddWord) {
    const auto end_of = [](std::int64_t bytes) {
        ReaderBench bench(config_with(3), kCapacity, 2);
        bench.write_descriptor(0, bytes);
        bench.push_at(0_cyc);
        bench.take(bytes);
        bench.run();
        return bench.channel.last_progress();
    };
    // The answer of a shorter burst crosses the port sooner.
    const auto port = [](std::int64_t bytes) {
        return base::transfer_time(base::Bytes{bytes}, base::BytesPerCycle{8});
    };
    const Cycles answer = kFirstAnswer - kPort;
    EXPECT_EQ(end_of(kBurst / 2), answer + port(kBurst / 2) + Cycles{kBurst / 16});
    EXPECT_EQ(end_of(kBurst / 2 - 4), answer + port(kBurst / 2 - 4) + Cycles{kBurst / 16});
    EXPECT_EQ(end_of(kBurst / 2 - 8), answer + port(kBurst / 2 - 8) + Cycles{kBurst / 16 - 1});
}

// The others cross the port faster than their words leave.
TEST(ShimReader, TheCyclesUntilTheFirstAnswerAreAWaitForMemory) {
    ReaderBench bench(config_with(3));
    bench.write_descriptor(0, 3 * kBurst);
    bench.push_at(0_cyc);
    bench.take(3 * kBurst);
    bench.run();
    EXPECT_EQ(bench.reader->memory_wait(), kFirstAnswer - kStartOfTask);
}

// The second answer comes while the receiver's FIFO is full.
TEST(ShimReader, AnAnswerThatItsStreamHasNoRoomForIsNotWaitedFor) {
    ReaderBench bench(config_with(1));
    bench.write_descriptor(0, 2 * kBurst);
    bench.push_at(0_cyc);
    bench.at(1009_cyc, [&] { bench.sink.begin(2 * kBurst / 4, 1009_cyc); });
    bench.run();
    EXPECT_EQ(bench.memory.reads.size(), 2U);
    EXPECT_EQ(bench.reader->memory_wait(), kFirstAnswer - kStartOfTask);
}

// Each's words leave without a gap, in whole pieces; the next one is asked for as they begin to.
TEST(ShimReader, ALongAnswerIsWaitedForFromTheEndOfTheWordsBeforeIt) {
    constexpr std::int64_t kLong = 1024;
    constexpr std::int64_t kPiece = kLong / 64;  // words between the ends
    ShimConfig config = config_with(1);
    config.burst = base::Bytes{kLong};
    ReaderBench bench(config, kPiece - kLatency.count());
    bench.write_descriptor(0, 3 * kLong);
    bench.push_at(0_cyc);
    bench.take(3 * kLong);
    bench.run();
    const Cycles trip = kRequest + kMemory + kResponse + Cycles{kLong / 8};
    EXPECT_EQ(bench.reader->memory_wait(), kTranslation + trip + (trip - Cycles{kLong / 4}) * 2);
}

TEST(ShimReader, ADescriptorMayAskForShorterBursts) {
    ReaderBench bench(config_with(7));
    program::BufferDescriptor descriptor;
    descriptor.length = 2 * kBurst / 4;
    descriptor.burst_bytes = kBurst / 2;
    bench.table.write(descriptor);
    bench.push_at(0_cyc);
    bench.run();
    EXPECT_EQ(bench.memory.reads.size(), 4U);
}

// --- writes --------------------------------------------------------------------------------------

struct WriterBench : ShimBench {
    explicit WriterBench(ShimConfig config, std::optional<std::uint32_t> kept_header = {},
                         base::Femtoseconds interval = {},
                         memory::port::BackingStore* store = nullptr)
        : ShimBench(Direction::S2MM, config, 0_ns, 1, interval),
          writer(new ShimWriter(channel, context(store))),
          flow("flow", scheduler, source, {{&writer->sink(), kLatency, kCapacity, 0}}, {},
               kept_header, kept_header.has_value(), store != nullptr) {
        channel.set_mover(std::unique_ptr<Mover>(writer));
    }
    // The words begin to leave their source as the task starts.
    void send(std::int64_t bytes, std::int64_t descriptor = 0) {
        at(kStartOfTask, [this, bytes, descriptor] {
            flow.begin(bytes / 4, bytes / 4, kStartOfTask, {.descriptor = descriptor});
        });
    }

    Source source;
    ShimWriter* writer;
    stream::StreamFlow flow;
};

constexpr Cycles kFirstBurst = kStartOfTask + kLatency + kBurstWords;  // has been received
constexpr Cycles kFirstWritten = kFirstBurst + kPort + kRequest + kMemory;

// The way to memory of every burst that the next one waits for, and of the last.
TEST(ShimWriter, WhatItWaitsForIsOnItsPath) {
    constexpr std::int64_t kBursts = 5;
    const auto path = [](std::int64_t outstanding) {
        WriterBench bench(config_with(outstanding));
        bench.write_descriptor(0, kBursts * kBurst);
        bench.send(kBursts * kBurst);
        bench.push_at(0_cyc);
        bench.run();
        EXPECT_EQ(bench.channel.path().total(), bench.channel.last_progress().count());
        return bench.channel.path();
    };
    const CriticalPath one = path(1);
    const CriticalPath two = path(2);  // the first, the third and the fifth, which it follows
    const CriticalPath all = path(kBursts);
    EXPECT_EQ(two.spent(PathPart::WritingMemory), (kPort + kRequest + kMemory).count() * 3);
    EXPECT_EQ(one.spent(PathPart::WritingMemory), (kPort + kRequest + kMemory).count() * kBursts);
    EXPECT_EQ(all.spent(PathPart::WritingMemory), (kPort + kRequest + kMemory).count());
}

TEST(ShimWriter, ABurstGoesWhenItsLastWordHasArrivedAndTheNextIsReceivedWithoutABubble) {
    WriterBench bench(config_with(7));
    bench.write_descriptor(0, 2 * kBurst, 3 * kBurst);
    bench.push_at(0_cyc);
    bench.send(2 * kBurst);
    bench.run();
    ASSERT_EQ(bench.memory.writes.size(), 2U);
    EXPECT_EQ(bench.memory.writes[1].address, 4 * kBurst);
    const Cycles way = kPort + kRequest;
    EXPECT_EQ(ShimBench::arrival(bench.memory.writes[0]), kFirstBurst + way);
    EXPECT_EQ(ShimBench::arrival(bench.memory.writes[1]), kFirstBurst + kBurstWords + way);
}

TEST(ShimWriter, ATaskEndsWhenTheMemoryHasTakenItsLastWrite) {
    WriterBench bench(config_with(7));
    bench.write_descriptor(0, kBurst);
    bench.push_at(0_cyc);
    bench.send(kBurst);
    bench.run();
    EXPECT_EQ(bench.channel.last_progress(), kFirstWritten);
}

// By then the first write has been taken, and no other is under way.
TEST(ShimWriter, ATaskWhoseLastWordsComeLateEndsWhenTheyAreWritten) {
    constexpr Cycles kLater = 1009_cyc;
    WriterBench bench(config_with(7));
    bench.write_descriptor(0, 2 * kBurst);
    bench.push_at(0_cyc);
    bench.at(kStartOfTask, [&] { bench.flow.begin(2 * kBurst / 4, kBurst / 4, kStartOfTask, {}); });
    bench.at(kLater, [&] { bench.flow.supply(kBurst / 4, kLater); });
    bench.run();
    EXPECT_EQ(bench.channel.first_end(), kFirstWritten - kStartOfTask + kLater);
}

TEST(ShimWriter, ATaskEndsAtAnEdgeOfTheArraysClock) {
    WriterBench bench(config_with(7));
    bench.memory.latency = base::Femtoseconds{30'400'000};  // kMemory is the edge after it
    bench.write_descriptor(0, kBurst);
    bench.push_at(0_cyc);
    bench.send(kBurst);
    bench.run();
    EXPECT_EQ(bench.channel.last_progress(), kFirstWritten);
}

TEST(ShimWriter, KeepsNoMoreWritesUnderWayThanItMay) {
    for (const std::int64_t most : {1, 2, 5}) {
        WriterBench bench(config_with(most));
        bench.memory.answers = false;
        bench.write_descriptor(0, 11 * kBurst);
        bench.push_at(0_cyc);
        bench.send(11 * kBurst);
        bench.run();
        EXPECT_EQ(std::ssize(bench.memory.writes), most);
        EXPECT_FALSE(bench.writer->sink().waiting());  // it takes no word it could not send
    }
}

TEST(ShimWriter, ModifiableWritesGoAsTheirWordsComeOthersAnIntervalApart) {
    for (const bool modifiable : {false, true}) {
        ShimConfig config = config_with(3);
        config.modifiable = modifiable;
        WriterBench bench(config, {}, 997_ns);
        bench.write_descriptor(0, 2 * kBurst);
        bench.push_at(0_cyc);
        bench.send(2 * kBurst);
        bench.run();
        const auto& writes = bench.memory.writes;
        ASSERT_EQ(writes.size(), 2U);
        EXPECT_EQ(ShimBench::arrival(writes[1]) - ShimBench::arrival(writes[0]),
                  modifiable ? kBurstWords : 997_cyc);
    }
}

TEST(ShimWriter, AWriteThatIsTakenLetsItTakeWordsAgain) {
    WriterBench bench(config_with(1));
    bench.write_descriptor(0, 2 * kBurst);
    bench.push_at(0_cyc);
    bench.send(2 * kBurst);
    bench.run();
    ASSERT_EQ(bench.memory.writes.size(), 2U);
    EXPECT_EQ(ShimBench::arrival(bench.memory.writes[1]),
              kFirstWritten + kBurstWords + kPort + kRequest);
    EXPECT_EQ(bench.writer->memory_wait(), kFirstWritten - kFirstBurst);
}

TEST(ShimWriter, ATasksWaitIsItsOwn) {
    WriterBench bench(config_with(1));
    bench.write_descriptor(0, 2 * kBurst);
    bench.write_descriptor(1, kBurst);
    bench.push_at(0_cyc);
    bench.send(2 * kBurst);
    bench.push_at(1009_cyc, {.descriptor = 1});
    bench.at(1009_cyc + kStartOfTask, [&] {
        bench.flow.begin(kBurst / 4, kBurst / 4, 1009_cyc + kStartOfTask, {.descriptor = 1});
    });
    bench.run();
    EXPECT_EQ(std::ssize(bench.memory.writes), 3);
    EXPECT_EQ(bench.writer->memory_wait(), 0_cyc);
}

// The first write is taken while the eighth burst arrives: a burst every 16 cycles all the same.
TEST(ShimWriter, AWriteThatIsTakenWhileABurstArrivesChangesNothing) {
    WriterBench bench(config_with(20));
    bench.write_descriptor(0, 11 * kBurst);
    bench.push_at(0_cyc);
    bench.send(11 * kBurst);
    bench.run();
    static_assert(kFirstWritten < kFirstBurst + kBurstWords * 10);
    EXPECT_EQ(std::ssize(bench.memory.writes), 11);
    EXPECT_EQ(bench.channel.last_progress(), kFirstWritten + kBurstWords * 10);
    EXPECT_EQ(bench.writer->memory_wait(), 0_cyc);
}

TEST(ShimWriter, AnOutOfOrderPacketsHeaderIsTakenWithItsFirstBurst) {
    WriterBench bench(config_with(7), 29);
    bench.write_descriptor(3, 2 * kBurst);
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 1, .out_of_order = true});
    bench.send(2 * kBurst, 3);
    bench.run();
    ASSERT_EQ(bench.memory.writes.size(), 2U);
    const Cycles way = kPort + kRequest;
    EXPECT_EQ(ShimBench::arrival(bench.memory.writes[0]), kFirstBurst + 1_cyc + way);
    EXPECT_EQ(ShimBench::arrival(bench.memory.writes[1]), kFirstBurst + 1_cyc + kBurstWords + way);
    EXPECT_TRUE(bench.channel.idle());
}

// The header takes no place in memory, and the second burst has none.
TEST(ShimWriter, AnOutOfOrderPacketsHeaderIsNotWritten) {
    memory::port::BackingStore store;
    WriterBench bench(config_with(7), 29, {}, &store);
    bench.write_descriptor(3, 2 * kBurst, 4 * kBurst);
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 1, .out_of_order = true});
    bench.send(2 * kBurst, 3);
    bench.run();
    std::array<std::uint32_t, 2 * kBurst / 4 + 2> words{};
    store.read(4 * kBurst - 4, std::as_writable_bytes(std::span{words}));
    EXPECT_EQ(words.front(), 0U);
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
        EXPECT_EQ(words.at(i + 1), 1000 + i);
    }
    EXPECT_EQ(words.back(), 0U);
}

}  // namespace
}  // namespace tilesim::arch::npu::dma
