// Two time lines that are one: SystemC's and the models'. Every test is a way of using them that a
// user's program has.
#include "arch/systemc/time_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc {
namespace {

using namespace base::literals;
using testing::ElementsAre;
using testing::StartsWith;

std::int64_t nanoseconds() {
    return std::llround(sc_core::sc_time_stamp().to_seconds() * 1e9);
}

// Notes when it ran, in the queue's time and in SystemC's.
struct Recorder final : base::EventHandler {
    std::vector<std::pair<std::int64_t, std::int64_t>> ran;  // ns
    void on_event(std::uint64_t, base::Femtoseconds now) override {
        ran.emplace_back(now.count() / 1'000'000, nanoseconds());
    }
};

void wait_ns(double time) {
    sc_core::wait(time, sc_core::SC_NS);
}

TEST(TimeLine, LetsAProcessActThatWaitsWhileTheQueueIsEmpty) {
    TimeLine line("line");
    Recorder model;
    bool acted = false;
    Process user("user", [&] {
        wait_ns(100);
        EXPECT_EQ(line.enter(), 100_ns);
        line.queue().at(107_ns, model);
        acted = true;
    });
    sc_core::sc_start();
    EXPECT_TRUE(acted);
    EXPECT_EQ(model.ran.size(), 1U);
    EXPECT_EQ(model.ran.front().first, 107);
    EXPECT_EQ(nanoseconds(), 107);
}

// The kernel's process sleeps until 100 ns when somebody puts an event at 20 ns.
TEST(TimeLine, IsWokenByAnEventBeforeTheOneItSleepsUntil) {
    TimeLine line("line");
    Recorder model;
    line.queue().at(100_ns, model);
    Process user("user", [&] {
        wait_ns(11);
        line.queue().at(20_ns, model);
        wait_ns(30);
        EXPECT_EQ(model.ran.size(), 1U);
    });
    Process clock("clock", [&] {  // so that nothing runs ahead
        for (int i = 0; i < 200; ++i) {
            wait_ns(1);
        }
    });
    sc_core::sc_start();
    ASSERT_EQ(model.ran.size(), 2U);
    // A nanosecond ahead at most: the clock's next edge is the first at which anybody can act.
    EXPECT_EQ(model.ran[0].first, 20);
    EXPECT_NEAR(static_cast<double>(model.ran[0].second), 20, 1);
    EXPECT_EQ(model.ran[1].first, 100);
    EXPECT_NEAR(static_cast<double>(model.ran[1].second), 100, 1);
}

TEST(TimeLine, RunsAheadToTheNextPendingActivityAndNoFurther) {
    TimeLine line("line");
    Recorder model;
    for (std::int64_t i = 1; i <= 9; ++i) {
        line.queue().at(base::Femtoseconds{i * 10'000'000}, model);
    }
    Process user("user", [&] {
        wait_ns(50);
        EXPECT_EQ(model.ran.size(), 5U);  // what is due now included
        EXPECT_EQ(line.enter(), 50_ns);
        wait_ns(45);
        EXPECT_EQ(model.ran.size(), 9U);
    });
    sc_core::sc_start();
    EXPECT_LE(line.activations(), 4U);
}

TEST(TimeLine, RunsAheadABoundedTimeWhileNothingElseIsPending) {
    TimeLine line("line");
    line.set_run_ahead(30_ns);
    Recorder model;
    for (std::int64_t i = 1; i <= 9; ++i) {
        line.queue().at(base::Femtoseconds{i * 10'000'000}, model);
    }
    sc_core::sc_start(sc_core::sc_time(41, sc_core::SC_NS));
    EXPECT_LE(line.queue().now(), 71_ns);
    sc_core::sc_start();
    EXPECT_EQ(model.ran.size(), 9U);
    EXPECT_EQ(nanoseconds(), 90);
}

TEST(TimeLine, TellsWhoEntersInItsPast) {
    TimeLine line("line");
    Recorder model;
    line.queue().at(40_ns, model);
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_NS));
    EXPECT_EQ(model.ran.size(), 1U);  // 30 ns ahead
    EXPECT_THAT(error_of([&] { line.enter(); }), StartsWith("line: entered at"));
}

TEST(TimeLine, IsLookedAtWhileItsModelsAreAhead) {
    TimeLine line("line");
    Recorder model;
    line.queue().at(40_ns, model);
    line.queue().at(400_ns, model);
    sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_NS));
    line.catch_up();
    EXPECT_EQ(line.queue().now(), 40_ns);  // and not back at 10
    sc_core::sc_start(sc_core::sc_time(203, sc_core::SC_NS));
    line.catch_up();
    EXPECT_EQ(line.queue().now(), 213_ns);
    EXPECT_EQ(model.ran.size(), 1U);
}

