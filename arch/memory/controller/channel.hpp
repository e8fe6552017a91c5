// One DRAM channel: its queues, its scheduler and its bank state machines.
//
// Models:  FR-FCFS (ready row hits first, then oldest first) with a cap on overtaking; separate
//          read and write queues with watermark draining, filled in order of arrival; a row opened
//          for a burst stays open for it when the direction changes; open, closed and timeout page
//          policies; all-bank refresh, which closes every row.
// A channel knows what will arrive within the memory's lookahead, so one event decides every
// command up to there: exactly, since nothing that is not yet known can arrive before.
// Ignores: forwarding from the write queue to reads; postponed refreshes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/ring.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/device/address_map.hpp"
#include "arch/memory/port/bank_counts.hpp"
#include "arch/memory/controller/channel_guest.hpp"
#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/controller/rank.hpp"

namespace tilesim::arch::memory::controller {

// Hears every command a channel issues; `now` in CK. For checkers and traces.
class CommandListener {
  public:
    virtual void on_command(std::size_t channel, device::Command command, std::size_t bank,
                            std::int64_t row, std::int64_t now) = 0;

  protected:
    ~CommandListener() = default;
};

// What a channel tells the memory system.
class ChannelOwner {
  public:
    // A read burst's data has crossed the bus at CK `when`, or a write burst has been queued then.
    // `when` may lie in the future of the event queue.
    virtual void on_burst_done(std::uint64_t request, std::int64_t when) = 0;

  protected:
    ~ChannelOwner() = default;
};

enum class BusState : std::size_t { Idle, Read, Write, Turnaround, RowMiss, Refresh, Guest };

struct ChannelStats : base::stats::Group {
    ChannelStats(Group& parent, std::string_view name);
    base::stats::StateAccount bus;
    base::stats::Counter reads{*this, "reads", base::stats::Unit::Count, "RD commands"};
    base::stats::Counter writes{*this, "writes", base::stats::Unit::Count, "WR commands"};
    base::stats::Counter activates{*this, "activates", base::stats::Unit::Count, "ACT commands"};
    base::stats::Counter precharges{*this, "precharges", base::stats::Unit::Count, "PRE commands"};
    base::stats::Counter refreshes{*this, "refreshes", base::stats::Unit::Count, "REF commands"};
    base::stats::Counter row_hits{*this, "row_hits", base::stats::Unit::Count,
                                  "bursts that found their row open"};
};

class Channel final : public base::EventHandler {
  public:
    // `lookahead`: bursts come in at least this long before they arrive.
    Channel(const device::MemoryConfig& config, std::size_t index, base::Femtoseconds lookahead,
            base::EventQueue& queue, base::stats::Group& parent, ChannelOwner& owner);

    // Some of a request's bursts, all for this channel.
    struct Arrival {
        std::int64_t when = 0;  // CK
        std::uint64_t request = 0;
        std::array<device::Location, 4> bursts{};
        std::uint8_t count = 0;
        std::uint8_t let_in = 0;  // of them
        bool write = false;
    };
    // To be filled at once: they reach the controller at CK `when` and wait there for room in their
    // queue, behind what arrived before them.
    Arrival& expect(bool write, std::uint64_t request, std::int64_t when);
    // Lends the channel to a guest from CK `from` on: every row is closed first, refreshes come
    // between his turns, requests wait until he has finished. One guest at a time.
    void lend(ChannelGuest& guest, std::int64_t from);
    // Nothing on its way, nothing queued, no guest.
    bool idle() const { return queued() == 0 && arrivals_.empty() && guest_ == nullptr; }
    // When the last data so far leaves the bus.
    base::Femtoseconds busy_until() const { return clock_.time_of(base::Cycles{data_end_}); }
    const ChannelStats& stats() const { return stats_; }
    // Of ordinary requests; a guest counts his own commands.
    const std::vector<port::BankCounts>& bank_counts() const { return bank_counts_; }
    void listen(CommandListener* listener) { listener_ = listener; }
    void finish_statistics();

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;

  private:
    static constexpr std::int32_t kNone = -1;
    struct Burst {
        std::int64_t row = 0;
        std::int64_t order = 0;  // of those let in; lower is older
        std::uint64_t request = 0;
        std::int32_t next = kNone;  // of the same list, younger
        bool opened_row = false;    // an ACT was needed for it
    };
    struct List {  // of bursts, oldest first
        std::int32_t head = kNone;
        std::int32_t tail = kNone;
        bool empty() const { return head == kNone; }
    };
    struct Lane {   // a bank's bursts of one direction
        List hits;  // to the row that is open
        List others;
        std::int64_t overtaken = 0;  // row hits since the oldest burst came first
        bool empty() const { return hits.empty() && others.empty(); }
    };
    struct Queue {  // bit masks over banks
        explicit Queue(std::int64_t bursts) : capacity(bursts) {}
        std::array<Lane, device::kMaxBanks> lanes;
        std::array<Age, device::kMaxBanks> ages;  // of the burst each lane would serve next
        std::uint64_t banks = 0;          // a lane is not empty
        std::uint64_t hits = 0;           // its next step is a column command: its row is open
        std::uint64_t owed = 0;           // its open row was opened for a burst that still waits
        std::int64_t size = 0;
        std::int64_t capacity;
    };
    struct Choice {
        device::Command command = device::Command::Activate;
        Rank rank;

