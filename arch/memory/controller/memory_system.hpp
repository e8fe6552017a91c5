// The memory under every device: takes reads and writes of contiguous bytes, answers when they are
// done.
//
// A request is cut into bursts; each channel's controller schedules its own (see channel.hpp). A
// request completes when its last burst's data has crossed the DRAM bus (reads) or has been
// accepted by the controller's write queue (writes). What finds no room waits before its
// controller, so clients bound what they have under way.
//
// Ignores: caches and address translation above DRAM; ECC; power-down states.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/stats.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/device/address_map.hpp"
#include "arch/memory/port/bank_counts.hpp"
#include "arch/memory/controller/channel.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/port/memory_totals.hpp"

namespace tilesim::arch::memory::controller {

class MemoryClient {
  public:
    // The request that was submitted with `tag` is complete at `when`. This is called as soon as
    // that is known: `when` may lie in the future, and answers come in no order of time.
    virtual void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) = 0;

  protected:
    ~MemoryClient() = default;
};

struct MemoryRequest {
    std::int64_t address = 0;  // bytes
    std::int64_t bytes = 0;    // > 0, any alignment; partial bursts cost whole ones
    bool write = false;
    MemoryClient* client = nullptr;
    std::uint64_t tag = 0;
    // When it reaches the controllers: the memory's lookahead from now, or later.
    base::Femtoseconds arrival{0};
};

class MemorySystem final : public ChannelOwner {
  public:
    // `lookahead` > 0: how long before its arrival every request is submitted, the shortest latency
    // between any client and the controllers. The longer, the more an event decides; when a
    // request is complete does not depend on it. `stats` is the parent of the group "memory".
    MemorySystem(const device::MemoryConfig& config, base::Femtoseconds lookahead, base::EventQueue& queue,
                 base::stats::Group& stats);

    const device::MemoryConfig& config() const { return config_; }
    void submit(const MemoryRequest& request);
    // Lends a channel to a guest once `from` has come.
    void lend(std::size_t channel, ChannelGuest& guest, base::Femtoseconds from);
    // No request queued or in flight.
    bool idle() const;
    // When the last data so far leaves a bus.
    base::Femtoseconds busy_until() const;
    port::MemoryTotals totals() const;
    port::BankUse bank_use() const;  // by requests; a guest counts his own commands
    const std::vector<std::unique_ptr<Channel>>& channels() const { return channels_; }
    void listen(CommandListener* listener);
    void finish_statistics();

    void on_burst_done(std::uint64_t request, std::int64_t when) override;

  private:
    struct Pending {
        MemoryClient* client = nullptr;
        std::uint64_t tag = 0;
        std::int64_t bursts_left = 0;
        std::int64_t last = 0;  // CK its latest burst is done
    };
    std::uint64_t slot();

    device::MemoryConfig config_;
    device::AddressMap map_;
    base::Clock clock_;
    base::stats::Group group_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<Pending> pending_;
    std::vector<std::uint64_t> free_;
    std::int64_t bytes_requested_ = 0;
};

}  // namespace tilesim::arch::memory::controller
