// A time line for the tests of the array's blocks: one cycle is one nanosecond.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "arch/npu/cycle_scheduler.hpp"

namespace tilesim::arch::npu {

class TestBench {
  public:
    base::EventQueue queue;
    CycleScheduler scheduler{queue, base::Clock{base::Hertz{1'000'000'000}}};

    base::Cycles now() const { return scheduler.now(); }
    // Lets the test act at a cycle.
    void at(base::Cycles cycle, std::function<void()> action) {
        actions_.push_back(std::make_unique<Action>(std::move(action)));
        scheduler.at(cycle, *actions_.back());
    }
    void run_until(base::Cycles cycle) { queue.run_until(scheduler.clock().time_of(cycle)); }
    // Until nothing happens any more.
    void run() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
    }

  private:
    struct Action final : base::EventHandler {
        explicit Action(std::function<void()> act) : act_(std::move(act)) {}
        void on_event(std::uint64_t, base::Femtoseconds) override { act_(); }
        std::function<void()> act_;
    };
    std::vector<std::unique_ptr<Action>> actions_;
};

}  // namespace tilesim::arch::npu
