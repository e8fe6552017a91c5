#include "arch/memory/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tilesim::arch::memory {

namespace {

// Calls `action(bank)` for every bank whose bit is set.
template <class Action>
void for_each_bank(std::uint64_t banks, Action action) {
    for (; banks != 0; banks &= banks - 1) {
        action(static_cast<std::size_t>(std::countr_zero(banks)));
    }
}

}  // namespace

ChannelStats::ChannelStats(Group& parent, std::string_view name)
    : Group(parent, name),
      bus(*this, "data_bus", base::stats::Unit::Cycle,
          {{"idle", "nothing queued"},
           {"read", "read data on the bus"},
           {"write", "write data on the bus"},
           {"turnaround", "between read and write data, or column spacing"},
           {"row_miss", "waiting for a row to close and open"},
           {"refresh", "waiting for a refresh"}}) {}

Channel::Channel(const MemoryConfig& config, std::size_t index, base::EventQueue& queue,
                 base::stats::Group& parent, ChannelOwner& owner)
    : config_(config),
      index_(index),
      clock_(config.clock),
      queue_(queue),
      owner_(owner),
      stats_(parent, fmt::format("channel({})", index)),
      timing_(config),
      // Channels refresh one after the other, not all at once.
      next_refresh_(config.timing.tREFI.count() * static_cast<std::int64_t>(index + 1) /
                    config.channels),
      last_used_(static_cast<std::size_t>(config.banks()), 0) {
    const auto entries =
        static_cast<std::size_t>(config.controller.read_queue + config.controller.write_queue);
    bursts_.resize(entries);
    for (std::size_t i = entries; i > 0; --i) {
        free_.push_back(static_cast<std::int32_t>(i - 1));
    }
    reads_.lanes.resize(static_cast<std::size_t>(config.banks()));
    writes_.lanes.resize(static_cast<std::size_t>(config.banks()));
}

bool Channel::has_room(bool write, std::int64_t bursts) const {
    return write ? writes_.size + bursts <= config_.controller.write_queue
                 : reads_.size + bursts <= config_.controller.read_queue;
}

void Channel::enqueue(const Location& where, bool write, std::uint64_t request) {
    const std::int64_t now = clock_.first_cycle_from(queue_.now()).count();
    if (idle()) {
        busy_since_ = now;
        catch_up_refreshes(now);
    }
    const std::int32_t index = free_.back();
    free_.pop_back();
    bursts_[static_cast<std::size_t>(index)] = {where.row, order_++, request, kNone, false};
    Queue& queue = write ? writes_ : reads_;
    const auto bank = static_cast<std::size_t>(where.bank);
    Lane& lane = queue.lanes[bank];
    if (lane.head == kNone) {
        lane.head = index;
        lane.overtaken = 0;
    } else {
        bursts_[static_cast<std::size_t>(lane.tail)].next = index;
    }
    lane.tail = index;
    // A younger burst changes the bank's next step only if it hits a row the older ones miss.
    if (!lane.candidate.valid || lane.candidate.command == Command::Precharge ||
        lane.head == index) {
        lane.candidate.valid = false;
    }
    queue.banks |= std::uint64_t{1} << bank;
    ++queue.size;
    plan_.reset();
    wake_for(lane, bank, write, now);
}

// Wakes the channel for a burst that has just come in, unless it would sleep on anyway.
void Channel::wake_for(Lane& lane, std::size_t bank, bool write, std::int64_t now) {
    const std::int64_t active_size = active().size;
    const bool turns = write && !draining_ && writes_.size >= config_.controller.write_high;
    std::int64_t when = now;
    if (write != draining_ && active_size > 0 && !turns) {
        return;  // the other direction is being served
    }
    if (write == draining_) {
        if (!lane.candidate.valid) {
            refresh_candidate(lane, bank, write);
        }
        when = std::max(now, timing_.earliest(lane.candidate.command, bank));
    }
    if (when < wake_) {
        wake_at(when);
    }
}

void Channel::wake_at(std::int64_t cycle) {
    wake_ = cycle;
    queue_.at(clock_.time_of(base::Cycles{cycle}), *this, static_cast<std::uint64_t>(cycle));
}

void Channel::on_event(std::uint64_t tag, base::Femtoseconds) {
    const auto now = static_cast<std::int64_t>(tag);
    if (now != wake_) {
        return;  // an earlier wake has taken this one's place
    }
    wake_ = INT64_MAX;
    std::int64_t next = INT64_MAX;
    if (config_.refresh && now >= next_refresh_) {
        next = refresh(now);
    } else {
        if (!plan_) {
            choose_direction();
            plan_ = choose(now);
        }
        if (plan_->when <= now) {
            const Choice choice = *plan_;
            issue(choice, now);
            // Plan the next command now: it holds unless a burst comes in before.
            choose_direction();
            plan_ = choose(now + 1);
        }
        next = std::max(plan_->when, now + 1);
        next = std::min(next, close_idle_rows(now));  // which may drop the plan
    }
    if (config_.refresh && !idle()) {
        next = std::min(next, std::max(next_refresh_, now + 1));
    }
    const bool rows_to_close =
        config_.controller.page_policy != PagePolicy::Open && !timing_.all_closed();
    if ((!idle() || rows_to_close) && next != INT64_MAX && next < wake_) {
        wake_at(next);
    }
}

