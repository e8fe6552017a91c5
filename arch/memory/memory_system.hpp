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
#include "arch/memory/address_map.hpp"
#include "arch/memory/channel.hpp"
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

// What the memory has done so far, over all channels.
struct MemoryTotals {
    std::int64_t bytes_requested = 0;
    std::int64_t bytes_read = 0;  // on the DRAM bus: whole bursts
    std::int64_t bytes_written = 0;
    std::int64_t row_hits = 0;  // bursts that found their row open
    std::int64_t bursts = 0;
    std::int64_t activates = 0;
    std::int64_t refreshes = 0;
};

class MemorySystem final : public base::EventHandler, public ChannelOwner {
  public:
    // `stats` is the parent of the group "memory". Keeps references to `queue` and `stats`.
    MemorySystem(const MemoryConfig& config, base::EventQueue& queue, base::stats::Group& stats);

    const MemoryConfig& config() const { return config_; }
    // True when every channel the request touches can queue it; then it has been queued.
    bool submit(const MemoryRequest& request);
    // No request queued or in flight.
    bool idle() const;
    MemoryTotals totals() const;
    const std::vector<std::unique_ptr<Channel>>& channels() const { return channels_; }
    void listen(CommandListener* listener);
    void finish_statistics();

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_burst_read(std::uint64_t request, base::Femtoseconds when) override;
    void on_channel_room() override;

  private:
    struct Pending {
        MemoryClient* client = nullptr;
        std::uint64_t tag = 0;
        std::int64_t bursts_left = 0;
        base::Femtoseconds last{0};  // end of its latest data
    };
    std::uint64_t slot();

    MemoryConfig config_;
    AddressMap map_;
    base::EventQueue& queue_;
    base::stats::Group group_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<Pending> pending_;
    std::vector<std::uint64_t> free_;
    std::vector<Location> touched_;          // scratch of submit
    std::vector<std::int64_t> per_channel_;  // scratch of submit
    std::vector<MemoryClient*> refused_;     // clients to tell when there is room
    bool room_event_ = false;
    std::int64_t bytes_requested_ = 0;
};

}  // namespace tilesim::arch::memory
