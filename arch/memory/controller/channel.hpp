// One DRAM channel as the memory system sees it: bursts come in, commands go out.
//
// A channel knows what will arrive within the memory's lookahead, so it is asked to decide every
// command up to there at once: exactly, since nothing that is not yet known can arrive before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arch/memory/controller/arrival_line.hpp"
#include "arch/memory/controller/channel_stats.hpp"
#include "arch/memory/controller/guest_turn.hpp"
#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/policy/bursts.hpp"
#include "arch/memory/port/bank_counts.hpp"
#include "arch/memory/port/memory_totals.hpp"

namespace tilesim::arch::memory::controller {

// Hears every command a channel issues; `now` in CK. For checkers and traces.
class CommandListener {
  public:
    virtual void on_command(std::size_t channel, device::Command command, std::size_t bank,
                            std::int64_t row, std::int64_t now) = 0;
    // The same with the burst that a column command serves; by default only what is above.
    virtual void on_column(std::size_t channel, device::Command command, std::size_t bank,
                           std::int64_t row, std::int64_t now, const policy::Burst& /*burst*/) {
        on_command(channel, command, bank, row, now);
    }

  protected:
    ~CommandListener() = default;
};

// What a channel tells the memory system.
class ChannelOwner {
  public:
    // The data of so many read bursts have crossed the bus at CK `when`, or so many write bursts
    // have been queued then. `when` may lie in the future of the event queue.
    virtual void on_bursts_done(std::uint64_t request, std::int64_t bursts, std::int64_t when) = 0;

  protected:
    ~ChannelOwner() = default;
};

class Channel {
  public:
    Channel(const device::MemoryConfig& config, std::size_t index, base::stats::Group& parent);
    virtual ~Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    // Nothing on its way, nothing queued, no guest.
    virtual bool idle() const = 0;
    // CK at which the last data so far leaves the bus.
    virtual std::int64_t data_end() const = 0;
    const ChannelStats& stats() const { return stats_; }
    virtual port::QueuePeaks peaks() const = 0;
    // Of ordinary requests; a guest counts his own commands.
    const std::vector<port::BankCounts>& bank_counts() const { return bank_counts_; }
    virtual device::CommandBus& command_bus() = 0;
    // CK of the next refresh of a channel that nothing else is asked of; otherwise never.
    virtual std::int64_t next_unwatched_refresh() const = 0;

    // What is to come: bursts, and a guest, to whom the channel is lent from CK `from` on: every
    // row is closed first, refreshes come between his turns, requests wait until he has finished.
    ArrivalLine& arrivals() { return arrivals_; }
    void invite(ChannelGuest& guest, std::int64_t from) { guest_.invite(guest, from); }
    void listen(CommandListener* listener) { listener_ = listener; }
    // Decides what happens from CK `now` on and before CK `until`; returns when to go on.
    virtual std::int64_t run(std::int64_t now, std::int64_t until) = 0;
    // Takes the steps of such refreshes before CK `now`. For its bursts a channel need not be told:
    // it does so itself when one comes.
    virtual void refresh_unwatched(std::int64_t now) = 0;
    // Adds to the statistics how long rows have been open until CK `now`.
    virtual void count_open_rows(std::int64_t now) = 0;
    // Adds that, and charges the bus until CK `now`.
    virtual void finish_statistics(std::int64_t now) = 0;

  protected:
    const std::size_t index_;
    ArrivalLine arrivals_;
    GuestTurn guest_;
    CommandListener* listener_ = nullptr;
    ChannelStats stats_;
    std::vector<port::BankCounts> bank_counts_;
};

// One under the scheduler, page policy and refresh policy of the configuration, which must outlive
// it.
std::unique_ptr<Channel> make_channel(const device::MemoryConfig& config, std::size_t index,
                                      base::stats::Group& parent, ChannelOwner& owner);

}  // namespace tilesim::arch::memory::controller
