// Rules of the channel itself: a stub moves the words.
#include "arch/npu/dma/dma_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/npu/bench_testing.hpp"
#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::dma {
namespace {

using namespace base::literals;
using base::Cycles;
using program::Direction;
using program::Task;
using testing::ElementsAre;

constexpr Cycles kTaskStart{17};
constexpr Cycles kBubble{3};
constexpr Cycles kGrantToStream{11};
constexpr std::int64_t kQueueDepth = 2;
constexpr std::int64_t kWords = 29;
constexpr Cycles kMoved{kWords};  // a word a cycle

// Moves a word a cycle and notes when each descriptor's words begin.
class StubMover final : public Mover, public base::EventHandler {
  public:
    StubMover(DmaChannel& channel, CycleScheduler& scheduler)
        : channel_(channel), scheduler_(scheduler) {}

    std::vector<Cycles> begun;
    std::vector<std::int64_t> descriptors, iterations, buffers;
    std::int64_t packets_awaited = 0;
    Cycles late{0};        // every transfer takes so much longer than a word a cycle
    Cycles for_memory{0};  // of which it waits for memory

    void begin(const DescriptorTable::Entry& entry, Cycles from) override {
        begun.push_back(from);
        descriptors.push_back(entry.descriptor.id);
        iterations.push_back(entry.iteration);
        buffers.push_back(entry.descriptor.buffer);
        scheduler_.at(from + Cycles{entry.stream_words} + late, *this);
    }
    void await_packet() override { ++packets_awaited; }
    Cycles memory_wait() const override { return for_memory; }
    void on_event(std::uint64_t, base::Femtoseconds) override {
        channel_.finish_transfer(scheduler_.now());
    }

  private:
    DmaChannel& channel_;
    CycleScheduler& scheduler_;
};

struct Waiter final : tile::LockClient {
    std::vector<Cycles> granted;
    void on_lock_granted(Cycles when) override { granted.push_back(when); }
};

struct ChannelBench : TestBench {
    explicit ChannelBench(Direction direction) : channel(make(direction)) {
        auto stub = std::make_unique<StubMover>(channel, scheduler);
        mover = stub.get();
        channel.set_mover(std::move(stub));
    }
    DmaChannel make(Direction direction) {
        return {{{0, 1}, direction, 0},
                {kTaskStart, kBubble, kGrantToStream, kQueueDepth},
                scheduler,
                locks,
                table,
                group,
                [this](const program::ChannelId&, Cycles when) { tokens.push_back(when); }};
    }
    void write(std::int64_t id, std::optional<std::int64_t> next = {},
               std::optional<program::LockAction> acquire = {},
               std::optional<program::LockAction> release = {}) {
        program::BufferDescriptor descriptor;
        descriptor.id = id;
        descriptor.length = kWords;
        descriptor.next = next;
        descriptor.acquire = acquire;
        descriptor.release = release;
        table.write(descriptor);
    }
    void push_at(Cycles cycle, Task task) {
        at(cycle, [this, task] { channel.push(task); });
    }
    std::int64_t spent(ChannelState state) const {
        return group.children()[0]->accounts()[0]->spent(static_cast<std::size_t>(state));
    }

