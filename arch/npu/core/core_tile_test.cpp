// A core as the array sees it: its units in the order of its script.
#include "arch/npu/core/core_tile.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "arch/base/probe_testing.hpp"
#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using ::testing::ElementsAre;
using testing::kTile;
using ::testing::Pair;
using testing::spent;

constexpr std::int64_t kLock = 7;  // an acquire or release occupies the core
constexpr std::int64_t kWake = 11;
constexpr std::int64_t kCall = 13;
constexpr std::int64_t kWork = 29;
constexpr std::int64_t kRound = kLock + kCall + kWork + kLock;

constexpr std::int64_t kFull = 0;   // locks: of a buffer that arrives,
constexpr std::int64_t kDone = 1;   // and one the core releases
constexpr std::int64_t kStart = 2;  // and the host's

using Script = std::vector<program::CoreOp>;

program::CoreOp loop(std::int64_t count, Script body) {
    program::LoopOp op;
    op.count = count;
    op.body = std::move(body);
    return {op};
}

program::CoreOp loop_of_parameter(std::int64_t parameter, Script body) {
    program::LoopOp op;
    op.parameter = parameter;
    op.body = std::move(body);
    return {op};
}

Script round_of_work() {
    return {{program::AcquireOp{{kFull, -1}}},
            {program::CallOp{0, {}, {}}},
            {program::ReleaseOp{{kDone, 1}}}};
}

struct Bench {
    explicit Bench(Script body, std::int64_t full = 0)
        : script{kTile, {}, std::move(body)},
          locks({{"full", kTile, 0, full}, {"done", kTile, 1, 0}, {"start", kTile, 2, 0}}) {
        program::Kernel work;
        work.cycles = kWork;
        program.kernels = {work};
        core.emplace(script, program, config, timing,
                     std::vector<LockRole>{LockRole::Input, LockRole::Output, LockRole::Host},
                     time.scheduler, locks, root, nullptr, nullptr);
        core->connect(&states);
    }
    void release(std::int64_t cycle, std::int64_t lock) {
        time.at(cycle, [this, lock] { locks.release({lock, 1}, time.scheduler.now()); });
    }
    // Returns when nothing happens any more.
    std::int64_t run() {
        core->start();
        time.run();
        core->finish_statistics(time.scheduler.now());
        return time.now();
    }
    NpuConfig config = testing::core_config();
    program::Program program;
    program::CoreProgram script;
    testing::Timeline time;
    testing::States states{time};
    base::stats::Group root{""};
    tile::LockUnit locks;
    KernelTiming timing{config.kernels};
    std::optional<CoreTile> core;
};

TEST(CoreTile, TellsWhatTraceUnitsSee) {
    constexpr std::int64_t kGrant = 41;
    constexpr std::int64_t kToStall = 3;
    Bench b(round_of_work());
    b.release(kGrant, kFull);
    b.run();
    const std::int64_t called = kGrant + kWake + kCall;
    EXPECT_THAT(b.states.told,
                ElementsAre(Pair(0, "acquire"), Pair(kToStall, "lock"), Pair(called, "event_0"),
                            Pair(called + kWork, "event_1"), Pair(called + kWork, "release"),
                            Pair(called + kWork + kToStall, "lock")));
}

TEST(CoreTile, AKernelWhoseCodeMarksNothingIsNotSeen) {
    Bench b(round_of_work());
    for (program::Kernel& kernel : b.program.kernels) {
        kernel.marked = false;
    }
    b.release(0, kFull);
    b.run();
    EXPECT_THAT(b.states.told, ::testing::Each(::testing::Pair(
                                   ::testing::_, ::testing::AnyOf("acquire", "release", "lock"))));
}

// A cycle, and as long as the lock is not granted.
TEST(CoreTile, TellsHowLongALockHasHeldItUp) {
    constexpr std::int64_t kGrant = 41;
    constexpr std::int64_t kToStall = 3;
    Bench b(round_of_work());
    base::ProbeRecorder recorder(b.time.scheduler.clock());
    b.core->connect(&recorder);
    b.release(kGrant, kFull);
    b.run();
    const std::int64_t released = kGrant + kWake + kCall + kWork;
    std::vector<std::pair<std::int64_t, std::int64_t>> stalls;
    for (const auto& activity : recorder.activities()) {
        if (activity.name == "lock") {
            stalls.emplace_back(activity.begin, activity.end);
        }
    }
    EXPECT_THAT(stalls, ElementsAre(Pair(kToStall, kToStall + kGrant + 1),
                                    Pair(released + kToStall, released + kToStall + 1)));
}

