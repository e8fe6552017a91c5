// A channel's controller: its parts and the order in which they have their say.
//
// Models:  separate read and write queues with watermark draining, filled in order of arrival; a
//          row opened for a burst stays open for it when the direction changes; refresh before all
//          else, or of some banks beside it, then the guest, then the queues, then the page policy.
// Ignores: forwarding from the write queue to reads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "arch/memory/controller/bus_account.hpp"
#include "arch/memory/controller/channel.hpp"
#include "arch/memory/controller/page_keeper.hpp"
#include "arch/memory/controller/refresh_engine.hpp"
#include "arch/memory/policy/bursts.hpp"
#include "arch/memory/policy/choice.hpp"

namespace tilesim::arch::memory::controller {

template <class Scheduler>
class ScheduledChannel final : public Channel {
  public:
    ScheduledChannel(const device::MemoryConfig& config, std::size_t index,
                     base::stats::Group& parent, ChannelOwner& owner)
        : Channel(config, index, parent),
          dram_(config.timing),
          owner_(owner),
          timing_(config),
          bursts_(config.controller),
          scheduler_(config.controller),
          pages_(config),
          refresh_(config, index),
          account_(stats_.bus),
          pause_(config.split_command_bus ? 0 : 1) {}

    bool idle() const override {
        return bursts_.size() == 0 && arrivals_.empty() && !guest_.expected();
    }
    std::int64_t data_end() const override { return account_.data_end(); }
    device::CommandBus& command_bus() override { return timing_.bus(); }
    std::int64_t next_unwatched_refresh() const override {
        return bursts_.size() == 0 && !guest_.expected() ? refresh_.next_unwatched(idle_since_)
                                                         : INT64_MAX;
    }
    port::QueuePeaks peaks() const override {
        port::QueuePeaks peaks = peaks_;
        peaks.reads = bursts_.queue(false).most;
        // Room is also what bounds a drain.
        peaks.writes = std::max(bursts_.queue(true).most, bursts_.longest_drain());
        return peaks;
    }
    std::int64_t run(std::int64_t now, std::int64_t until) override {
        until_ = until;
        while (now < until) {
            now = step(now);
        }
        return now;
    }
    void refresh_unwatched(std::int64_t now) override {
        if (next_unwatched_refresh() < now) {
            catch_up_refreshes(now);
        }
    }
    void finish_statistics(std::int64_t now) override {
        account_.finish(now);
        count_open_rows(now);
    }
    void count_open_rows(std::int64_t now) override {
        const std::int64_t end = std::max(now, last_opened_);
        const auto open = static_cast<std::int64_t>(std::popcount(timing_.open_banks()));
        const std::int64_t open_ranks = timing_.open_ranks();
        stats_.row_open += row_open_ + open * end;
        stats_.any_row_open += any_row_open_ + open_ranks * end;
        row_open_ = -open * end;
        any_row_open_ = -open_ranks * end;
    }

  private:
    using Command = device::Command;
    static constexpr std::uint64_t kEveryBank = ~std::uint64_t{0};

    std::int64_t step(std::int64_t now);
    std::int64_t next_after(std::int64_t next, std::int64_t now) const;
    [[gnu::noinline]] void admit(std::int64_t now);  // inlined, it slows serve_queues down
    void enqueue(const Arrival& from, std::uint32_t bursts, std::int64_t now);
    std::int64_t serve_queues(std::int64_t& since);
    std::int64_t queues_alone_until() const;
    // The first CK after `now` at which a burst may come or the queues are not alone any more.
    std::int64_t undisturbed_until(std::int64_t now, std::int64_t end) const {
        return std::max(std::min(end, arrivals_.next(now)), now + 1);
    }
    void turn_if_due() {
        if (bursts_.choose_direction()) {
            scheduler_.on_turn();
            std::int64_t& waiting = bursts_.draining() ? peaks_.writes_at_turn : peaks_.writes_left;
            waiting = std::max(waiting, bursts_.queue(true).size);
        }
    }
    void find_next_step(policy::BurstQueue& queue, std::size_t bank, std::int64_t now);
    void issue(Command command, std::size_t bank, std::int64_t now);
    template <bool write>  // known when compiled: no step of it asks again
    void issue_column(std::size_t bank, std::int64_t now);
    void activate(std::size_t bank, std::int64_t now);
    void precharge(std::size_t bank, std::int64_t now);
    void tell(Command command, std::size_t bank, std::int64_t row, std::int64_t now) {
        if (listener_ != nullptr) {
            listener_->on_command(index_, command, bank, row, now);
        }
    }
    std::int64_t close_idle_rows(std::int64_t now);
    std::optional<std::int64_t> close_rows(std::uint64_t banks, std::int64_t now);
    std::int64_t precharge_all(std::uint64_t rank, std::int64_t now);
    void row_left(std::size_t bank, std::int64_t now);
    // For statistics: a bank's row opens (the set of open banks does not have it yet), or those of
    // some banks of a rank have closed.
    void row_opens(std::size_t bank, std::int64_t now) {
        row_open_ -= now;
        any_row_open_ -= timing_.rank_open(std::uint64_t{1} << bank) ? 0 : now;
        last_opened_ = now;
    }
    void rows_have_closed(std::uint64_t banks, std::int64_t now) {
        row_open_ += std::popcount(banks) * now;
        any_row_open_ += timing_.rank_open(banks) ? 0 : now;
    }
    std::int64_t refresh(std::int64_t now);
    void refresh_some(std::int64_t now);
    void on_refreshed(const policy::RefreshRound& round, std::int64_t now);
    void catch_up_refreshes(std::int64_t now);
    std::int64_t serve_guest(std::int64_t now);

    const device::DramTiming dram_;
    ChannelOwner& owner_;
    device::CommandTiming timing_;
    policy::Bursts bursts_;
    Scheduler scheduler_;
    PageKeeper pages_;
    RefreshEngine refresh_;
    BusAccount account_;
    const std::int64_t pause_;  // CK after a command before another can go, on whichever bus
    std::int64_t until_ = 0;    // decisions end there
    // Where there are no bursts: CK since which there have been none, or from which the next
    // refresh may follow the last.
    std::int64_t idle_since_ = 0;
    // CK that rows have been open, summed over banks, and that any of a rank has: less the CK at
    // which those open now have opened.
    std::int64_t row_open_ = 0;
    std::int64_t any_row_open_ = 0;
    std::int64_t last_opened_ = 0;
    port::QueuePeaks peaks_;  // but those of the queues, which know theirs
};

}  // namespace tilesim::arch::memory::controller

#include "arch/memory/controller/channel_commands.hpp"
#include "arch/memory/controller/channel_decisions.hpp"
