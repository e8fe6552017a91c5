// The memory under every device: takes reads and writes of contiguous bytes, answers when they are
// done.
//
// A request is cut into bursts; each channel's controller schedules its own
// (scheduled_channel.hpp). A request completes when its last burst's data has crossed the DRAM bus
// (reads) or has been accepted by the controller's write queue (writes). What finds no room waits
// before its controller, so clients bound what they have under way.
//
// Ignores: caches and address translation above DRAM; ECC; power-down states.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arch/base/block.hpp"
#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/slot_pool.hpp"
#include "arch/base/stats.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/controller/channel.hpp"
#include "arch/memory/controller/channel_group.hpp"
#include "arch/memory/device/address_map.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/port/bank_counts.hpp"
#include "arch/memory/port/memory_port.hpp"
#include "arch/memory/port/memory_totals.hpp"

namespace tilesim::arch::memory::controller {

class MemorySystem final : public port::MemoryPort, private ChannelOwner {
  public:
    // `lookahead` > 0: how long before its arrival every request is submitted, the shortest latency
    // between any client and the controllers. The longer, the more an event decides; when a
    // request is complete does not depend on it. `stats` is the parent of the group "memory".
    MemorySystem(const device::MemoryConfig& config, base::Femtoseconds lookahead,
                 base::EventQueue& queue, base::stats::Group& stats);

    const device::MemoryConfig& config() const { return config_; }
    void submit(const port::MemoryRequest& request) override;
    bool idle() const override;
    base::Femtoseconds busy_until() const override;
    base::Femtoseconds lookahead() const override { return lookahead_; }
    base::Hertz clock() const override { return config_.clock; }
    // Lends a channel to a guest once `from` has come.
    void lend(std::size_t channel, ChannelGuest& guest, base::Femtoseconds from);
    port::MemoryTotals totals() const;
    port::BankUse bank_use() const;  // by requests; a guest counts his own commands
    const std::vector<std::unique_ptr<Channel>>& channels() const { return channels_; }
    void listen(CommandListener* listener);
    // Somebody asks this late: to be called before the first request.
    void limit_lookahead(base::Femtoseconds most);
    // Channels and their banks, by the names of the statistics.
    std::vector<base::Block> blocks() const;
    // What nobody has watched is in the totals: refreshes of idle channels, and how long rows have
    // been open until now.
    void count_unwatched();
    void finish_statistics();

  private:
    std::int64_t refresh_unwatched();
    void on_bursts_done(std::uint64_t request, std::int64_t bursts, std::int64_t when) override;
    // Where a channel hears of what is to come: found without dividing by the size of its group.
    struct Seat {
        ChannelGroup* group = nullptr;
        std::size_t member = 0;
        ArrivalLine* arrivals = nullptr;
        // While a request is taken: what the channel last heard of, and of which request.
        Arrival* part = nullptr;
        std::int64_t part_of = 0;
    };
    struct Pending {
        port::MemoryClient* client = nullptr;
        std::uint64_t tag = 0;
        std::int64_t bursts_left = 0;
        std::int64_t last = 0;  // CK its latest burst is done
    };

    device::MemoryConfig config_;
    device::AddressMap map_;
    base::Clock clock_;
    base::Femtoseconds lookahead_;
    base::EventQueue& queue_;
    base::stats::Group group_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<std::unique_ptr<ChannelGroup>> groups_;
    std::vector<Seat> seats_;          // by channel
    base::SlotPool<Pending> pending_;  // by request
    std::int64_t requests_ = 0;        // so far
    std::int64_t bytes_requested_ = 0;
    std::int64_t end_ = 0;  // of the addresses asked for
};

}  // namespace tilesim::arch::memory::controller