TEST(CoreTile, NothingHappensBeforeItIsEnabled) {
    constexpr std::int64_t kEnabled = 53;
    Bench b(round_of_work(), 1);
    b.script.enabled = kEnabled;
    b.time.at(kEnabled - 1, [&] { b.core->reset(); });  // of a core that has not begun
    b.run();
    EXPECT_THAT(
        b.states.entered,
        ElementsAre(Pair(kEnabled, "lock_operation"), Pair(kEnabled, "lock_operation"),
                    Pair(kEnabled + kLock, "call"), Pair(kEnabled + kLock + kCall, "fixed_kernel"),
                    Pair(kEnabled + kLock + kCall + kWork, "lock_operation"),
                    Pair(kEnabled + kRound, "done")));
}

TEST(CoreTile, AResetEndsAWaitAtOnceAndAnOperationWhenItIsDone) {
    constexpr std::int64_t kReset = 37;
    Bench waiting(round_of_work());
    waiting.time.at(kReset, [&] { waiting.core->reset(); });
    waiting.run();
    EXPECT_EQ(waiting.core->waiting_for()->lock, kFull);  // stands at its first lock again
    EXPECT_THAT(waiting.states.told, ElementsAre(Pair(0, "acquire"), Pair(kReset, "acquire")));
    // Reset in the call: it ends, the release behind it does not happen, and the script begins
    // anew.
    Bench working(round_of_work(), 1);
    working.time.at(kLock + kCall + 1, [&] { working.core->reset(); });
    working.run();
    EXPECT_EQ(working.locks.value(kDone), 0);
    EXPECT_EQ(working.core->waiting_for()->lock, kFull);
}

TEST(CoreTile, AResetEndsASecondWaitAtOnceToo) {
    constexpr std::int64_t kReset = 311;
    Bench b({loop(2, round_of_work())});
    b.release(41, kFull);
    b.time.at(kReset, [&] { b.core->reset(); });
    b.release(kReset + 1, kFull);
    b.release(kReset + 200, kFull);
    b.run();
    EXPECT_EQ(b.core->calls(), 3);  // one before the reset, two from the beginning on
    EXPECT_TRUE(b.core->done());
}

// The lock is the core's from cycle 41 on: it wakes up before it begins again, without it.
TEST(CoreTile, AResetBetweenAGrantAndItsWakeUpWaitsForTheWakeUp) {
    Bench b(round_of_work());
    b.release(41, kFull);
    b.time.at(41 + kWake - 1, [&] { b.core->reset(); });
    b.release(101, kFull);
    EXPECT_EQ(b.run(), 101 + kWake + kRound - kLock);
    EXPECT_EQ(b.core->calls(), 1);
}

TEST(CoreTile, TwoResetsInACycleBeginTheScriptOnce) {
    constexpr std::int64_t kReset = 37;
    Bench b(round_of_work());
    b.time.at(kReset, [&] {
        b.core->reset();
        b.core->reset();
    });
    b.release(kReset + 1, kFull);
    EXPECT_EQ(b.run(), kReset + 1 + kWake + kRound - kLock);
    EXPECT_EQ(b.core->calls(), 1);
}

TEST(CoreTile, ExecutesItsScriptOneOperationAfterTheOther) {
    Bench b(round_of_work(), 1);
    EXPECT_TRUE(b.core->done());
    EXPECT_EQ(b.run(), kRound);
    EXPECT_THAT(b.states.entered,
                ElementsAre(Pair(0, "lock_operation"), Pair(0, "lock_operation"),
                            Pair(kLock, "call"), Pair(kLock + kCall, "fixed_kernel"),
                            Pair(kLock + kCall + kWork, "lock_operation"), Pair(kRound, "done")));
    EXPECT_TRUE(b.core->done());
    EXPECT_EQ(b.locks.value(kDone), 1);
}