    tile::LockUnit locks{{{"first", {0, 1}, 0, 0}, {"second", {0, 1}, 1, 0}}};
    DescriptorTable table{16};
    base::stats::Group group{"tile"};
    std::vector<Cycles> tokens;
    DmaChannel channel;
    StubMover* mover = nullptr;
};

struct SendingChannel : ChannelBench {
    SendingChannel() : ChannelBench(Direction::MM2S) {}
};
struct ReceivingChannel : ChannelBench {
    ReceivingChannel() : ChannelBench(Direction::S2MM) {}
};

// --- tasks ---------------------------------------------------------------------------------------

TEST(DmaChannel, WordsBeginTheTaskStartAfterThePush) {
    SendingChannel bench;
    bench.write(0);
    bench.push_at(5_cyc, {});
    bench.run();
    EXPECT_THAT(bench.mover->begun, ElementsAre(5_cyc + kTaskStart));
}

TEST(DmaChannel, AQueuedTaskStartsWhenTheOneBeforeHasEnded) {
    SendingChannel bench;
    bench.write(0);
    bench.push_at(5_cyc, {});
    bench.push_at(7_cyc, {});
    bench.run();
    const Cycles end = 5_cyc + kTaskStart + kMoved;
    EXPECT_THAT(bench.mover->begun, ElementsAre(5_cyc + kTaskStart, end + kTaskStart));
}

TEST(DmaChannel, AResetDropsQueueAndTaskAndAWaitForALock) {
    SendingChannel bench;
    bench.write(0, {}, program::LockAction{0, -1});
    bench.write(1);
    bench.push_at(5_cyc, {.descriptor = 0});
    bench.push_at(6_cyc, {.descriptor = 0});
    bench.at(53_cyc, [&] { bench.channel.reset(); });
    bench.push_at(61_cyc, {.descriptor = 1});
    bench.at(83_cyc, [&] { bench.locks.release({0, 1}, 83_cyc); });
    bench.run();
    EXPECT_THAT(bench.mover->descriptors, ElementsAre(1));
    EXPECT_THAT(bench.mover->begun, ElementsAre(61_cyc + kTaskStart));
    EXPECT_EQ(bench.locks.value(0), 1);  // nobody has taken it
}

TEST(DmaChannel, AResetWhileATaskIsFetchedLetsNothingBegin) {
    SendingChannel bench;
    bench.write(0);
    bench.push_at(5_cyc, {});
    bench.at(5_cyc + kTaskStart - 1_cyc, [&] { bench.channel.reset(); });
    bench.run();
    EXPECT_TRUE(bench.mover->begun.empty());
    EXPECT_TRUE(bench.channel.idle());
}

TEST(DmaChannel, WordsUnderWayAtAResetMoveAndReleaseNothing) {
    SendingChannel bench;
    bench.write(0, 1, {}, program::LockAction{1, 1});
    bench.write(1);
    bench.push_at(5_cyc, {.descriptor = 0, .token = true});
    const Cycles begin = 5_cyc + kTaskStart;
    bench.at(begin + 1_cyc, [&] { bench.channel.reset(); });
    bench.push_at(begin + 2_cyc, {.descriptor = 1});
    bench.run();
    EXPECT_EQ(bench.locks.value(1), 0);
    EXPECT_TRUE(bench.tokens.empty());
    EXPECT_THAT(bench.mover->begun, ElementsAre(begin, begin + kMoved + kTaskStart));
}

// Waiting for a lock it is idle at once, with words under way when they have moved.
TEST(DmaChannel, AResetThatLeavesItIdleSaysSo) {
    const auto idle_after_reset = [](bool waits) {
        SendingChannel bench;
        bench.write(0, {}, waits ? std::optional{program::LockAction{0, -1}} : std::nullopt);
        std::vector<Cycles> idle;
        bench.channel.on_idle = [&](const program::ChannelId&) { idle.push_back(bench.now()); };
        bench.push_at(0_cyc, {});
        bench.at(kTaskStart + 5_cyc, [&] { bench.channel.reset(); });
        bench.run();
        EXPECT_TRUE(bench.channel.idle());
        return idle;
    };
    EXPECT_THAT(idle_after_reset(true), ElementsAre(kTaskStart + 5_cyc));
    EXPECT_THAT(idle_after_reset(false), ElementsAre(kTaskStart + kMoved));
}

TEST(DmaChannel, APushToAFullQueueIsDropped) {
    const auto dropped_of = [](std::int64_t pushes) {
        SendingChannel bench;
        bench.write(0);
        for (std::int64_t i = 0; i < pushes; ++i) {
            bench.push_at(5_cyc, {.descriptor = 0, .repeat = i + 1});
        }
        bench.run();
        EXPECT_EQ(bench.channel.dropped().has_value(), pushes > 1 + kQueueDepth);
        EXPECT_EQ(bench.channel.most_queued(), kQueueDepth);
        return bench.channel.dropped_pushes();
    };
    EXPECT_EQ(dropped_of(1 + kQueueDepth), 0);  // one runs, the others queue
    EXPECT_EQ(dropped_of(1 + kQueueDepth + 1), 1);
}

TEST(DmaChannel, ARepeatedTaskRunsItsChainAgainWithoutANewStart) {
    SendingChannel bench;
    bench.write(2, 3);
    bench.write(3);
    bench.push_at(0_cyc, {.descriptor = 2, .repeat = 3});
    bench.run();
    EXPECT_THAT(bench.mover->descriptors, ElementsAre(2, 3, 2, 3, 2, 3));
    EXPECT_EQ(bench.channel.first_end(), kTaskStart + kMoved);
    EXPECT_EQ(bench.mover->begun.back(), kTaskStart + (kMoved + kBubble) * 5);
    EXPECT_TRUE(bench.channel.idle());
}

TEST(DmaChannel, ATokenIsSentOnceAtTheEndOfTheLastRun) {
    SendingChannel bench;
    bench.write(0);
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 2, .token = true});
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 1, .token = false});
    bench.run();
    EXPECT_THAT(bench.tokens, ElementsAre(kTaskStart + kMoved * 2 + kBubble));
}

