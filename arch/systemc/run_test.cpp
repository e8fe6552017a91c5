#include "arch/systemc/run.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <systemc>
#include <vector>

namespace tilesim::arch::systemc {
namespace {

using namespace base::literals;

// Schedules itself every 5 ns and notes when it ran.
struct Ticker final : base::EventHandler {
    explicit Ticker(base::EventQueue& q) : queue(q) { queue.at(0_fs, *this); }
    base::EventQueue& queue;
    std::vector<base::Femtoseconds> ran;
    std::size_t most = 1000;
    void on_event(std::uint64_t, base::Femtoseconds now) override {
        ran.push_back(now);
        if (ran.size() < most) {
            queue.at(now + 5_ns, *this);
        }
    }
};

TEST(Run, StopsWhenTheConditionHolds) {
    TimeLine line("line");
    Ticker ticker{line.queue()};
    EXPECT_EQ(run(line, {}, [&] { return ticker.ran.size() == 7; }), Outcome::Finished);
    EXPECT_EQ(ticker.ran.back(), 30_ns);
}

TEST(Run, TellsAStandstillFromTheEnd) {
    TimeLine line("line");
    Ticker ticker{line.queue()};
    ticker.most = 3;
    EXPECT_EQ(run(line, {}, [] { return false; }), Outcome::NothingPending);
    EXPECT_EQ(ticker.ran.size(), 3U);
}

TEST(Run, KeepsTheSimulatedTimeLimit) {
    TimeLine line("line");
    Ticker ticker{line.queue()};
    EXPECT_EQ(run(line, {.simulated = 52_ns}, [] { return false; }), Outcome::SimulatedTimeLimit);
    EXPECT_EQ(ticker.ran.back(), 50_ns);
}

TEST(Run, KeepsTheWallTimeLimit) {
    TimeLine line("line");
    Ticker ticker{line.queue()};
    ticker.most = 100'000'000;
    EXPECT_EQ(run(line, {.wall = std::chrono::milliseconds{20}}, [] { return false; }),
              Outcome::WallTimeLimit);
}

// More time stamps than between two looks at the host's clock.
TEST(Run, KnowsNoWallTimeLimitWhereNoneIsGiven) {
    TimeLine line("line");
    Ticker ticker{line.queue()};
    ticker.most = 10'000;
    EXPECT_EQ(run(line, {}, [] { return false; }), Outcome::NothingPending);
    EXPECT_EQ(ticker.ran.size(), 10'000U);
}

struct Thrower final : base::EventHandler {
    void on_event(std::uint64_t, base::Femtoseconds) override { throw std::runtime_error("model"); }
};

TEST(Run, PassesOnWhatAModelThrows) {
    TimeLine line("line");
    Thrower thrower;
    line.queue().at(1_ns, thrower);
    EXPECT_THROW(run(line, {}, [] { return false; }), std::runtime_error);
}

// A second SystemC process: the queue must not run past its events.
struct Neighbour : sc_core::sc_module {
    SC_HAS_PROCESS(Neighbour);
    Neighbour(const sc_core::sc_module_name& name, const base::EventQueue& q)
        : sc_core::sc_module(name), queue(q) {
        SC_METHOD(wake);
    }
    void wake() {
        EXPECT_LE(queue.now().count(), static_cast<std::int64_t>(sc_core::sc_time_stamp().value()));
        if (++wakes < 20) {
            next_trigger(sc_core::sc_time(3, sc_core::SC_NS));
        }
    }
    const base::EventQueue& queue;
    int wakes = 0;
};

TEST(Run, KeepsStepWithOtherSystemCProcesses) {
    TimeLine line("line");
    Ticker ticker{line.queue()};
    Neighbour neighbour{"neighbour", line.queue()};
    EXPECT_EQ(run(line, {}, [&] { return ticker.ran.size() == 30; }), Outcome::Finished);
    EXPECT_EQ(neighbour.wakes, 20);
}

TEST(Run, WaitsForOthersWhoMayYetPutSomethingOnTheQueue) {
    TimeLine line("line");
    struct Late : sc_core::sc_module {
        SC_HAS_PROCESS(Late);
        Late(const sc_core::sc_module_name& name, TimeLine& l) : sc_core::sc_module(name), line(l) {
            SC_METHOD(wake);
        }
        void wake() {
            if (sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME) {
                next_trigger(sc_core::sc_time(100, sc_core::SC_NS));
            } else {
                ticker.emplace(line.queue());
            }
        }
        TimeLine& line;
        std::optional<Ticker> ticker;
    } late("late", line);
    EXPECT_EQ(run(line, {}, [&] { return late.ticker && late.ticker->ran.size() == 2; }),
              Outcome::Finished);
}

TEST(Run, ExecutesWithoutSystemCWhereThatHasElaborated) {
    TimeLine line("line");
    EXPECT_TRUE(elaborating());
    EXPECT_EQ(run(line, {}, [] { return true; }), Outcome::Finished);
    EXPECT_FALSE(elaborating());
    base::EventQueue queue;
    base::JointQueue queues;
    queues.add(queue);
    Ticker ticker{queue};
    EXPECT_EQ(run(queues, {}, [&] { return ticker.ran.size() == 7; }), Outcome::Finished);
}

}  // namespace
}  // namespace tilesim::arch::systemc
