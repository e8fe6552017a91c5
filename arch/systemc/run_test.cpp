#include "arch/systemc/run.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <systemc>
#include <utility>
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

// Can wait for so many time stamps; is reached when the ticker says so or has ticked so often.
struct Patient final : Goal {
    Patient(Ticker& t, std::int64_t p, std::size_t a) : ticker(t), stamps(p), at(a) {}
    Ticker& ticker;
    std::int64_t stamps;
    std::size_t at;
    std::int64_t asked = 0, executed = -1;  // once before the first
    bool reached(std::int64_t unasked) override {
        ++asked;
        executed += unasked + 1;
        return ticker.ran.size() >= at;
    }
    std::int64_t patience() const override { return stamps; }
};

TEST(Run, AsksAPatientGoalEverySoManyTimeStamps) {
    base::EventQueue queue;
    base::JointQueue queues;
    queues.add(queue);
    Ticker ticker{queue};
    Patient goal{ticker, 10, 25};
    EXPECT_EQ(run(queues, {}, goal), Outcome::Finished);
    EXPECT_EQ(ticker.ran.size(), 30U);
    EXPECT_EQ(goal.executed, 30);
    EXPECT_EQ(goal.asked, 4);
}

TEST(Run, APatientGoalDoesNotPassTheSimulatedTimeLimit) {
    TimeLine line("line");
    Ticker ticker{line.queue()};
    Patient goal{ticker, 1000, 1000};
    EXPECT_EQ(run(line, {.simulated = 52_ns}, goal), Outcome::SimulatedTimeLimit);
    EXPECT_EQ(ticker.ran.size(), 11U);  // the last at 50 ns
}

// Interrupts when the ticker has ticked so often.
struct Bell final : base::EventHandler {
    explicit Bell(base::EventQueue& q) : queue(q) {}
    base::EventQueue& queue;
    void on_event(std::uint64_t, base::Femtoseconds) override { queue.interrupt(); }
};

TEST(Run, AnInterruptAsksAPatientGoalAtOnce) {
    TimeLine line("line");
    line.set_run_ahead(1'000'000_ns);
    Ticker ticker{line.queue()};
    Bell bell{line.queue()};
    line.queue().at(60_ns, bell);
    Patient goal{ticker, 1000, 10};
    EXPECT_EQ(run(line, {}, goal), Outcome::Finished);
    EXPECT_EQ(ticker.ran.size(), 13U);  // the last at 60 ns
}

// Puts two events in front of the ticker's second, as an agent does that starts when it is asked.
struct Starter final : Goal {
    explicit Starter(Ticker& t) : ticker(t), bell(t.queue) {}
    Ticker& ticker;
    Bell bell;
    std::vector<base::Femtoseconds> before;  // the time stamps it was asked before
    bool reached(std::int64_t) override {
        if (ticker.ran.size() == 1 && std::exchange(waiting, false)) {
            ticker.queue.at(1_ns, bell);
            ticker.queue.at(2_ns, bell);
        }
        before.push_back(ticker.queue.next_time());
        return ticker.ran.size() == 3;
    }
    bool waiting = true;
};

TEST(Run, AsksBeforeEveryTimeStampThatWhoIsAskedPutsInFront) {
    const std::vector<base::Femtoseconds> stamps{0_fs, 1_ns, 2_ns, 5_ns, 10_ns, 15_ns};
    base::EventQueue queue;
    base::JointQueue queues;
    queues.add(queue);
    Ticker ticker{queue};
    Starter starter{ticker};
    EXPECT_EQ(run(queues, {}, starter), Outcome::Finished);
    EXPECT_EQ(starter.before, stamps);
    TimeLine line("line");
    Ticker of_line{line.queue()};
    Starter asked{of_line};
    EXPECT_EQ(run(line, {}, asked), Outcome::Finished);
    asked.before.resize(stamps.size());  // SystemC's end is asked about once more
    EXPECT_EQ(asked.before, stamps);
}

// What leaves the models reaches SystemC in time, however patient the goal.
struct Leaver final : base::EventHandler {
    Leaver(TimeLine& l, sc_core::sc_event& e) : line(l), event(e) {}
    TimeLine& line;
    sc_core::sc_event& event;
    void on_event(std::uint64_t, base::Femtoseconds now) override { line.leave(event, now + 7_ns); }
};

TEST(Run, GoesNoFurtherThanWhatLeavesTheModels) {
    TimeLine line("line");
    struct Listener : sc_core::sc_module {
        SC_HAS_PROCESS(Listener);
        Listener(const sc_core::sc_module_name& name, const base::EventQueue& q)
            : sc_core::sc_module(name), queue(q) {
            SC_METHOD(wake);
            sensitive << event;
            dont_initialize();
        }
        void wake() { heard = queue.now(); }
        const base::EventQueue& queue;
        sc_core::sc_event event;
        base::Femtoseconds heard{0};
    } listener("listener", line.queue());
    Ticker ticker{line.queue()};
    Leaver leaver{line, listener.event};
    line.queue().at(11_ns, leaver);
    Patient goal{ticker, 1000, 100};
    EXPECT_EQ(run(line, {}, goal), Outcome::Finished);
    EXPECT_LE(listener.heard, 18_ns);
    EXPECT_GE(listener.heard, 15_ns);
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
