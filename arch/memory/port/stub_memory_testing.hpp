// A memory whose every answer comes a fixed time after the request's arrival, for the tests of
// what stands before a memory.
#pragma once

#include <vector>

#include "arch/base/event_queue.hpp"
#include "arch/memory/port/memory_port.hpp"

namespace tilesim::arch::memory::port {

class StubMemory final : public MemoryPort, public base::EventHandler {
  public:
    StubMemory(base::EventQueue& queue, base::Femtoseconds answers_after)
        : latency(answers_after), queue_(queue) {}

    // Of reads and of writes: in order of their submission.
    std::vector<MemoryRequest> reads, writes;
    bool answers = true;  // false: never
    base::Femtoseconds latency;

    void submit(const MemoryRequest& request) override {
        (request.write ? writes : reads).push_back(request);
        if (answers) {
            all_.push_back(request);
            queue_.at(request.arrival, *this, all_.size() - 1);
        }
    }
    bool idle() const override { return queue_.empty(); }
    base::Femtoseconds busy_until() const override { return queue_.now(); }
    base::Femtoseconds lookahead() const override { return base::Femtoseconds{1}; }
    base::Hertz clock() const override { return base::Hertz{1'000'000'000}; }

    void on_event(std::uint64_t index, base::Femtoseconds now) override {
        const MemoryRequest request = all_[index];
        request.client->on_memory_complete(request.tag, now + latency);
    }

  private:
    base::EventQueue& queue_;
    std::vector<MemoryRequest> all_;
};

}  // namespace tilesim::arch::memory::port