        // Earlier than any command can be asked for: has to be found anew.
        void drop() { rank.when = INT64_MIN; }
        void consider(const Choice& other) {
            if (other.rank.before(rank)) {
                *this = other;
            }
        }
    };

    // The direction being served, and the other, whose opened rows are still made use of.
    Queue& active() { return draining_ ? writes_ : reads_; }
    Queue& passive() { return draining_ ? reads_ : writes_; }
    device::Command column() const { return draining_ ? device::Command::Write : device::Command::Read; }
    Queue& queue_of(device::Command column) { return column == device::Command::Write ? writes_ : reads_; }
    std::int64_t queued() const { return reads_.size + writes_.size; }
    Burst& burst(std::int32_t index) { return bursts_[static_cast<std::size_t>(index)]; }
    std::int64_t step(std::int64_t now);
    std::int64_t serve_queues(std::int64_t& since);
    std::int64_t undisturbed_until(std::int64_t now) const;
    std::int64_t serve_guest(std::int64_t now);
    std::optional<std::int64_t> close_all_rows(std::int64_t now);
    [[gnu::noinline]] void admit(std::int64_t now);  // inlined, it slows serve_queues down
    void enqueue(Queue& queue, device::Location where, std::uint64_t request, std::int64_t now);
    bool one_waits_for_room(std::int64_t now) const;
    std::int64_t next_arrival(std::int64_t now) const;
    void choose_direction();
    void append(List& list, std::int32_t index);
    std::int32_t take_first(List& list);
    bool first_is_older(const List& list, const List& other) const;
    void find_next_step(Queue& queue, std::size_t bank, std::int64_t now);
    void offer(Choice& plan, device::Command command, Age age, std::int64_t now) const;
    void pick_hits(Lane& lane, std::int64_t row);
    void return_hits(Lane& lane);
    const Choice& choose(std::int64_t now);
    void plan_column(std::int64_t now);
    void plan_row(std::int64_t now);
    void consider_columns(const Queue& queue, std::uint64_t banks, device::Command column,
                          std::int64_t now);
    void issue(device::Command issued, std::size_t bank, std::int64_t now);
    void issue_column(device::Command command, std::size_t bank, std::int64_t now);
    void drop_plans();
    std::int64_t close_idle_rows(std::int64_t now);
    std::int64_t close_a_row(std::uint64_t banks, std::int64_t idle_for, std::int64_t now);
    std::int64_t refresh(std::int64_t now);
    void catch_up_refreshes(std::int64_t now);
    void command(device::Command command, std::size_t bank, std::int64_t row, std::int64_t now);
    void account_data(std::int64_t start, bool write, bool opened_row);
    void wake_at(std::int64_t cycle);

    device::MemoryConfig config_;
    std::size_t index_;
    base::Clock clock_;
    base::Femtoseconds lookahead_;
    base::EventQueue& queue_;
    ChannelOwner& owner_;
    CommandListener* listener_ = nullptr;
    ChannelStats stats_;
    std::vector<port::BankCounts> bank_counts_;
    device::CommandTiming timing_;

    base::Ring<Arrival> arrivals_;    // in order of arrival, then of submission
    std::vector<Burst> bursts_;       // of both queues
    std::vector<std::int32_t> free_;  // indices of these that are none's
    Queue reads_;
    Queue writes_;
    bool draining_ = false;
    std::int64_t order_ = 0;

    std::int64_t next_refresh_;
    std::uint64_t open_ = 0;                           // bit set where a bank has a row open
    std::array<std::int64_t, device::kMaxBanks> last_used_{};  // CK of each bank's last column command

    Choice column_plan_;             // the next RD or WR, kept while nothing changes it
    Choice row_plan_;                // the next ACT or PRE, likewise
    std::int64_t wake_ = INT64_MAX;  // CK of the event that counts
    std::int64_t decided_ = 0;       // every command before this CK has been decided
    bool deciding_ = false;
    std::int64_t busy_since_ = 0;  // CK since which bursts have been queued
    std::int64_t data_end_ = 0;    // CK after the last data on the bus
    std::int64_t refresh_end_ = 0;
    ChannelGuest* guest_ = nullptr;
    std::int64_t guest_from_ = 0;
    std::int64_t guest_until_ = 0;  // CK of the end of his present turn
    bool last_write_ = false;
};

}  // namespace tilesim::arch::memory::controller
