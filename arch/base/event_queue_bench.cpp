// Cost of an event with a given number pending, up to a nanosecond or 268 ns ahead (2^20 and 2^28
// fs), beside std::priority_queue doing the same work.
#include <benchmark/benchmark.h>

#include <queue>
#include <vector>

#include "arch/base/event_queue.hpp"

namespace tilesim::arch::base {
namespace {

struct Again final : EventHandler {
    EventQueue* queue = nullptr;
    std::uint64_t state = 1;
    unsigned bits = 0;  // of how far ahead
    std::int64_t ahead() {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::int64_t>(state >> (64U - bits));
    }
    void on_event(std::uint64_t tag, Femtoseconds now) override {
        queue->at(now + Femtoseconds{ahead()}, *this, tag);
    }
};

void event_queue(benchmark::State& state) {
    EventQueue queue;
    Again again;
    again.queue = &queue;
    again.bits = static_cast<unsigned>(state.range(1));
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
    again.bits = static_cast<unsigned>(state.range(1));
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        queue.emplace(i, &again);
    }
    for (auto _ : state) {
        const Entry entry = queue.top();
        queue.pop();
        queue.emplace(entry.first + again.ahead(), entry.second);
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(event_queue)->ArgsProduct({{100, 1000}, {20, 28}});
BENCHMARK(priority_queue)->ArgsProduct({{100, 1000}, {20, 28}});

}  // namespace
}  // namespace tilesim::arch::base