TEST(CoreTile, ItsStatesAddUpToItsCycles) {
    constexpr std::int64_t kArrival = 101;
    Bench b({loop(3, round_of_work())}, 2);
    b.release(3 * kRound + kArrival, kFull);
    const std::int64_t end = b.run();
    // Two rounds without a wait; the third's buffer is late and its acquire a wake-up instead.
    EXPECT_EQ(end, 3 * kRound + kArrival + kWake + kRound - kLock);
    const CoreStats& stats = b.core->stats();
    EXPECT_EQ(spent(stats, CoreState::LockOperation), 5 * kLock);
    EXPECT_EQ(spent(stats, CoreState::Call), 3 * kCall);
    EXPECT_EQ(spent(stats, CoreState::Fixed), 3 * kWork);
    EXPECT_EQ(spent(stats, CoreState::WaitingForInput), kRound + kArrival + kWake);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < kCoreStates.kStates; ++i) {
        sum += stats.time.spent(i);
    }
    EXPECT_EQ(sum, end);
    EXPECT_EQ(b.core->calls(), 3);
    EXPECT_EQ(b.core->working_calls(), 3);
}

TEST(CoreTile, ALoopRunsAsOftenAsTheHostsParameterSaysWhenItIsEntered) {
    constexpr std::int64_t kGo = 19;
    Bench b({{program::AcquireOp{{kStart, -1}}}, loop_of_parameter(1, round_of_work())}, 5);
    b.time.at(kGo, [&b] {
        b.core->write_parameter(1, 4);
        b.locks.release({kStart, 1}, b.time.scheduler.now());
    });
    EXPECT_EQ(b.run(), kGo + kWake + 4 * kRound);
    EXPECT_EQ(spent(b.core->stats(), CoreState::WaitingForHost), kGo + kWake);
}

TEST(CoreTile, WaitsForALockAsLongAsNobodyReleasesIt) {
    Bench b({{program::AcquireOp{{kFull, -1}}}});
    b.run();
    EXPECT_FALSE(b.core->done());
    EXPECT_EQ(b.core->state(), CoreState::WaitingForInput);
    ASSERT_NE(b.core->waiting_for(), nullptr);
    EXPECT_EQ(b.core->waiting_for()->lock, kFull);
    EXPECT_EQ(b.core->since().count(), 0);
}

TEST(CoreTile, WaitsForTheOtherEndOfItsCascade) {
    Bench b({{program::PutCascadeOp{5, {}}}});
    const program::Cascade cascade{"east", kTile, {1, 2}};
    CascadeLink link(cascade, b.config.cascade, b.time.scheduler);
    b.core->connect_cascades(nullptr, &link);
    EXPECT_EQ(b.run(), 5);  // its two FIFOs take six words
    EXPECT_TRUE(b.core->done());
    Bench other({{program::GetCascadeOp{5, {}}}});
    CascadeLink empty(cascade, other.config.cascade, other.time.scheduler);
    other.core->connect_cascades(&empty, nullptr);
    other.run();
    EXPECT_FALSE(other.core->done());
    ASSERT_NE(other.core->getting(), nullptr);
    EXPECT_EQ(other.core->getting()->words, 5);
}

TEST(CoreTile, SpinsWhenItsLoopForEverGivesNobodyAnything) {
    Bench spinning({loop(-1, {{program::CallOp{0, {}, {}}}})});
    spinning.core->start();
    spinning.time.run_to(kCall);
    EXPECT_TRUE(spinning.core->spins());
    Bench working({loop(-1, round_of_work())}, 1);
    working.core->start();
    working.time.run_to(kCall);
    EXPECT_FALSE(working.core->spins());
}

TEST(CoreTile, HasAsManyStreamPortsAsTheDevice) {
    Bench b({{program::GetStreamOp{0, 3, {}}}});
    EXPECT_FALSE(b.core->streaming().has_value());
    b.run();
    EXPECT_TRUE(b.core->input(0).sink().waiting());
    EXPECT_EQ(b.core->streaming(),
              (program::ChannelId{kTile, program::Direction::S2MM, 0, program::PortKind::Core}));
    EXPECT_EQ(b.core->streamed(), "3 words");
}

}  // namespace
}  // namespace tilesim::arch::npu::core
