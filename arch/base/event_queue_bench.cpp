// Cost of an event with a given number pending, beside std::priority_queue doing the same work.
#include <benchmark/benchmark.h>

#include <queue>
#include <vector>

#include "arch/base/event_queue.hpp"

namespace tilesim::arch::base {
namespace {

struct Again final : EventHandler {
    EventQueue* queue = nullptr;
    std::uint64_t state = 1;
    void on_event(std::uint64_t tag, Femtoseconds now) override {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        queue->at(now + Femtoseconds{static_cast<std::int64_t>(state >> 44U)}, *this, tag);
    }
};

void event_queue(benchmark::State& state) {
    EventQueue queue;
    Again again;
    again.queue = &queue;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        queue.at(Femtoseconds{i}, again);
    }
    for (auto _ : state) {
        queue.run_until(queue.next_time());
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(queue.executed()));
}

void priority_queue(benchmark::State& state) {
    using Entry = std::pair<std::int64_t, Again*>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    Again again;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        queue.emplace(i, &again);
    }
    for (auto _ : state) {
        const Entry entry = queue.top();
        queue.pop();
        again.state = again.state * 6364136223846793005ULL + 1442695040888963407ULL;
        queue.emplace(entry.first + static_cast<std::int64_t>(again.state >> 44U), entry.second);
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(event_queue)->Arg(100)->Arg(1000);
BENCHMARK(priority_queue)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace tilesim::arch::base