TEST(DmaChannel, IsIdleWhenItsLastTaskHasEndedAndSaysSoOnce) {
    SendingChannel bench;
    bench.write(0);
    std::vector<Cycles> idle;
    bench.channel.on_idle = [&](const program::ChannelId&) { idle.push_back(bench.now()); };
    bench.push_at(0_cyc, {});
    bench.push_at(1_cyc, {});
    bench.run();
    EXPECT_THAT(idle, ElementsAre((kTaskStart + kMoved) * 2));
}

TEST(DmaChannel, ATaskReadsItsDescriptorWhenItStartsNotWhenItIsPushed) {
    SendingChannel bench;
    bench.write(0);
    bench.push_at(0_cyc, {});
    bench.at(kTaskStart - 1_cyc, [&] { bench.write(0, 5); });
    bench.write(5);
    bench.run();
    EXPECT_THAT(bench.mover->descriptors, ElementsAre(0, 5));
}

TEST(DmaChannel, ADescriptorNobodyHasWrittenIsAFaultOfTheProgram) {
    SendingChannel starts;
    starts.push_at(0_cyc, {});
    EXPECT_THROW(starts.run(), program::ProgramFault);
    SendingChannel chains;
    chains.write(0, 7);
    chains.push_at(0_cyc, {});
    EXPECT_THROW(chains.run(), program::ProgramFault);
}

// --- boundaries between descriptors --------------------------------------------------------------

TEST(DmaChannel, AReceiverIsNotReadyForTheBubbleAtEveryDescriptorBoundary) {
    ReceivingChannel bench;
    bench.write(0, 1);
    bench.write(1);
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 2});
    bench.run();
    const Cycles each = kMoved + kBubble;
    EXPECT_THAT(bench.mover->begun, ElementsAre(kTaskStart, kTaskStart + each,
                                                kTaskStart + each * 2, kTaskStart + each * 3));
}

// mlir-aie's hardware traces test1 and test2: a core's sending port pauses for a cycle at each of
// its descriptors, while the shim's receiver has one descriptor for all of them.
TEST(DmaChannel, ASenderPausesForTheBubbleAtEveryDescriptorBoundary) {
    SendingChannel bench;
    bench.write(0, 1);
    bench.write(1);
    bench.push_at(0_cyc, {});
    bench.run();
    EXPECT_THAT(bench.mover->begun, ElementsAre(kTaskStart, kTaskStart + kMoved + kBubble));
}

// --- locks ---------------------------------------------------------------------------------------

