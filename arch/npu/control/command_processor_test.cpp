#include "arch/npu/control/command_processor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "arch/npu/bench_testing.hpp"

namespace tilesim::arch::npu::control {
namespace {

using namespace base::literals;
using base::Cycles;
using testing::ElementsAre;
using testing::Pair;

// A cycle is a nanosecond.
constexpr Cycles kDispatch{103};
constexpr Cycles kWrite{7};
constexpr Cycles kDescriptor{13};
constexpr Cycles kSync{5};
constexpr Cycles kCopyStart{41};
constexpr Cycles kCopyWord{3};

const program::ChannelId kChannel{{0, 0}, program::Direction::S2MM, 0};
const program::ChannelId kOther{{0, 0}, program::Direction::S2MM, 1};

// What the processor writes to: notes every write and when it takes effect.
struct StubTarget final : ControlTarget {
    explicit StubTarget(TestBench& on) : bench(on) {}

    void write_descriptor(const program::WriteDescriptor&) override { note("descriptor"); }
    void push_task(const program::PushTask&) override { note("task"); }
    void write_parameter(const program::WriteParameter&) override { note("parameter"); }
    void set_lock(const program::SetLock&) override { note("lock"); }
    void copy(const program::CopyToTile&) override { note("copy"); }
    bool acquire_lock(const program::LockAction&, tile::LockClient& client) override {
        ++acquires;
        waiting = lock_is_there ? nullptr : &client;
        return lock_is_there;
    }
    bool idle(const program::ChannelId&) const override { return channel_is_idle; }
    std::int64_t queued(const program::ChannelId&) const override { return tasks_queued; }
    void reset_channel(const program::ResetChannel&) override { note("channel reset"); }
    void reset_core(const program::ResetCore&) override { note("core reset"); }

    void note(std::string what) {
        writes.emplace_back(std::move(what), bench.now());
        if (path != nullptr) {
            accounted.push_back(path->until());
        }
    }

    TestBench& bench;
    std::vector<std::pair<std::string, Cycles>> writes;
    const CriticalPath* path = nullptr;  // the processor's
    std::vector<Cycles> accounted;       // of it at each write
    bool lock_is_there = true;
    int acquires = 0;
    bool channel_is_idle = true;
    std::int64_t tasks_queued = 0;
    tile::LockClient* waiting = nullptr;
};

struct ProcessorBench : TestBench {
    explicit ProcessorBench(std::vector<program::SequenceOp> sequence) {
        program.sequence = std::move(sequence);
        at(0_cyc, [this] { processor.start(config.dispatch); });
    }
    // When the sequence has ended, counted from the end of the dispatch.
    Cycles run_sequence() {
        run();
        EXPECT_TRUE(processor.done());
        return processor.finished_at() - kDispatch;
    }
    std::int64_t spent(CommandState state) const {
        return group.children()[0]->accounts()[0]->spent(static_cast<std::size_t>(state));
    }

