#include "arch/memory/controller/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "arch/base/check.hpp"

namespace tilesim::arch::memory::controller {

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
    : Group(parent, name, "dram_channel"),
      bus(*this, "data_bus", base::stats::Unit::Cycle,
          {{"idle", "nothing queued"},
           {"read", "read data on the bus"},
           {"write", "write data on the bus"},
           {"turnaround", "between read and write data, or column spacing"},
           {"row_miss", "waiting for a row to close and open"},
           {"refresh", "waiting for a refresh"},
           {"guest", "lent to processing in memory"}}) {}

Channel::Channel(const device::MemoryConfig& config, std::size_t index, base::Femtoseconds lookahead,
                 base::EventQueue& queue, base::stats::Group& parent, ChannelOwner& owner)
    : config_(config),
      index_(index),
      clock_(config.clock),
      lookahead_(lookahead),
      queue_(queue),
      owner_(owner),
      stats_(parent, fmt::format("channel({})", index)),
      bank_counts_(static_cast<std::size_t>(config.banks())),
      timing_(config),
      bursts_(
          static_cast<std::size_t>(config.controller.read_queue + config.controller.write_queue)),
      reads_(config.controller.read_queue),
      writes_(config.controller.write_queue),
      // Channels refresh one after the other, not all at once.
      next_refresh_(config.timing.tREFI.count() * static_cast<std::int64_t>(index + 1) /
                    config.channels) {
    for (std::int64_t room = reads_.capacity + writes_.capacity; room > 0; --room) {
        free_.push_back(static_cast<std::int32_t>(room - 1));
    }
}

Channel::Arrival& Channel::expect(bool write, std::uint64_t request, std::int64_t when) {
    SIM_CHECK(when >= decided_, "a burst arrives at CK {}, commands are decided up to {}", when,
              decided_);
    if (!deciding_ && when < wake_) {
        wake_at(when);
    }
    Arrival& arrival =
        base::insert_before(arrivals_, [when](const Arrival& other) { return other.when > when; });
    arrival.when = when;
    arrival.request = request;
    arrival.write = write;
    return arrival;
}

// Lets in, in order of arrival, what has arrived and finds room.
void Channel::admit(std::int64_t now) {
    while (!arrivals_.empty() && arrivals_.front().when <= now) {
        Arrival& first = arrivals_.front();
        const bool write = first.write;
        Queue& queue = write ? writes_ : reads_;
        if (queue.size == queue.capacity) {
            return;
        }
        const std::uint64_t request = first.request;
        const device::Location where = first.bursts[first.let_in++];
        if (first.let_in == first.count) {
            arrivals_.pop_front();
        }
        enqueue(queue, where, request, now);
        if (write) {  // taken over: done as far as the client is concerned, who may submit the next
            owner_.on_burst_done(request, now);
        }
    }
}

void Channel::enqueue(Queue& queue, device::Location where, std::uint64_t request, std::int64_t now) {
    if (queued() == 0) {
        busy_since_ = now;
        order_ = 0;
        catch_up_refreshes(now);
        drop_plans();
    }
    const std::int32_t index = free_.back();
    free_.pop_back();
    const std::size_t bank = where.bank();
    Burst& entering = burst(index);
    entering.row = where.row();
    SIM_CHECK(order_ < Age::kOrders, "channel {} has never been idle for {} bursts", index_,
              order_);
    entering.order = order_++;
    entering.request = request;
    entering.opened_row = false;
    Lane& lane = queue.lanes[bank];
    if (lane.empty()) {
        lane.overtaken = 0;
    }
    List& list = entering.row == timing_.open_row(bank) ? lane.hits : lane.others;
    const bool is_first = list.empty();
    append(list, index);
    queue.banks |= std::uint64_t{1} << bank;
    ++queue.size;
    if (is_first) {
        find_next_step(queue, bank, now);
    }
}

void Channel::append(List& list, std::int32_t index) {
    burst(index).next = kNone;
    if (list.empty()) {
        list.head = index;
    } else {
        burst(list.tail).next = index;
    }
    list.tail = index;
}

std::int32_t Channel::take_first(List& list) {
    const std::int32_t first = list.head;
    list.head = burst(first).next;
    return first;
}

bool Channel::one_waits_for_room(std::int64_t now) const {
    return !arrivals_.empty() && arrivals_.front().when <= now;
}

// The next burst's arrival; one that waits for room comes in when a burst leaves.
std::int64_t Channel::next_arrival(std::int64_t now) const {
    const bool one_comes = !arrivals_.empty() && arrivals_.front().when > now;
    return one_comes ? arrivals_.front().when : INT64_MAX;
}

void Channel::wake_at(std::int64_t cycle) {
    wake_ = cycle;
    queue_.at(clock_.time_of(base::Cycles{cycle}), *this, static_cast<std::uint64_t>(cycle));
}

void Channel::on_event(std::uint64_t tag, base::Femtoseconds time) {
    auto now = static_cast<std::int64_t>(tag);
    if (now != wake_) {
        return;  // an earlier wake has taken this one's place
    }
    wake_ = INT64_MAX;
    decided_ = clock_.first_cycle_from(time + lookahead_).count();
    deciding_ = true;
    while (now < decided_) {
        now = step(now);
    }
    deciding_ = false;
    if (now != INT64_MAX) {
        wake_at(now);
    }
}

void Channel::lend(ChannelGuest& guest, std::int64_t from) {
    SIM_CHECK(guest_ == nullptr, "a channel has one guest at a time");
    SIM_CHECK(from >= decided_, "a guest comes at CK {}, commands are decided up to {}", from,
              decided_);
    guest_ = &guest;
    guest_from_ = from;
    if (!deciding_ && from < wake_) {
        wake_at(from);
    }
}

// Gives the guest his next turn once every row is closed; returns when to look again.
std::int64_t Channel::serve_guest(std::int64_t now) {
    if (const auto later = close_all_rows(now)) {
        return *later;
    }
    const std::int64_t quiet = timing_.earliest(device::Command::Refresh, 0);
    if (quiet > now) {
        return quiet;
    }
    if (!guest_->finished()) {
        guest_until_ = guest_->run(now, config_.refresh ? next_refresh_ : INT64_MAX);
        timing_.quiet_until(guest_until_);
        stats_.bus.charge(BusState::Idle, std::max(now, data_end_));
        data_end_ = guest_until_;
        stats_.bus.charge(BusState::Guest, data_end_);
        return guest_until_;
    }
    ChannelGuest* left = std::exchange(guest_, nullptr);
    if (const auto again = left->on_left(now)) {
        guest_ = left;
        guest_from_ = *again;
    }
    return now + 1;
}

// Does what is due at `now`; returns the next CK at which something may be.
std::int64_t Channel::step(std::int64_t now) {
    admit(now);
    std::int64_t next = INT64_MAX;
    if (now < guest_until_) {
        return std::min(guest_until_, next_arrival(now));
    }
    if (config_.refresh && now >= next_refresh_ && (queued() > 0 || guest_ != nullptr)) {
        next = refresh(now);
    } else if (guest_ != nullptr && now >= guest_from_) {
        next = serve_guest(now);
    } else {
        next = serve_queues(now);
        next = std::min(next, close_idle_rows(now));  // which may drop a plan
    }
    // One that is due already decides `next` itself.
    const std::int64_t next_refresh =
        config_.refresh && next_refresh_ > now ? next_refresh_ : INT64_MAX;
    const bool rows_to_close =
        config_.controller.page_policy != device::PagePolicy::Open && !timing_.all_closed();
    if (guest_ != nullptr) {
        if (now < guest_from_) {
            next = std::min({next, guest_from_, next_refresh});
        }
        return std::min(next, next_arrival(now));
    }
    if (queued() == 0 && !rows_to_close) {
        next = INT64_MAX;  // refreshed unwatched until a burst arrives
    } else if (queued() > 0) {
        next = std::min(next, next_refresh);
    }
    return std::min(next, next_arrival(now));
}

// Issues commands from `since` on, and lets bursts in where there is room again, while these alone
// decide what comes next; returns when to look again, `since` is then when bursts were last let in.
// Everything is inlined into it: a command takes a dozen small steps, and the calls alone
// took a tenth of a whole GEMM's run.
[[gnu::flatten]] std::int64_t Channel::serve_queues(std::int64_t& since) {
    std::int64_t now = since;
    std::int64_t limit = undisturbed_until(now);
    bool one_waits = one_waits_for_room(now);
    choose_direction();
    while (true) {
        const Choice& choice = choose(now);  // not copied: it has just been written
        const std::int64_t when = choice.rank.when;
        if (when >= limit) {
            return when;
        }
        const device::Command command = choice.command;
        issue(command, choice.rank.age.bank(), when);
        now = when + 1;
        const bool has_made_room = command == device::Command::Read || command == device::Command::Write;
        if (now >= limit || queued() == 0) {
            return now;
        }
        if (has_made_room) {
            if (one_waits) {
                since = now;
                admit(now);
                limit = undisturbed_until(now);
                one_waits = one_waits_for_room(now);
            }
            choose_direction();
        }
    }
}

// The first CK after `now` at which a burst or the guest may come, a refresh or the closing of an
// idle row may be due, or decisions have to end.
std::int64_t Channel::undisturbed_until(std::int64_t now) const {
    if (config_.controller.page_policy != device::PagePolicy::Open) {
        return now + 1;
    }
    std::int64_t until = std::min(decided_, next_arrival(now));
    if (config_.refresh) {
        until = std::min(until, next_refresh_);
    }
    if (guest_ != nullptr) {
        until = std::min(until, guest_from_);
    }
    return std::max(until, now + 1);
}

void Channel::choose_direction() {
    const device::ControllerConfig& policy = config_.controller;
    const bool was_draining = draining_;
    if (draining_) {
        draining_ = writes_.size > 0 && (reads_.size == 0 || writes_.size > policy.write_low);
    } else {
        draining_ = writes_.size >= policy.write_high || (reads_.size == 0 && writes_.size > 0);
    }
    if (draining_ != was_draining) {
        drop_plans();
    }
}

void Channel::drop_plans() {
    column_plan_.drop();
    row_plan_.drop();
}

// Whether the list's oldest burst goes before the other one's.
bool Channel::first_is_older(const List& list, const List& other) const {
    const auto order = [this](const List& of) {
        return of.empty() ? INT64_MAX : bursts_[static_cast<std::size_t>(of.head)].order;
    };
    return order(list) < order(other);
}

// The bank's next step: its oldest row hit, or else closing or opening a row for its oldest burst.
void Channel::find_next_step(Queue& queue, std::size_t bank, std::int64_t now) {
    const std::uint64_t bit = std::uint64_t{1} << bank;
    const Lane& lane = queue.lanes[bank];
    const bool was_hit = (queue.hits & bit) != 0;
    const bool is_hit = !lane.hits.empty() && (lane.overtaken < config_.controller.starvation_cap ||
                                               first_is_older(lane.hits, lane.others));
    const std::int32_t next = is_hit ? lane.hits.head : lane.others.head;
    const Age age = next == kNone ? Age() : Age(burst(next).order, bank);
    queue.ages[bank] = age;
    if (was_hit && is_hit) {
        return;
    }
    queue.hits = is_hit ? queue.hits | bit : queue.hits & ~bit;
    if (was_hit) {
        column_plan_.drop();
    }
    if (&queue != &active()) {
        return;
    }
    if (is_hit) {
        offer(column_plan_, column(), age, now);
        if (row_plan_.rank.age.bank() == bank) {
            row_plan_.drop();
        }
    } else if (next != kNone && (passive().owed & bit) == 0) {
        offer(row_plan_, (open_ & bit) != 0 ? device::Command::Precharge : device::Command::Activate, age, now);
    }
}

// A further command may be the one to go next.
void Channel::offer(Choice& plan, device::Command command, Age age, std::int64_t now) const {
    plan.consider({command, {std::max(now, timing_.earliest(command, age.bank())), age}});
}

// After the bank's row has opened: moves the bursts to it to the hits.
void Channel::pick_hits(Lane& lane, std::int64_t row) {
    std::int32_t last_other = kNone;
    for (std::int32_t index = lane.others.head; index != kNone;) {
        const std::int32_t next = burst(index).next;
        if (burst(index).row == row) {
            if (last_other == kNone) {
                lane.others.head = next;
            } else {
                burst(last_other).next = next;
            }
            append(lane.hits, index);
        } else {
            last_other = index;
        }
        index = next;
    }
    lane.others.tail = last_other;
}

// After it has closed: there are no hits any more.
void Channel::return_hits(Lane& lane) {
    if (lane.hits.empty()) {
        return;
    }
    List hits = std::exchange(lane.hits, List{});
    List others = std::exchange(lane.others, List{});
    while (!hits.empty() || !others.empty()) {
        append(lane.others, take_first(first_is_older(hits, others) ? hits : others));
    }
}

// The command to issue next, not before `now`; the earliest moment one can be where that is later.
const Channel::Choice& Channel::choose(std::int64_t now) {
    // One that was ready earlier but had to give way competes anew with those ready by now.
    const std::int64_t free = std::max(now, timing_.command_bus_free());
    if (column_plan_.rank.when < free) {
        plan_column(now);
    }
    if (column_plan_.rank.when > now) {
        if (row_plan_.rank.when < free) {
            plan_row(now);
        }
        if (row_plan_.rank.when < column_plan_.rank.when) {  // at equal times columns come first
            return row_plan_;
        }
    }
    return column_plan_;
}

void Channel::plan_column(std::int64_t now) {
    const device::Command other_column = draining_ ? device::Command::Read : device::Command::Write;
    column_plan_ = Choice{};
    consider_columns(active(), active().hits, column(), now);
    consider_columns(passive(), passive().hits & passive().owed, other_column, now);
}

// Takes the banks' column command that can go first; of those ready by `now`, the oldest burst's.
void Channel::consider_columns(const Queue& queue, std::uint64_t banks, device::Command column,
                               std::int64_t now) {
    if (banks == 0) {
        return;
    }
    FirstRank first(std::max(now, timing_.earliest(column)));
    for_each_bank(banks, [&](std::size_t bank) {
        first.consider(timing_.bank_earliest(column, bank), queue.ages[bank]);
    });
    column_plan_.consider({column, first.rank()});
}

// The same among banks that have a row to open or to close.
void Channel::plan_row(std::int64_t now) {
    const Queue& queue = active();
    const std::uint64_t banks = queue.banks & ~queue.hits & ~passive().owed;
    row_plan_ = Choice{};
    if (banks == 0) {
        return;
    }
    const std::int64_t activate = timing_.earliest(device::Command::Activate);
    FirstRank first(std::max(now, timing_.command_bus_free()));
    for_each_bank(banks, [&](std::size_t bank) {
        const std::int64_t to_open =
            std::max(activate, timing_.bank_earliest(device::Command::Activate, bank));
        const std::int64_t to_close = timing_.bank_earliest(device::Command::Precharge, bank);
        const auto is_open = -static_cast<std::int64_t>((open_ >> bank) & 1);
        first.consider(to_open ^ ((to_open ^ to_close) & is_open), queue.ages[bank]);
    });
    const Rank rank = first.rank();
    const bool closes = ((open_ >> rank.age.bank()) & 1) != 0;
    row_plan_ = {closes ? device::Command::Precharge : device::Command::Activate, rank};
}

void Channel::issue(device::Command issued, std::size_t bank, std::int64_t now) {
    switch (issued) {
        case device::Command::Activate: {
            Burst& served = burst(active().lanes[bank].others.head);
            served.opened_row = true;
            active().owed |= std::uint64_t{1} << bank;
            command(device::Command::Activate, bank, served.row, now);
            break;
        }
        case device::Command::Precharge:
            command(device::Command::Precharge, bank, device::kNoRow, now);
            break;
        default:
            issue_column(issued, bank, now);
            break;
    }
}

void Channel::issue_column(device::Command column, std::size_t bank, std::int64_t now) {
    Queue& queue = queue_of(column);
    Lane& lane = queue.lanes[bank];
    lane.overtaken = first_is_older(lane.hits, lane.others) ? 0 : lane.overtaken + 1;
    const std::int32_t index = take_first(lane.hits);
    const Burst& served = burst(index);
    const bool write = column == device::Command::Write;
    const device::DramTiming& t = config_.timing;
    const std::int64_t start = now + (write ? t.write_latency : t.read_latency).count();
    timing_.issue(column, bank, served.row, now);
    if (listener_ != nullptr) {
        listener_->on_command(index_, column, bank, served.row, now);
    }
    ++(write ? stats_.writes : stats_.reads);
    ++(write ? bank_counts_[bank].writes : bank_counts_[bank].reads);
    stats_.row_hits += served.opened_row ? 0 : 1;
    last_used_[bank] = now;
    account_data(start, write, served.opened_row);
    const std::uint64_t bit = std::uint64_t{1} << bank;
    --queue.size;
    queue.banks &= ~(lane.empty() ? bit : 0);
    queue.owed &= ~(served.opened_row ? bit : 0);
    column_plan_.drop();
    if (&queue == &passive()) {
        row_plan_.drop();  // the active direction may close the row now
    }
    find_next_step(queue, bank, now);
    if (!write) {
        owner_.on_burst_done(served.request, start + t.burst.count());
    }
    free_.push_back(index);
}

void Channel::command(device::Command command, std::size_t bank, std::int64_t row, std::int64_t now) {
    timing_.issue(command, bank, row, now);
    row_plan_.drop();
    if (listener_ != nullptr) {
        listener_->on_command(index_, command, bank, row, now);
    }
    const std::uint64_t bit = std::uint64_t{1} << bank;
    if (command == device::Command::Activate) {
        ++stats_.activates;
        ++bank_counts_[bank].activates;
        open_ |= bit;
        last_used_[bank] = now;
    } else if (command == device::Command::Precharge) {
        ++stats_.precharges;
        open_ &= ~bit;
        reads_.owed &= ~bit;
        writes_.owed &= ~bit;
    }
    if (command != device::Command::Refresh) {
        for (Queue* queue : {&reads_, &writes_}) {
            if ((queue->banks & bit) != 0) {
                if (command == device::Command::Activate) {
                    pick_hits(queue->lanes[bank], row);
                } else {
                    return_hits(queue->lanes[bank]);
                }
                find_next_step(*queue, bank, now);
            }
        }
    }
}

// Closes one row that the page policy no longer wants open; returns when to look again.
std::int64_t Channel::close_idle_rows(std::int64_t now) {
    const device::PagePolicy policy = config_.controller.page_policy;
    if (policy == device::PagePolicy::Open) {
        return INT64_MAX;
    }
    const std::int64_t idle_for =
        policy == device::PagePolicy::Closed ? 0 : config_.controller.page_timeout.count();
    return close_a_row(open_ & ~reads_.banks & ~writes_.banks, idle_for, now);
}

// Closes a row; nothing returned: all are closed. Otherwise when to go on.
std::optional<std::int64_t> Channel::close_all_rows(std::int64_t now) {
    return open_ == 0 ? std::nullopt : std::optional{close_a_row(open_, 0, now)};
}

// Closes one of these banks' rows that has been idle for so long; returns when to close the next.
std::int64_t Channel::close_a_row(std::uint64_t banks, std::int64_t idle_for, std::int64_t now) {
    std::int64_t next = INT64_MAX;
    std::optional<std::size_t> closing;
    for_each_bank(banks, [&](std::size_t bank) {
        const std::int64_t when =
            std::max(timing_.earliest(device::Command::Precharge, bank), last_used_[bank] + idle_for);
        if (when <= now) {
            closing = bank;
        } else {
            next = std::min(next, when);
        }
    });
    if (closing) {
        command(device::Command::Precharge, *closing, device::kNoRow, now);
        return now + 1;
    }
    return next;
}

// One step towards the refresh that is due; returns when to take the next.
std::int64_t Channel::refresh(std::int64_t now) {
    if (const auto later = close_all_rows(now)) {
        return *later;
    }
    const std::int64_t when = timing_.earliest(device::Command::Refresh, 0);
    if (when > now) {
        return when;
    }
    command(device::Command::Refresh, 0, device::kNoRow, now);
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
    const device::DramTiming& t = config_.timing;
    const std::int64_t gap = start - data_end_;
    if (gap > 0) {
        const std::int64_t latency = (write ? t.write_latency : t.read_latency).count();
        const std::int64_t idle = std::clamp<std::int64_t>(busy_since_ - data_end_, 0, gap);
        const std::int64_t refreshing =
            std::clamp<std::int64_t>(refresh_end_ + latency - data_end_ - idle, 0, gap - idle);
        stats_.bus.charge(BusState::Idle, data_end_ + idle);
        stats_.bus.charge(BusState::Refresh, data_end_ + idle + refreshing);
        stats_.bus.charge(opened_row                          ? BusState::RowMiss
                          : write != last_write_ || idle == 0 ? BusState::Turnaround
                                                              : BusState::Idle,
                          start);
    }
    data_end_ = start + t.burst.count();
    stats_.bus.charge(write ? BusState::Write : BusState::Read, data_end_);
    last_write_ = write;
}

void Channel::finish_statistics() {
    const std::int64_t now = clock_.cycle_at(queue_.now()).count();
    stats_.bus.charge_until(std::max(now, data_end_));
}

}  // namespace tilesim::arch::memory::controller
