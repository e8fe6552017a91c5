// Rules of the channel itself: a stub moves the words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/npu/dma/dma_channel_testing.hpp"
#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::dma {
namespace {

using namespace testing;
using ::testing::ElementsAre;

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

// A lock that came late has delayed words, as its way to the stream has.
TEST(DmaChannel, ItsPathIsTheFetchThenTheStreams) {
    SendingChannel bench;
    bench.write(0, {}, program::LockAction{0, -1});
    bench.push_at(0_cyc, {});
    bench.at(83_cyc, [&] { bench.locks.release({0, 1}, 83_cyc); });
    bench.run();
    const Cycles end = 83_cyc + kGrantToStream + kMoved;
    EXPECT_EQ(bench.channel.path().spent(PathPart::Fetching), kTaskStart.count());
    EXPECT_EQ(bench.channel.path().spent(PathPart::Stream), (end - kTaskStart).count());
}

TEST(DmaChannel, AnIdleChannelGoesOnWithThePathOfWhoPushes) {
    SendingChannel bench;
    bench.write(0);
    CriticalPath first;
    first.charge(PathPart::Writing, 5_cyc);
    CriticalPath second;
    second.charge(PathPart::Copying, 7_cyc);
    bench.at(5_cyc, [&] { bench.channel.push({}, &first); });
    bench.at(7_cyc, [&] { bench.channel.push({}, &second); });  // waits for the first
    bench.run();
    EXPECT_EQ(bench.channel.path().spent(PathPart::Writing), 5);
    EXPECT_EQ(bench.channel.path().spent(PathPart::Copying), 0);
    EXPECT_EQ(bench.channel.path().spent(PathPart::Fetching), (kTaskStart * 2).count());
    EXPECT_EQ(bench.channel.path().spent(PathPart::Stream), (kMoved * 2).count());
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

// Two descriptors, one after the other.
void send_two(SendingChannel& bench) {
    bench.write(0, 1);
    bench.write(1);
    bench.push_at(0_cyc, {});
    bench.run();
}

// No word passes in them, as if the stream had none.
TEST(DmaChannel, TheCyclesBetweenDescriptorsAreAWaitForTheStream) {
    SendingChannel bench;
    send_two(bench);
    EXPECT_EQ(bench.spent(ChannelState::Streaming), (kMoved * 2).count());
    EXPECT_EQ(bench.spent(ChannelState::WaitingForStream), kBubble.count());
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
    send_two(bench);
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
    descriptor.offset = 64;
    descriptor.acquire = program::LockAction{0, -1};
    descriptor.release = program::LockAction{1, 1};
    descriptor.alternate =
        program::Alternate{7, 192, program::LockAction{1, -2}, program::LockAction{0, 4}};
    bench.table.write(descriptor);
    bench.locks.release({0, 2}, 0_cyc);
    bench.push_at(0_cyc, {.descriptor = 0, .repeat = 3});
    bench.at(101_cyc, [&] { bench.locks.release({1, 1}, 101_cyc); });
    bench.run();
    EXPECT_THAT(bench.mover->buffers, ElementsAre(5, 7, 5));
    EXPECT_THAT(bench.mover->offsets, ElementsAre(64, 192, 64));
    EXPECT_EQ(bench.locks.value(0), 2 - 1 + 4 - 1);
    EXPECT_EQ(bench.locks.value(1), 1 + 1 - 2 + 1);
    EXPECT_EQ(bench.mover->begun[1], 101_cyc + kGrantToStream);
    EXPECT_EQ(bench.mover->begun[2], 101_cyc + kGrantToStream + kMoved + kBubble);
}

// Words of a stream that is wider than one may end between two edges of the channel's clock.
TEST(DmaChannel, WhatEndsBetweenTwoEdgesIsOverAtTheLater) {
    ReceivingChannel bench;
    bench.mover->early = base::Femtoseconds{1};
    bench.write(0);
    bench.push_at(0_cyc, {});
    bench.push_at(0_cyc, {});
    bench.run();
    EXPECT_THAT(bench.mover->begun, ElementsAre(kTaskStart, kTaskStart + kMoved + kTaskStart));
    EXPECT_EQ(bench.channel.last_progress(), kTaskStart + kMoved + kTaskStart + kMoved);
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

// The mover's wait may have begun before the transfer.
TEST(DmaChannel, NoMoreIsChargedToMemoryThanTheTransferHasWaited) {
    ReceivingChannel bench;
    bench.mover->late = 13_cyc;
    bench.mover->for_memory = 19_cyc;
    bench.write(0);
    bench.push_at(0_cyc, {});
    bench.run();
    EXPECT_EQ(bench.spent(ChannelState::Streaming), kWords);
    EXPECT_EQ(bench.spent(ChannelState::WaitingForMemory), 13);
    EXPECT_EQ(bench.spent(ChannelState::WaitingForStream), 0);
}

TEST(DmaChannel, AWiderStreamIsBusyForFewerCyclesAndWaitsTheRest) {
    ReceivingChannel bench(2);
    bench.mover->for_memory = 5_cyc;
    bench.write(0);
    bench.push_at(0_cyc, {});
    bench.run();  // a word a cycle
    const std::int64_t busy = (kWords + 1) / 2;
    EXPECT_EQ(bench.spent(ChannelState::Streaming), busy);
    EXPECT_EQ(bench.spent(ChannelState::WaitingForMemory), 5);
    EXPECT_EQ(bench.spent(ChannelState::WaitingForStream), kWords - busy - 5);
}

}  // namespace
}  // namespace tilesim::arch::npu::dma
