// The memory under every device: takes reads and writes of contiguous bytes, answers when they are
// done.
//
// A request is cut at channel-interleave boundaries into runs of bursts; each channel's controller
// schedules runs (see channel.hpp). A request completes when its last burst's data has crossed the
// DRAM bus (reads) or has been accepted by the controller's write queue (writes).
//
// Ignores: caches and address translation above DRAM; ECC; power-down states.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arch/base/event_queue.hpp"
#include "arch/base/stats.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/memory_config.hpp"

namespace tilesim::arch::memory {

class MemoryClient {
  public:
    // The request that was submitted with `tag` is complete.
    virtual void on_memory_complete(std::uint64_t tag, base::Femtoseconds now) = 0;
    // After `submit` has refused a request: there is room again, try it once more.
    virtual void on_memory_room(base::Femtoseconds now) = 0;

  protected:
    ~MemoryClient() = default;
};

struct MemoryRequest {
    std::int64_t address = 0;  // bytes
    std::int64_t bytes = 0;    // > 0, any alignment; partial bursts cost whole ones
    bool write = false;
    MemoryClient* client = nullptr;
    std::uint64_t tag = 0;
};

class Channel;

class MemorySystem {
  public:
    // `stats` is the parent of the group "memory". Keeps references to `queue` and `stats`.
    MemorySystem(const MemoryConfig& config, base::EventQueue& queue, base::stats::Group& stats);
    ~MemorySystem();

    const MemoryConfig& config() const;
    // True when every channel the request touches can queue it; then it has been queued.
    bool submit(const MemoryRequest& request);
    // No request queued or in flight.
    bool idle() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tilesim::arch::memory