    CommandProcessorConfig config{.write_cycles = kWrite,
                                  .descriptor_cycles = kDescriptor,
                                  .sync_cycles = kSync,
                                  .dispatch = 103_ns,
                                  .copy_start = 41_ns,
                                  .copy_word = 3_ns};
    program::Program program;
    StubTarget target{*this};
    base::stats::Group group{""};
    CommandProcessor processor{config, program, target, scheduler, group};
};

TEST(CommandProcessor, TheFirstOperationBeginsAfterTheDispatch) {
    ProcessorBench bench({program::PushTask{}});
    bench.run();
    EXPECT_THAT(bench.target.writes, ElementsAre(Pair("task", kDispatch + kWrite)));
}

TEST(CommandProcessor, ItsCyclesAreOfItsOwnClockAndTakeEffectAtTheArraysNextEdge) {
    ProcessorBench bench({});
    bench.config.clock = base::Hertz{600'000'000};
    program::Program program;
    program.sequence = {program::PushTask{}, program::WriteDescriptor{}};
    CommandProcessor slow(bench.config, program, bench.target, bench.scheduler, bench.group);
    bench.at(0_cyc, [&] { slow.start(bench.config.dispatch); });
    bench.run();
    // 7 and 13 cycles of 5/3 ns: 11.7 and 21.7 ns, each up to the next edge.
    EXPECT_THAT(bench.target.writes, ElementsAre(Pair("task", kDispatch + 12_cyc),
                                                 Pair("descriptor", kDispatch + 34_cyc)));
}

TEST(CommandProcessor, ADispatchThatEndsBetweenTwoEdgesCostsTheCycleItEndsIn) {
    ProcessorBench bench({program::PushTask{}});
    bench.config.dispatch = 103'001_ps;
    CommandProcessor late(bench.config, bench.program, bench.target, bench.scheduler, bench.group);
    bench.at(0_cyc, [&] { late.start(bench.config.dispatch); });
    bench.run();
    EXPECT_EQ(late.finished_at(), kDispatch + 1_cyc + kWrite);
}

TEST(CommandProcessor, ARegisterWriteAndADescriptorsBlockWriteCostDifferently) {
    ProcessorBench bench({program::WriteDescriptor{}, program::PushTask{},
                          program::WriteParameter{}, program::SetLock{}});
    bench.run();
    const Cycles written = kDispatch + kDescriptor;
    EXPECT_THAT(
        bench.target.writes,
        ElementsAre(Pair("descriptor", written), Pair("task", written + kWrite),
                    Pair("parameter", written + kWrite * 2), Pair("lock", written + kWrite * 3)));
}

TEST(CommandProcessor, WritesOfWhichNothingDependsTakeTheirTimeAll) {
    ProcessorBench bench({program::WriteRegisters{5}, program::PushTask{}});
    bench.run();
    EXPECT_THAT(bench.target.writes, ElementsAre(Pair("task", kDispatch + kWrite * 6)));
}

TEST(CommandProcessor, TakingATokenThatIsThereCostsASync) {
    ProcessorBench bench({program::WaitToken{kChannel}});
    bench.at(11_cyc, [&] { bench.processor.on_token(kChannel); });
    EXPECT_EQ(bench.run_sequence(), kSync);
}

TEST(CommandProcessor, ATokenThatComesLaterIsWaitedForAndThenCostsASync) {
    ProcessorBench bench({program::WaitToken{kChannel}});
    bench.at(kDispatch + 89_cyc, [&] { bench.processor.on_token(kChannel); });
    bench.run_until(kDispatch + 88_cyc);
    EXPECT_EQ(*bench.processor.waiting_for(), kChannel);
    EXPECT_TRUE(bench.processor.waits_for_token());
    EXPECT_EQ(bench.run_sequence(), 89_cyc + kSync);
}

// Whoever it starts goes on with it.
TEST(CommandProcessor, WhatItDoesIsOnItsPathWhenItTakesEffect) {
    ProcessorBench bench({program::CopyToTile{.bytes = 8}, program::PushTask{}});
    bench.target.path = &bench.processor.path();
    bench.run();
    const Cycles copy = kCopyStart + kCopyWord * 2;
    EXPECT_THAT(bench.target.accounted, ElementsAre(kDispatch + copy, kDispatch + copy + kWrite));
    EXPECT_EQ(bench.processor.path().spent(PathPart::Copying), copy.count());
    EXPECT_EQ(bench.processor.path().spent(PathPart::Writing), kWrite.count());
}

// Of a token that was there before it goes on with its own.
TEST(CommandProcessor, BehindATokenItWaitedForItsPathIsTheChannels) {
    CriticalPath channel;
    channel.charge(PathPart::WritingMemory, kDispatch + 89_cyc);
    ProcessorBench bench({program::PushTask{}, program::WaitToken{kChannel}});
    bench.at(kDispatch + 89_cyc, [&] { bench.processor.on_token(kChannel, &channel); });
    bench.run();
    EXPECT_EQ(bench.processor.path().spent(PathPart::WritingMemory), (kDispatch + 89_cyc).count());
    EXPECT_EQ(bench.processor.path().spent(PathPart::Writing), kSync.count());
    EXPECT_EQ(bench.processor.path().until(), bench.processor.finished_at());
    ProcessorBench early({program::PushTask{}, program::WaitToken{kChannel}});
    early.at(11_cyc, [&] { early.processor.on_token(kChannel, &channel); });
    early.run();
    EXPECT_EQ(early.processor.path().spent(PathPart::Dispatch), kDispatch.count());
    EXPECT_EQ(early.processor.path().spent(PathPart::Writing), (kWrite + kSync).count());
    EXPECT_EQ(early.processor.path().spent(PathPart::WritingMemory), 0);
}

TEST(CommandProcessor, TokensAreCountedByChannelAndEachIsTakenOnce) {
    ProcessorBench bench({program::WaitToken{kChannel}, program::WaitToken{kChannel}});
    bench.at(11_cyc, [&] { bench.processor.on_token(kChannel); });
    bench.at(kDispatch + 43_cyc, [&] { bench.processor.on_token(kOther); });
    bench.at(kDispatch + 89_cyc, [&] { bench.processor.on_token(kChannel); });
    EXPECT_EQ(bench.run_sequence(), 89_cyc + kSync);
    ProcessorBench both({program::WaitToken{kChannel}, program::WaitToken{kChannel}});
    both.at(11_cyc, [&] { both.processor.on_token(kChannel); });
    both.at(12_cyc, [&] { both.processor.on_token(kChannel); });
    EXPECT_EQ(both.run_sequence(), kSync * 2);
}

TEST(CommandProcessor, PollingAnIdleChannelCostsASync) {
    ProcessorBench bench({program::WaitIdle{kChannel}});
    EXPECT_EQ(bench.run_sequence(), kSync);
}

TEST(CommandProcessor, ABusyChannelIsPolledUntilItIsIdle) {
    ProcessorBench bench({program::WaitIdle{kChannel}});
    bench.target.channel_is_idle = false;
    bench.at(kDispatch + 43_cyc, [&] { bench.processor.on_status(kOther); });
    bench.at(kDispatch + 89_cyc, [&] {
        bench.target.channel_is_idle = true;
        bench.processor.on_status(kChannel);
    });
    bench.run_until(kDispatch + 88_cyc);
    EXPECT_EQ(*bench.processor.waiting_for(), kChannel);
    EXPECT_FALSE(bench.processor.waits_for_token());
    EXPECT_EQ(bench.run_sequence(), 89_cyc + kSync);
}

TEST(CommandProcessor, AFullQueueIsPolledUntilSoManyAreLeft) {
    ProcessorBench bench({program::WaitIdle{kChannel, 3}});
    bench.target.channel_is_idle = false;
    bench.target.tasks_queued = 5;
    for (const auto when : {43_cyc, 89_cyc}) {
        bench.at(kDispatch + when, [&] {
            --bench.target.tasks_queued;
            bench.processor.on_status(kChannel);
        });
    }
    EXPECT_EQ(bench.run_sequence(), 89_cyc + kSync);
    ProcessorBench there({program::WaitIdle{kChannel, 3}});
    there.target.channel_is_idle = false;
    there.target.tasks_queued = 3;
    EXPECT_EQ(there.run_sequence(), kSync);
}

TEST(CommandProcessor, AnAcquireCostsAWriteOnceTheLockIsThere) {
    const program::AcquireLock acquire{{0, -1}};
    ProcessorBench there({acquire});
    EXPECT_EQ(there.run_sequence(), kWrite);
    ProcessorBench later({acquire});
    later.target.lock_is_there = false;
    later.at(kDispatch + 87_cyc,
             [&] { later.target.waiting->on_lock_granted(kDispatch + 89_cyc); });
    later.run_until(kDispatch + 86_cyc);
    EXPECT_NE(later.processor.waiting_for_lock(), nullptr);
    EXPECT_EQ(later.run_sequence(), 89_cyc + kWrite);
    EXPECT_EQ(later.target.acquires, 1);  // what it has been granted it does not ask for again
}

TEST(CommandProcessor, ACopyCostsItsStartAndEveryWordAndIsThereAtItsEnd) {
    const auto copied_after = [](std::int64_t bytes) {
        program::CopyToTile copy;
        copy.bytes = bytes;
        ProcessorBench bench({copy});
        const Cycles end = bench.run_sequence();
        EXPECT_THAT(bench.target.writes, ElementsAre(Pair("copy", kDispatch + end)));
        return end;
    };
    EXPECT_EQ(copied_after(4 * 19), kCopyStart + kCopyWord * 19);
    EXPECT_EQ(copied_after(4 * 19 + 1), kCopyStart + kCopyWord * 20);  // part of a word costs one
}

TEST(CommandProcessor, EveryCycleIsChargedToWhatTheProcessorDoes) {
    program::CopyToTile copy;
    copy.bytes = 4;
    ProcessorBench bench(
        {program::WriteDescriptor{}, program::PushTask{}, program::WaitToken{kChannel}, copy});
    const Cycles token = kDispatch + kDescriptor + kWrite + 89_cyc;
    bench.at(token, [&] { bench.processor.on_token(kChannel); });
    bench.run();
    const Cycles end = token + kSync + kCopyStart + kCopyWord;
    EXPECT_EQ(bench.processor.finished_at(), end);
    EXPECT_EQ(bench.processor.last_progress(), end);
    EXPECT_EQ(bench.group.children()[0]->counters()[0]->value(), 4);  // operations
    bench.processor.finish_statistics(end + 17_cyc);
    EXPECT_EQ(bench.spent(CommandState::Dispatch), kDispatch.count());
    EXPECT_EQ(bench.spent(CommandState::Writing), (kDescriptor + kWrite).count());
    EXPECT_EQ(bench.spent(CommandState::WaitingForToken), 89);
    EXPECT_EQ(bench.spent(CommandState::Syncing), kSync.count());
    EXPECT_EQ(bench.spent(CommandState::Copying), (kCopyStart + kCopyWord).count());
    EXPECT_EQ(bench.spent(CommandState::Done), 17);
}

}  // namespace
}  // namespace tilesim::arch::npu::control
