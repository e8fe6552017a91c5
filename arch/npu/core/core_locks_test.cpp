#include "arch/npu/core/core_locks.hpp"

#include <gmock/gmock.h>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kTile;

constexpr std::int64_t kOccupied = 7;  // an acquire or release
constexpr std::int64_t kWake = 11;

constexpr std::int64_t kFree = 0;   // locks: at 1,
constexpr std::int64_t kTaken = 1;  // and at 0

struct Bench {
    explicit Bench(LockRole role = LockRole::Other)
        : locks_of_core(config.core, {role, role}, time.scheduler, locks, account, core) {}
    void release_elsewhere(std::int64_t cycle) {
        time.at(cycle, [this] { locks.release({kTaken, 1}, time.scheduler.now()); });
    }
    NpuConfig config = testing::core_config();
    testing::Timeline time;
    base::stats::Group root{""};
    CoreAccount account{time.scheduler, root};
    testing::Core core{time};
    tile::LockUnit locks{{{"free", kTile, 0, 1}, {"taken", kTile, 1, 0}}};
    CoreLocks locks_of_core;
};

TEST(CoreLocks, AnAcquireThatFindsItsLockOccupiesTheCore) {
    Bench b;
    const program::LockAction action{kFree, -1};
    b.locks_of_core.acquire(action);
    EXPECT_EQ(b.locks.value(kFree), 0);  // taken at once: nobody else gets it meanwhile
    EXPECT_EQ(b.account.state(), CoreState::LockOperation);
    EXPECT_EQ(b.locks_of_core.waiting_for(), nullptr);
    b.time.run_to(kOccupied - 1);
    EXPECT_THAT(b.core.done, IsEmpty());
    b.time.run_to(kOccupied);
    EXPECT_THAT(b.core.done, ElementsAre(kOccupied));
}

TEST(CoreLocks, AReleaseOccupiesTheCoreAndTakesEffectAtItsEnd) {
    Bench b;
    const program::LockAction action{kTaken, 1};
    b.locks_of_core.release(action);
    EXPECT_EQ(b.account.state(), CoreState::LockOperation);
    b.time.run_to(kOccupied - 1);
    EXPECT_EQ(b.locks.value(kTaken), 0);
    EXPECT_THAT(b.core.done, IsEmpty());
    b.time.run_to(kOccupied);
    EXPECT_EQ(b.locks.value(kTaken), 1);
    EXPECT_THAT(b.core.done, ElementsAre(kOccupied));
}

TEST(CoreLocks, AnAcquireThatWaitedGoesOnAWakeUpAfterTheRelease) {
    Bench b;
    constexpr std::int64_t kReleased = 29;
    const program::LockAction action{kTaken, -1};
    b.locks_of_core.acquire(action);
    b.release_elsewhere(kReleased);
    b.time.run_to(kReleased + kWake - 1);
    EXPECT_THAT(b.core.done, IsEmpty());
    EXPECT_EQ(b.locks_of_core.waiting_for(), &action);
    EXPECT_EQ(b.account.state(), CoreState::WaitingForLock);
    b.time.run();
    EXPECT_THAT(b.core.done, ElementsAre(kReleased + kWake));
    EXPECT_EQ(b.locks_of_core.waiting_for(), nullptr);
    EXPECT_EQ(b.locks.value(kTaken), 0);
}

TEST(CoreLocks, ALockGoesToOneWaitingCoreACycle) {
    Bench b;
    testing::Core other{b.time};
    CoreLocks locks_of_other(b.config.core, {LockRole::Other, LockRole::Other}, b.time.scheduler,
                             b.locks, b.account, other);
    const program::LockAction action{kTaken, -1};
    b.locks_of_core.acquire(action);
    locks_of_other.acquire(action);
    b.time.at(29, [&] { b.locks.release({kTaken, 2}, b.time.scheduler.now()); });
    b.time.run();
    EXPECT_THAT(b.core.done, ElementsAre(29 + kWake));
    EXPECT_THAT(other.done, ElementsAre(29 + 1 + kWake));
}

TEST(CoreLocks, WhoWaitsGoesOnWithThePathToTheEndOfTheRelease) {
    constexpr std::int64_t kWorked = 5;
    Bench b;
    base::stats::Group beside{""};
    CoreAccount account(b.time.scheduler, beside);
    testing::Core other{b.time};
    CoreLocks locks_of_other(b.config.core, {LockRole::Other, LockRole::Other}, b.time.scheduler,
                             b.locks, account, other);
    const program::LockAction acquire{kTaken, -1};
    const program::LockAction release{kTaken, 1};
    locks_of_other.acquire(acquire);
    b.account.enter(CoreState::Multiply);
    b.time.at(kWorked, [&] { b.locks_of_core.release(release); });
    b.time.run();
    EXPECT_THAT(other.done, ElementsAre(kWorked + kOccupied + kWake));
    EXPECT_EQ(account.path().spent(PathPart::Multiply), kWorked);
    EXPECT_EQ(account.path().spent(PathPart::Locks), kOccupied);
    EXPECT_EQ(account.path().total(), kWorked + kOccupied);
}

TEST(CoreLocks, WhoReleasesALockSaysWhyACoreWaitsForIt) {
    const auto waits = [](LockRole role) {
        Bench b(role);
        const program::LockAction action{kTaken, -1};
        b.locks_of_core.acquire(action);
        return b.account.state();
    };
    EXPECT_EQ(waits(LockRole::Input), CoreState::WaitingForInput);
    EXPECT_EQ(waits(LockRole::Output), CoreState::WaitingForOutput);
    EXPECT_EQ(waits(LockRole::Host), CoreState::WaitingForHost);
    EXPECT_EQ(waits(LockRole::Other), CoreState::WaitingForLock);
}

}  // namespace
}  // namespace tilesim::arch::npu::core