void Channel::choose_direction() {
    const ControllerConfig& policy = config_.controller;
    if (draining_) {
        draining_ = writes_.size > 0 && (reads_.size == 0 || writes_.size > policy.write_low);
    } else {
        draining_ = writes_.size >= policy.write_high || (reads_.size == 0 && writes_.size > 0);
    }
}

// The bank's next step: its oldest row hit, or else closing or opening a row for its oldest burst.
void Channel::refresh_candidate(Lane& lane, std::size_t bank, bool write) {
    const std::int64_t open = timing_.open_row(bank);
    const Burst& oldest = bursts_[static_cast<std::size_t>(lane.head)];
    lane.candidate = {Command::Activate, lane.head, oldest.order, true};
    if (open == kNoRow) {
        return;
    }
    lane.candidate.command = Command::Precharge;
    const bool may_overtake = lane.overtaken < config_.controller.starvation_cap;
    for (std::int32_t i = lane.head; i != kNone; i = bursts_[static_cast<std::size_t>(i)].next) {
        const Burst& burst = bursts_[static_cast<std::size_t>(i)];
        if (burst.row == open && (i == lane.head || may_overtake)) {
            lane.candidate = {write ? Command::Write : Command::Read, i, burst.order, true};
            return;
        }
    }
}

// The command to issue now, or the earliest moment one can be.
Channel::Choice Channel::choose(std::int64_t now) {
    Queue& queue = active();
    Choice best;
    for_each_bank(queue.banks, [&](std::size_t bank) {
        Lane& lane = queue.lanes[bank];
        if (!lane.candidate.valid) {
            refresh_candidate(lane, bank, draining_);
        }
        const Command command = lane.candidate.command;
        const std::int64_t when = timing_.earliest(command, bank);
        const bool column = command == Command::Read || command == Command::Write;
        const bool ready = when <= now;
        const bool best_ready = best.when <= now;
        bool better = false;
        if ((ready && best_ready) || when == best.when) {
            better = column != best.column ? column : lane.candidate.order < best.order;
        } else {
            better = when < best.when;
        }
        if (better) {
            best = {bank, when, column, lane.candidate.order};
        }
    });
    return best;
}

void Channel::issue(const Choice& choice, std::int64_t now) {
    Lane& lane = active().lanes[choice.bank];
    Burst& burst = bursts_[static_cast<std::size_t>(lane.candidate.burst)];
    switch (lane.candidate.command) {
        case Command::Activate:
            burst.opened_row = true;
            command(Command::Activate, choice.bank, burst.row, now);
            break;
        case Command::Precharge:
            command(Command::Precharge, choice.bank, kNoRow, now);
            break;
        default:
            issue_column(lane, choice.bank, now);
            break;
    }
}

void Channel::issue_column(Lane& lane, std::size_t bank, std::int64_t now) {
    const std::int32_t index = lane.candidate.burst;
    const Burst burst = bursts_[static_cast<std::size_t>(index)];
    const bool write = draining_;
    const DramTiming& t = config_.timing;
    const std::int64_t start = now + (write ? t.write_latency : t.read_latency).count();
    timing_.issue(write ? Command::Write : Command::Read, bank, burst.row, now);
    if (listener_ != nullptr) {
        listener_->on_command(index_, write ? Command::Write : Command::Read, bank, burst.row, now);
    }
    ++(write ? stats_.writes : stats_.reads);
    if (!burst.opened_row) {
        ++stats_.row_hits;
    }
    last_used_[bank] = now;
    account_data(start, write, burst.opened_row);
    lane.overtaken = index == lane.head ? 0 : lane.overtaken + 1;
    remove(lane, bank, index);
    if (!write) {
        owner_.on_burst_read(burst.request, clock_.time_of(base::Cycles{start + t.burst.count()}));
    }
    owner_.on_channel_room();
}

void Channel::remove(Lane& lane, std::size_t bank, std::int32_t index) {
    Queue& queue = active();
    std::int32_t before = kNone;
    for (std::int32_t i = lane.head; i != index; i = bursts_[static_cast<std::size_t>(i)].next) {
        before = i;
    }
    const std::int32_t after = bursts_[static_cast<std::size_t>(index)].next;
    if (before == kNone) {
        lane.head = after;
    } else {
        bursts_[static_cast<std::size_t>(before)].next = after;
    }
    if (lane.tail == index) {
        lane.tail = before;
    }
    lane.candidate.valid = false;
    --queue.size;
    if (lane.head == kNone) {
        queue.banks &= ~(std::uint64_t{1} << bank);
    }
    free_.push_back(index);
}