TEST(DmaChannel, ALockThatIsThereCostsNothing) {
    SendingChannel bench;
    bench.locks.release({0, 1}, 0_cyc);
    bench.write(0, {}, program::LockAction{0, -1});
    bench.push_at(0_cyc, {});
    bench.run();
    EXPECT_THAT(bench.mover->begun, ElementsAre(kTaskStart));
    EXPECT_EQ(bench.locks.value(0), 0);
}

TEST(DmaChannel, WordsBeginTheGrantToStreamAfterALockThatWasWaitedFor) {
    for (const Direction direction : {Direction::MM2S, Direction::S2MM}) {
        ChannelBench bench(direction);
        bench.write(0, {}, program::LockAction{0, -1});
        bench.push_at(0_cyc, {});
        bench.at(101_cyc, [&] { bench.locks.release({0, 1}, 101_cyc); });
        bench.run();
        EXPECT_THAT(bench.mover->begun, ElementsAre(101_cyc + kGrantToStream));
    }
}

TEST(DmaChannel, TheBubblePassesWhileALockIsWaitedFor) {
    ReceivingChannel bench;
    bench.write(0, 1);
    bench.write(1, {}, program::LockAction{0, -1});
    bench.push_at(0_cyc, {});
    bench.at(101_cyc, [&] { bench.locks.release({0, 1}, 101_cyc); });
    bench.run();
    EXPECT_THAT(bench.mover->begun, ElementsAre(kTaskStart, 101_cyc + kGrantToStream));
}

TEST(DmaChannel, ALockIsReleasedWithTheLastWord) {
    SendingChannel bench;
    bench.write(0, {}, {}, program::LockAction{1, 1});
    Waiter waiter;
    bench.at(0_cyc, [&] { bench.locks.acquire({1, -1}, waiter); });
    bench.push_at(0_cyc, {});
    bench.run();
    EXPECT_THAT(waiter.granted, ElementsAre(kTaskStart + kMoved));
}

// --- what a descriptor remembers -----------------------------------------------------------------

TEST(DmaChannel, TheIterationAdvancesWithEveryExecutionAndStartsAgain) {
    SendingChannel bench;
    program::BufferDescriptor descriptor;
    descriptor.length = kWords;
    descriptor.iteration = program::Iteration{3, 7, 1};
    bench.table.write(descriptor);
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 4});
    bench.push_at(1_cyc, {});
    bench.run();
    EXPECT_THAT(bench.mover->iterations, ElementsAre(1, 2, 0, 1, 2));
}

TEST(DmaChannel, EverySecondExecutionUsesTheOtherBufferAndItsLocks) {
    SendingChannel bench;
    program::BufferDescriptor descriptor;
    descriptor.length = kWords;
    descriptor.buffer = 5;
    descriptor.acquire = program::LockAction{0, -1};
    descriptor.alternate = program::Alternate{7, 0, program::LockAction{1, -1}, {}};
    bench.table.write(descriptor);
    bench.locks.release({0, 2}, 0_cyc);
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 3});
    bench.at(101_cyc, [&] { bench.locks.release({1, 1}, 101_cyc); });
    bench.run();
    EXPECT_THAT(bench.mover->buffers, ElementsAre(5, 7, 5));
    EXPECT_EQ(bench.mover->begun[1], 101_cyc + kGrantToStream);
    EXPECT_EQ(bench.mover->begun[2], 101_cyc + kGrantToStream + kMoved + kBubble);
}

// --- packets out of order ------------------------------------------------------------------------

struct OutOfOrder : ReceivingChannel {
    OutOfOrder() {
        write(3, 5);  // the chain behind it does not count
        write(7);
        push_at(0_cyc, {.descriptor = 0, .repeat = 2, .token = true, .out_of_order = true});
    }
    void packet_at(Cycles cycle, std::int64_t descriptor) {
        at(cycle, [this, descriptor] { channel.on_packet(descriptor); });
    }
};

