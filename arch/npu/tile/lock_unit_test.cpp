#include "arch/npu/tile/lock_unit.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::tile {
namespace {

using namespace base::literals;

struct Waiter final : LockClient {
    std::vector<base::Cycles> granted;
    void on_lock_granted(base::Cycles when) override { granted.push_back(when); }
    CriticalPath* critical_path() override { return &path; }
    CriticalPath path;
};

struct Passed {
    const LockClient* by;
    const LockClient* to;
    base::Cycles now, when;
    bool operator==(const Passed&) const = default;
};

struct Listener final : LockListener {
    std::vector<Passed> passed;
    void on_lock_taken(std::int64_t) override {}
    void on_lock_given(std::int64_t) override {}
    void on_lock_passed(const LockClient& by, const LockClient& to, base::Cycles now,
                        base::Cycles when) override {
        passed.push_back({&by, &to, now, when});
    }
};

LockUnit one_lock(std::int64_t initial) {
    return LockUnit{{{"lock", {0, 2}, 3, initial}}};
}

TEST(LockUnit, AcquireGreaterEqualWaitsForTheCountAndSubtractsIt) {
    LockUnit locks = one_lock(1);
    Waiter waiter;
    EXPECT_FALSE(locks.acquire({0, -2}, waiter));
    EXPECT_EQ(locks.value(0), 1);
    locks.release({0, 2}, 17_cyc);
    EXPECT_EQ(locks.value(0), 1);
    ASSERT_EQ(waiter.granted.size(), 1U);
    EXPECT_EQ(waiter.granted[0], 17_cyc);
}

TEST(LockUnit, AListenerHearsWhoEndsWhoseWait) {
    LockUnit locks = one_lock(1);
    Listener listener;
    locks.listen(&listener);
    Waiter first, second, releaser;
    EXPECT_TRUE(locks.acquire({0, -1}, releaser));  // did not wait
    locks.acquire({0, -1}, first);
    locks.acquire({0, -1}, second);
    locks.release({0, 2}, 17_cyc, &releaser);
    EXPECT_EQ(listener.passed, (std::vector<Passed>{{&releaser, &first, 17_cyc, 17_cyc},
                                                    {&releaser, &second, 17_cyc, 18_cyc}}));
}

TEST(LockUnit, WhoWaitsGoesOnWithThePathOfWhoEndsTheWait) {
    LockUnit locks = one_lock(1);
    Waiter quick, waiter, releaser;
    quick.path.charge(PathPart::Multiply, 5_cyc);
    waiter.path.charge(PathPart::Multiply, 11_cyc);
    releaser.path.charge(PathPart::Stream, 17_cyc);
    EXPECT_TRUE(locks.acquire({0, -1}, quick));
    locks.acquire({0, -1}, waiter);
    locks.release({0, 1}, 17_cyc, &releaser);
    EXPECT_EQ(quick.path.spent(PathPart::Multiply), 5);
    EXPECT_EQ(waiter.path.spent(PathPart::Multiply), 0);
    EXPECT_EQ(waiter.path.spent(PathPart::Stream), 17);
    locks.acquire({0, -1}, quick);
    CriticalPath processor;
    processor.charge(PathPart::Writing, 23_cyc);
    locks.set(0, 1, 23_cyc, &processor);
    EXPECT_EQ(quick.path.spent(PathPart::Writing), 23);
}

TEST(LockUnit, AcquireEqualWaitsForTheExactValueAndKeepsIt) {
    LockUnit locks = one_lock(5);
    Waiter waiter;
    EXPECT_FALSE(locks.acquire({0, 3}, waiter));
    locks.release({0, -2}, 4_cyc);
    EXPECT_EQ(waiter.granted.size(), 1U);
    EXPECT_EQ(locks.value(0), 3);
    EXPECT_TRUE(locks.acquire({0, 3}, waiter));
}

TEST(LockUnit, GrantsOneRequestACycle) {
    LockUnit locks = one_lock(0);
    Waiter first;
    Waiter second;
    EXPECT_FALSE(locks.acquire({0, -1}, first));
    EXPECT_FALSE(locks.acquire({0, -1}, second));
    locks.release({0, 2}, 11_cyc);
    EXPECT_EQ(first.granted.at(0), 11_cyc);
    EXPECT_EQ(second.granted.at(0), 12_cyc);
}

TEST(LockUnit, ServesWaitingRequestsInOrderOfTheirArrival) {
    LockUnit locks = one_lock(0);
    Waiter first;
    Waiter second;
    Waiter third;
    for (Waiter* waiter : {&second, &first, &third}) {
        EXPECT_FALSE(locks.acquire({0, -1}, *waiter));
    }
    locks.release({0, 2}, 11_cyc);
    EXPECT_EQ(second.granted, std::vector{11_cyc});
    EXPECT_EQ(first.granted, std::vector{12_cyc});
    EXPECT_TRUE(third.granted.empty());
    locks.release({0, 1}, 29_cyc);
    EXPECT_EQ(third.granted, std::vector{29_cyc});
}

TEST(LockUnit, AWaitingRequestWhoseConditionHoldsPassesOneWhoseDoesNot) {
    LockUnit locks = one_lock(0);
    Waiter big;
    Waiter small;
    EXPECT_FALSE(locks.acquire({0, -3}, big));
    EXPECT_FALSE(locks.acquire({0, -1}, small));
    locks.release({0, 1}, 11_cyc);
    EXPECT_TRUE(big.granted.empty());
    EXPECT_EQ(small.granted, std::vector{11_cyc});  // the first grant of this cycle
    locks.release({0, 3}, 29_cyc);
    EXPECT_EQ(big.granted, std::vector{29_cyc});
}

TEST(LockUnit, WhatTheProcessorWritesGrantsWaitingRequests) {
    LockUnit locks = one_lock(0);
    Waiter first;
    Waiter second;
    EXPECT_FALSE(locks.acquire({0, -1}, first));
    EXPECT_FALSE(locks.acquire({0, -1}, second));
    locks.set(0, 2, 17_cyc);
    EXPECT_EQ(first.granted, std::vector{17_cyc});
    EXPECT_EQ(second.granted, std::vector{18_cyc});
    EXPECT_EQ(locks.value(0), 0);
}

TEST(LockUnit, LaterRequestsDoNotOvertakeWaitingOnes) {
    LockUnit locks = one_lock(1);
    Waiter big;
    Waiter small;
    EXPECT_FALSE(locks.acquire({0, -2}, big));
    EXPECT_FALSE(locks.acquire({0, -1}, small));
}

TEST(LockUnit, AWithdrawnRequestIsNeverGranted) {
    LockUnit locks = one_lock(0);
    Waiter first;
    Waiter second;
    EXPECT_FALSE(locks.acquire({0, -1}, first));
    EXPECT_FALSE(locks.acquire({0, -1}, second));
    locks.withdraw(first);
    locks.release({0, 2}, 11_cyc);
    EXPECT_TRUE(first.granted.empty());
    EXPECT_EQ(second.granted, std::vector{11_cyc});
    EXPECT_EQ(locks.value(0), 1);
}

TEST(LockUnit, BinaryAcquireWaitsForTheStateAndHoldsTheLock) {
    LockUnit locks{{{"lock", {0, 2}, 3, 0}}, LockKind::Binary};
    Waiter reader;
    Waiter other;
    EXPECT_FALSE(locks.acquire({0, 1}, reader));
    EXPECT_TRUE(locks.acquire({0, 0}, other));
    EXPECT_TRUE(locks.held(0));
    locks.release({0, 1}, 5_cyc);
    ASSERT_EQ(reader.granted.size(), 1U);
    EXPECT_EQ(reader.granted[0], 5_cyc);
    EXPECT_EQ(locks.value(0), 1);
    EXPECT_FALSE(locks.available({0, 1}));  // held by the reader
}

TEST(LockUnit, BinaryReleaseSetsTheStateAndServesOneWaiter) {
    LockUnit locks{{{"lock", {0, 2}, 3, 0}}, LockKind::Binary};
    Waiter first;
    Waiter second;
    EXPECT_FALSE(locks.acquire({0, 1}, first));
    EXPECT_FALSE(locks.acquire({0, 1}, second));
    locks.release({0, 1}, 7_cyc);
    EXPECT_EQ(first.granted.size(), 1U);
    EXPECT_TRUE(second.granted.empty());
    locks.release({0, 1}, 9_cyc);
    EXPECT_EQ(second.granted.size(), 1U);
}

TEST(LockUnit, CounterHoldsSixBits) {
    LockUnit locks = one_lock(LockUnit::kMost - 1);
    locks.release({0, 1}, 1_cyc);
    EXPECT_EQ(locks.value(0), 63);
    EXPECT_THROW(locks.release({0, 1}, 2_cyc), program::ProgramFault);
    EXPECT_THROW(locks.release({0, -64}, 2_cyc), program::ProgramFault);
    locks.release({0, -63}, 2_cyc);
    EXPECT_EQ(locks.value(0), 0);
}

}  // namespace
}  // namespace tilesim::arch::npu::tile