void Channel::forget_candidates(std::size_t bank) {
    reads_.lanes[bank].candidate.valid = false;
    writes_.lanes[bank].candidate.valid = false;
}

void Channel::command(Command command, std::size_t bank, std::int64_t row, std::int64_t now) {
    timing_.issue(command, bank, row, now);
    plan_.reset();
    if (listener_ != nullptr) {
        listener_->on_command(index_, command, bank, row, now);
    }
    const std::uint64_t bit = std::uint64_t{1} << bank;
    if (command == Command::Activate) {
        ++stats_.activates;
        open_ |= bit;
        last_used_[bank] = now;
    } else if (command == Command::Precharge) {
        ++stats_.precharges;
        open_ &= ~bit;
    }
    forget_candidates(bank);
}

// Closes one row that the page policy no longer wants open; returns when to look again.
std::int64_t Channel::close_idle_rows(std::int64_t now) {
    const PagePolicy policy = config_.controller.page_policy;
    if (policy == PagePolicy::Open) {
        return INT64_MAX;
    }
    const std::int64_t idle_for =
        policy == PagePolicy::Closed ? 0 : config_.controller.page_timeout.count();
    std::int64_t next = INT64_MAX;
    std::size_t closing = last_used_.size();
    for_each_bank(open_ & ~reads_.banks & ~writes_.banks, [&](std::size_t bank) {
        const std::int64_t when =
            std::max(timing_.earliest(Command::Precharge, bank), last_used_[bank] + idle_for);
        if (when <= now) {
            closing = bank;
        } else {
            next = std::min(next, when);
        }
    });
    if (closing < last_used_.size()) {
        command(Command::Precharge, closing, kNoRow, now);
        return now + 1;
    }
    return next;
}

// One step towards the refresh that is due; returns when to take the next.
std::int64_t Channel::refresh(std::int64_t now) {
    std::int64_t next = INT64_MAX;
    std::size_t closing = last_used_.size();
    for_each_bank(open_, [&](std::size_t bank) {
        const std::int64_t when = timing_.earliest(Command::Precharge, bank);
        if (when <= now) {
            closing = bank;
        } else {
            next = std::min(next, when);
        }
    });
    if (closing < last_used_.size()) {
        command(Command::Precharge, closing, kNoRow, now);
        return now + 1;
    }
    if (open_ != 0) {
        return next;
    }
    const std::int64_t when = timing_.earliest(Command::Refresh, 0);
    if (when > now) {
        return when;
    }
    command(Command::Refresh, 0, kNoRow, now);
    ++stats_.refreshes;
    refresh_end_ = now + config_.timing.tRFC.count();
    next_refresh_ += config_.timing.tREFI.count();
    return now + 1;
}

// An idle channel refreshes unwatched: takes those steps now that somebody looks again.
void Channel::catch_up_refreshes(std::int64_t now) {
    if (!config_.refresh) {
        return;
    }
    const std::int64_t interval = config_.timing.tREFI.count();
    if (now - next_refresh_ > interval) {  // all but the last leave no trace but their count
        const std::int64_t skipped = (now - next_refresh_) / interval;
        stats_.refreshes += skipped;
        next_refresh_ += skipped * interval;
    }
    std::int64_t step = next_refresh_;
    while (step < now && step >= next_refresh_) {
        step = refresh(step);
    }
}

// Charges the data bus: this burst's data, and the gap before it to its cause.
void Channel::account_data(std::int64_t start, bool write, bool opened_row) {
    const DramTiming& t = config_.timing;
    const std::int64_t gap = start - data_end_;
    const std::int64_t latency = (write ? t.write_latency : t.read_latency).count();
    const std::int64_t idle = std::clamp<std::int64_t>(busy_since_ - data_end_, 0, gap);
    const std::int64_t refreshing =
        std::clamp<std::int64_t>(refresh_end_ + latency - data_end_ - idle, 0, gap - idle);
    stats_.bus.enter(BusState::Idle, data_end_);
    stats_.bus.enter(BusState::Refresh, data_end_ + idle);
    const std::int64_t rest = data_end_ + idle + refreshing;
    stats_.bus.enter(opened_row                          ? BusState::RowMiss
                     : write != last_write_ || idle == 0 ? BusState::Turnaround
                                                         : BusState::Idle,
                     rest);
    stats_.bus.enter(write ? BusState::Write : BusState::Read, start);
    data_end_ = start + t.burst.count();
    stats_.bus.enter(BusState::Idle, data_end_);
    last_write_ = write;
}

void Channel::finish_statistics() {
    const std::int64_t now = clock_.cycle_at(queue_.now()).count();
    stats_.bus.charge_until(std::max(now, data_end_));
}

}  // namespace tilesim::arch::memory
