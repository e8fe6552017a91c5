#include "arch/systemc/kernel_module.hpp"

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

TEST(Kernel, StopsWhenTheConditionHolds) {
    base::EventQueue queue;
    Ticker ticker{queue};
    EXPECT_EQ(run(queue, {}, [&] { return ticker.ran.size() == 7; }), Outcome::Finished);
    EXPECT_EQ(ticker.ran.back(), 30_ns);
}

TEST(Kernel, TellsAStandstillFromTheEnd) {
    base::EventQueue queue;
    Ticker ticker{queue};
    ticker.most = 3;
    EXPECT_EQ(run(queue, {}, [] { return false; }), Outcome::NothingPending);
    EXPECT_EQ(ticker.ran.size(), 3U);
}

TEST(Kernel, KeepsTheSimulatedTimeLimit) {
    base::EventQueue queue;
    Ticker ticker{queue};
    EXPECT_EQ(run(queue, {.simulated = 52_ns}, [] { return false; }), Outcome::SimulatedTimeLimit);
    EXPECT_EQ(ticker.ran.back(), 50_ns);
}

TEST(Kernel, KeepsTheWallTimeLimit) {
    base::EventQueue queue;
    Ticker ticker{queue};
    ticker.most = 100'000'000;
    EXPECT_EQ(run(queue, {.wall = std::chrono::milliseconds{20}}, [] { return false; }),
              Outcome::WallTimeLimit);
}

struct Thrower final : base::EventHandler {
    void on_event(std::uint64_t, base::Femtoseconds) override { throw std::runtime_error("model"); }
};

TEST(Kernel, PassesOnWhatAModelThrows) {
    base::EventQueue queue;
    Thrower thrower;
    queue.at(1_ns, thrower);
    EXPECT_THROW(run(queue, {}, [] { return false; }), std::runtime_error);
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

TEST(Kernel, KeepsStepWithOtherSystemCProcesses) {
    base::EventQueue queue;
    Ticker ticker{queue};
    Neighbour neighbour{"neighbour", queue};
    EXPECT_EQ(run(queue, {}, [&] { return ticker.ran.size() == 30; }), Outcome::Finished);
    EXPECT_EQ(neighbour.wakes, 20);
}

}  // namespace
}  // namespace tilesim::arch::systemc