TEST(TimeLine, RefusesADurationThatIsLongerThanItCounts) {
    const TimeLine line("line");
    EXPECT_EQ(line.femtoseconds(sc_core::sc_time(2305, sc_core::SC_SEC)).count(),
              2305 * 1'000'000'000'000'000);
    EXPECT_THAT(error_of([&] { line.femtoseconds(sc_core::sc_max_time()); }),
                StartsWith("line: a duration of 18446.7 s is longer"));
}

TEST(TimeLine, RefusesAPresentThatIsLaterThanItCounts) {
    TimeLine line("line");
    sc_core::sc_start(sc_core::sc_time(6917, sc_core::SC_SEC));
    EXPECT_EQ(line.enter().count(), 6917 * 1'000'000'000'000'000);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
    EXPECT_EQ(error_of([&] { line.enter(); }),
              "line: SystemC is at 6918.0 s, and the models count no further than 6917.5 s");
    sc_core::sc_start(sc_core::sc_time(6000, sc_core::SC_SEC));  // more than 64 bits hold
    EXPECT_THAT(error_of([&] { line.enter(); }), StartsWith("line: SystemC is at 12918.0 s"));
}

// A model answers at 70 ns, known at 30 ns: nothing after that may happen before SystemC has acted.
struct Answering final : base::EventHandler {
    explicit Answering(TimeLine& l) : line(l) {}
    TimeLine& line;
    sc_core::sc_event answered;
    int later = 0;
    void on_event(std::uint64_t tag, base::Femtoseconds) override {
        if (tag == 0) {
            line.leave(answered, 70_ns);
        } else {
            ++later;
        }
    }
};

TEST(TimeLine, GoesNoFurtherThanWhatLeavesTheModels) {
    TimeLine line("line");
    Answering model(line);
    line.queue().at(30_ns, model, 0);
    line.queue().at(69_ns, model, 1);
    line.queue().at(71_ns, model, 1);
    Process user("user", [&] {
        sc_core::wait(model.answered);
        EXPECT_EQ(nanoseconds(), 70);
        EXPECT_EQ(model.later, 1);
        EXPECT_EQ(line.enter(), 70_ns);
    });
    sc_core::sc_start();
    EXPECT_EQ(model.later, 2);
}

TEST(TimeLine, SharesTimeWithOtherTimeLines) {
    TimeLine a("a"), b("b");
    Recorder at_a, at_b;
    for (std::int64_t i = 1; i <= 5; ++i) {
        a.queue().at(base::Femtoseconds{i * 20'000'000}, at_a);
        b.queue().at(base::Femtoseconds{i * 30'000'000}, at_b);
    }
    sc_core::sc_start();
    EXPECT_EQ(at_a.ran.size(), 5U);
    EXPECT_EQ(at_b.ran.size(), 5U);
    EXPECT_EQ(nanoseconds(), 150);
}

TEST(TimeLine, IsThereForAProcessOfTheFirstDelta) {
    TimeLine line("line");
    Recorder model;
    Process user("user", [&] {
        line.enter();
        line.queue().at(0_fs, model);
        sc_core::wait(sc_core::SC_ZERO_TIME);
        sc_core::wait(sc_core::SC_ZERO_TIME);
        EXPECT_EQ(model.ran.size(), 1U);
    });
    sc_core::sc_start();
}

// SystemC keeps its process, which must not be run.
TEST(TimeLine, ThatIsGoneBeforeTheStartIsNotCalled) {
    auto gone = std::make_unique<TimeLine>("gone");
    Recorder never;
    gone->queue().at(10_ns, never);
    gone.reset();
    TimeLine line("line");
    Recorder model;
    line.queue().at(20_ns, model);
    sc_core::sc_start();
    EXPECT_TRUE(never.ran.empty());
    EXPECT_EQ(model.ran.size(), 1U);
}

TEST(TimeLine, LeavesTheResolutionSomebodyHasSet) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_PS);
    TimeLine line("line");
    EXPECT_EQ(femtoseconds_per_unit(), 1000);
    Recorder model;
    line.queue().at(1500_fs, model);
    sc_core::sc_start();
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(2, sc_core::SC_PS));  // rounded up
}

TEST(TimeLine, LeavesTheResolutionATimeHasFixed) {
    const sc_core::sc_time before(7, sc_core::SC_NS);
    TimeLine line("line");
    EXPECT_EQ(femtoseconds_per_unit(), 1000);
    EXPECT_EQ(before, sc_core::sc_time(7, sc_core::SC_NS));
}

TEST(TimeLine, SetsAFemtosecondWhereNobodyHasSetAnything) {
    TimeLine line("line");
    EXPECT_EQ(femtoseconds_per_unit(), 1);
}

struct ThrowingHandler final : base::EventHandler {
    void on_event(std::uint64_t, base::Femtoseconds) override { throw std::runtime_error("why"); }
};

TEST(TimeLine, ReportsWhatAModelThrowsInItsName) {
    TimeLine line("line");
    ThrowingHandler thrower;
    line.queue().at(1_ns, thrower);
    EXPECT_EQ(error_of([] { sc_core::sc_start(); }), "line: why");
}

TEST(TimeLine, GoesOnWhereWhoEnteredHasCaughtWhatAModelThrew) {
    TimeLine line("line");
    ThrowingHandler thrower;
    Recorder model;
    Process user("user", [&] {
        wait_ns(5);
        line.queue().at(line.enter(), thrower);
        EXPECT_THROW(line.enter(), std::runtime_error);
        line.queue().at(20_ns, model);
    });
    sc_core::sc_start();
    EXPECT_EQ(model.ran.size(), 1U);
}

}  // namespace
}  // namespace tilesim::arch::systemc