TEST(DmaChannel, OutOfOrderEachPacketsHeaderNamesItsDescriptor) {
    OutOfOrder bench;
    bench.packet_at(41_cyc, 7);
    bench.packet_at(97_cyc, 3);
    bench.run();
    EXPECT_THAT(bench.mover->descriptors, ElementsAre(7, 3));
    EXPECT_THAT(bench.mover->begun, ElementsAre(41_cyc, 97_cyc));
}

TEST(DmaChannel, OutOfOrderATaskTakesSoManyPackets) {
    OutOfOrder bench;
    bench.packet_at(41_cyc, 7);
    bench.packet_at(97_cyc, 3);
    bench.run_until(kTaskStart - 1_cyc);
    EXPECT_EQ(bench.mover->packets_awaited, 0);
    bench.run_until(kTaskStart);
    EXPECT_EQ(bench.mover->packets_awaited, 1);
    EXPECT_TRUE(bench.channel.out_of_order());
    bench.run();
    EXPECT_EQ(bench.mover->packets_awaited, 2);
    EXPECT_THAT(bench.tokens, ElementsAre(97_cyc + kMoved));
}

TEST(DmaChannel, OutOfOrderADescriptorNobodyHasWrittenIsAFaultOfTheProgram) {
    OutOfOrder bench;
    bench.packet_at(41_cyc, 6);
    EXPECT_THROW(bench.run(), program::ProgramFault);
}

TEST(DmaChannel, OutOfOrderAResetWhileATaskIsFetchedLetsNothingBegin) {
    OutOfOrder bench;
    bench.at(kTaskStart - 1_cyc, [&] { bench.channel.reset(); });
    bench.run();
    EXPECT_EQ(bench.mover->packets_awaited, 0);
    EXPECT_TRUE(bench.channel.idle());
}

// The port has been promised the next packet: it takes that one, and the task ends with it.
TEST(DmaChannel, OutOfOrderAResetTakesEffectBehindTheNextPacket) {
    OutOfOrder bench;
    bench.at(kTaskStart + 1_cyc, [&] { bench.channel.reset(); });
    bench.packet_at(41_cyc, 7);
    bench.run();
    EXPECT_THAT(bench.mover->begun, ElementsAre(41_cyc));
    EXPECT_EQ(bench.mover->packets_awaited, 1);
    EXPECT_TRUE(bench.tokens.empty());
    EXPECT_TRUE(bench.channel.idle());
}

// --- statistics ----------------------------------------------------------------------------------

TEST(DmaChannel, EveryCycleIsChargedToWhatTheChannelWaitsFor) {
    ReceivingChannel bench;
    bench.mover->late = 13_cyc;
    bench.mover->for_memory = 5_cyc;
    bench.write(0, {}, program::LockAction{0, -1});
    bench.push_at(7_cyc, {});
    bench.at(101_cyc, [&] { bench.locks.release({0, 1}, 101_cyc); });
    bench.run();
    const Cycles begin = 101_cyc + kGrantToStream;
    const Cycles end = begin + kMoved + 13_cyc;
    bench.channel.finish_statistics(end + 19_cyc);
    EXPECT_EQ(bench.spent(ChannelState::Idle), 7 + 19);
    EXPECT_EQ(bench.spent(ChannelState::Fetching), kTaskStart.count());
    EXPECT_EQ(bench.spent(ChannelState::WaitingForLock), (begin - 7_cyc - kTaskStart).count());
    EXPECT_EQ(bench.spent(ChannelState::Streaming), kWords);
    EXPECT_EQ(bench.spent(ChannelState::WaitingForMemory), 5);
    EXPECT_EQ(bench.spent(ChannelState::WaitingForStream), 13 - 5);
    EXPECT_EQ(bench.channel.words_done(), kWords);
    EXPECT_EQ(bench.channel.descriptors_done(), 1);
    EXPECT_EQ(bench.channel.last_progress(), end);
}

}  // namespace
}  // namespace tilesim::arch::npu::dma
