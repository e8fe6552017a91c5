// For tests of a core's units: a core's surroundings, whose numbers are pairwise different primes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/npu/core/core_account.hpp"
#include "arch/npu/core/core_operation.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::arch::npu::core::testing {

constexpr program::TileCoordinate kTile{0, 2};

inline NpuConfig core_config() {
    NpuConfig config;
    config.core.lock_cycles = base::Cycles{7};
    config.core.lock_wake = base::Cycles{11};
    config.core.call_cycles = base::Cycles{13};
    config.core.stream_read_latency = base::Cycles{19};
    config.cascade.width = base::Bytes{8};
    config.cascade.fifo = 3;
    config.cascade.read_latency = base::Cycles{17};
    return config;
}

inline program::Program with_buffers(std::vector<program::Buffer> buffers) {
    program::Program program;
    program.buffers = std::move(buffers);
    return program;
}

// The time line, whose cycles are nanoseconds.
struct Timeline {
    // What happens in a cycle, before whatever the units put there later.
    void at(std::int64_t cycle, std::function<void()> action) {
        actions.push_back(std::make_unique<Action>(std::move(action)));
        scheduler.at(base::Cycles{cycle}, *actions.back());
    }
    // Everything until the end of a cycle.
    void run_to(std::int64_t cycle) {
        queue.run_until(scheduler.clock().time_of(base::Cycles{cycle}));
    }
    void run() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
    }
    std::int64_t now() const { return scheduler.now().count(); }

    struct Action final : base::EventHandler {
        explicit Action(std::function<void()> what) : action(std::move(what)) {}
        void on_event(std::uint64_t, base::Femtoseconds) override { action(); }
        std::function<void()> action;
    };
    base::EventQueue queue;
    CycleScheduler scheduler{queue, base::Clock{base::Hertz{1'000'000'000}}};
    std::vector<std::unique_ptr<Action>> actions;
};

// The core a unit belongs to: when its operations ended.
struct Core final : OperationClient {
    explicit Core(Timeline& line) : time(line) {}
    void on_operation_done() override { done.push_back(time.now()); }
    Timeline& time;
    std::vector<std::int64_t> done;
};

// What a core has been in, from which cycle on.
struct States final : base::ProbeListener {
    explicit States(Timeline& line) : time(line) {}
    void begin(std::string_view component, std::string_view state,
               base::Femtoseconds when) override {
        const std::int64_t cycle = time.scheduler.clock().cycle_at(when).count();
        if (component.ends_with("core")) {
            entered.emplace_back(time.now(), state);
        } else {
            told.emplace_back(cycle, state);
        }
    }
    void end(std::string_view, std::string_view, base::Femtoseconds) override {}
    Timeline& time;
    std::vector<std::pair<std::int64_t, std::string>> entered;
    std::vector<std::pair<std::int64_t, std::string>>
        told;  // events that no state is, as they begin
};

inline std::int64_t spent(const CoreStats& stats, CoreState state) {
    return stats.time.spent(static_cast<std::size_t>(state));
}

}  // namespace tilesim::arch::npu::core::testing
