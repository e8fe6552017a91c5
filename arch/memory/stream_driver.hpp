// Feeds a request stream to a memory, keeping a number of requests under way, and measures.
#pragma once

#include <vector>

#include "arch/base/event_queue.hpp"
#include "arch/memory/memory_system.hpp"
#include "arch/memory/stream_source.hpp"

namespace tilesim::arch::memory {

class StreamDriver final : public MemoryClient, public base::EventHandler {
  public:
    StreamDriver(const StreamConfig& config, MemorySystem& memory, base::EventQueue& queue);

    void start();
    bool finished() const { return completed_ == source_.size() && memory_.idle(); }
    // Call when finished.
    StreamResult result();

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds now) override;
    void on_memory_room(base::Femtoseconds now) override;

  private:
    void issue();

    StreamConfig config_;
    StreamSource source_;
    MemorySystem& memory_;
    base::EventQueue& queue_;
    std::int64_t issued_ = 0;
    std::int64_t completed_ = 0;
    std::int64_t bytes_ = 0;
    bool full_ = false;                          // the memory has refused a request
    std::vector<base::Femtoseconds> submitted_;  // by tag
    std::vector<std::uint64_t> free_tags_;
    std::vector<base::Femtoseconds> latencies_;
};

}  // namespace tilesim::arch::memory
