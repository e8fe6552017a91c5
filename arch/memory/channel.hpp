// One DRAM channel: its queues, its scheduler and its bank state machines.
//
// Models:  FR-FCFS (ready row hits first, then oldest first) with a cap on overtaking; separate
// read
//          and write queues with watermark draining; open, closed and timeout page policies;
//          all-bank refresh, which closes every row.
// Ignores: forwarding from the write queue to reads; postponed refreshes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/address_map.hpp"
#include "arch/memory/command_timing.hpp"
#include "arch/memory/memory_config.hpp"

namespace tilesim::arch::memory {

// Hears every command a channel issues; `now` in CK. For checkers and traces.
class CommandListener {
  public:
    virtual void on_command(std::size_t channel, Command command, std::size_t bank,
                            std::int64_t row, std::int64_t now) = 0;

  protected:
    ~CommandListener() = default;
};

// What a channel tells the memory system.
class ChannelOwner {
  public:
    // A read burst's data has crossed the bus at `when`.
    virtual void on_burst_read(std::uint64_t request, base::Femtoseconds when) = 0;
    // A burst has left a queue.
    virtual void on_channel_room() = 0;

  protected:
    ~ChannelOwner() = default;
};

enum class BusState : std::size_t { Idle, Read, Write, Turnaround, RowMiss, Refresh };

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
    Channel(const MemoryConfig& config, std::size_t index, base::EventQueue& queue,
            base::stats::Group& parent, ChannelOwner& owner);

    bool has_room(bool write, std::int64_t bursts) const;
    void enqueue(const Location& where, bool write, std::uint64_t request);
    bool idle() const { return reads_.size == 0 && writes_.size == 0; }
    const ChannelStats& stats() const { return stats_; }
    void listen(CommandListener* listener) { listener_ = listener; }
    void finish_statistics();

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;

  private:
    static constexpr std::int32_t kNone = -1;
    struct Burst {
        std::int64_t row = 0;
        std::uint64_t order = 0;
        std::uint64_t request = 0;
        std::int32_t next = kNone;  // of the same bank and direction, younger
        bool opened_row = false;    // an ACT was needed for it
    };
    // What a bank would do next for one direction.
    struct Candidate {
        Command command = Command::Activate;
        std::int32_t burst = kNone;
        std::uint64_t order = 0;
        bool valid = false;
    };
    struct Lane {  // a bank's bursts of one direction, oldest first
        std::int32_t head = kNone;
        std::int32_t tail = kNone;
        std::int64_t overtaken = 0;  // row hits since the head came first
        Candidate candidate;
    };
    struct Queue {
        std::vector<Lane> lanes;
        std::uint64_t banks = 0;  // bit set where a lane is not empty
        std::int64_t size = 0;
    };
    struct Choice {
        std::size_t bank = 0;
        std::int64_t when = INT64_MAX;
        bool column = false;
        std::uint64_t order = 0;
    };

    Queue& active() { return draining_ ? writes_ : reads_; }
    void choose_direction();
    void refresh_candidate(Lane& lane, std::size_t bank, bool write);
    Choice choose(std::int64_t now);
    void issue(const Choice& choice, std::int64_t now);
    void issue_column(Lane& lane, std::size_t bank, std::int64_t now);
    void remove(Lane& lane, std::size_t bank, std::int32_t burst);
    std::int64_t close_idle_rows(std::int64_t now);
    std::int64_t refresh(std::int64_t now);
    void catch_up_refreshes(std::int64_t now);
    void command(Command command, std::size_t bank, std::int64_t row, std::int64_t now);
    void account_data(std::int64_t start, bool write, bool opened_row);
    void forget_candidates(std::size_t bank);
    void wake_at(std::int64_t cycle);
    void wake_for(Lane& lane, std::size_t bank, bool write, std::int64_t now);

    MemoryConfig config_;
    std::size_t index_;
    base::Clock clock_;
    base::EventQueue& queue_;
    ChannelOwner& owner_;
    CommandListener* listener_ = nullptr;
    ChannelStats stats_;
    CommandTiming timing_;

    std::vector<Burst> bursts_;
    std::vector<std::int32_t> free_;
    Queue reads_;
    Queue writes_;
    bool draining_ = false;
    std::uint64_t order_ = 0;

    std::int64_t next_refresh_;
    std::uint64_t open_ = 0;               // bit set where a bank has a row open
    std::vector<std::int64_t> last_used_;  // CK of each bank's last column command

    std::optional<Choice> plan_;           // the next command, while nothing changes
    std::int64_t wake_ = INT64_MAX;  // CK of the event that counts
    std::int64_t busy_since_ = 0;    // CK since which bursts have been queued
    std::int64_t data_end_ = 0;      // CK after the last data on the bus
    std::int64_t refresh_end_ = 0;
    bool last_write_ = false;
};

}  // namespace tilesim::arch::memory
