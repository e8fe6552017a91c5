// How a channel decides: the bodies of scheduled_channel.hpp.
#pragma once

#include <bit>

#include "arch/memory/controller/scheduled_channel.hpp"

namespace tilesim::arch::memory::controller {

// Does what is due at `now`; returns the next CK at which something may be.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::step(std::int64_t now) {
    admit(now);
    if (now < guest_.until()) {
        return std::min(guest_.until(), arrivals_.next(now));
    }
    std::int64_t next = INT64_MAX;
    if (refresh_.due(now) && (bursts_.size() > 0 || guest_.expected())) {
        next = refresh(now);
    } else if (guest_.wants(now)) {
        next = serve_guest(now);
    } else {
        next = serve_queues(now);
        next = std::min(next, close_idle_rows(now));  // which may drop a plan
    }
    return std::min(next_after(next, now), arrivals_.next(now));
}

// `next`, or what comes before it apart from arrivals.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::next_after(std::int64_t next, std::int64_t now) const {
    // One that is due already decides `next` itself.
    const std::int64_t next_refresh = refresh_.due(now) ? INT64_MAX : refresh_.next();
    if (guest_.expected()) {
        return now < guest_.from() ? std::min({next, guest_.from(), next_refresh}) : next;
    }
    if (bursts_.size() > 0) {
        return std::min(next, next_refresh);
    }
    const bool rows_to_close = !pages_.always_open() && timing_.open_banks() != 0;
    return rows_to_close ? next : INT64_MAX;  // refreshed unwatched until a burst arrives
}

// Lets in, in order of arrival, what has arrived and finds room.
template <class Scheduler>
void ScheduledChannel<Scheduler>::admit(std::int64_t now) {
    while (arrivals_.one_has_come(now)) {
        const bool write = arrivals_.first().write;
        const policy::BurstQueue& queue = bursts_.queue(write);
        if (queue.size == queue.capacity) {
            return;
        }
        const std::uint64_t request = arrivals_.first().request;
        enqueue(write, arrivals_.take_burst(), request, now);
        if (write) {  // taken over: done as far as the client is concerned, who may submit the next
            owner_.on_burst_done(request, now);
        }
    }
}

template <class Scheduler>
void ScheduledChannel<Scheduler>::enqueue(bool write, device::Location where, std::uint64_t request,
                                          std::int64_t now) {
    if (bursts_.size() == 0) {
        account_.on_first_queued(now);
        bursts_.restart();
        catch_up_refreshes(now);
        scheduler_.on_turn();
    }
    const std::size_t bank = where.bank();
    const bool is_hit = where.row() == timing_.open_row(bank);
    if (bursts_.enter(write, bank, where.row(), request, is_hit)) {
        find_next_step(bursts_.queue(write), bank, now);
    }
}

// Issues commands from `since` on, and lets bursts in where there is room again, while these alone
// decide what comes next; returns when to look again, `since` is then when bursts were last let in.
// Everything is inlined into it: a command takes a dozen small steps, and the calls alone
// took a tenth of a whole GEMM's run.
template <class Scheduler>
[[gnu::flatten]] std::int64_t ScheduledChannel<Scheduler>::serve_queues(std::int64_t& since) {
    std::int64_t now = since;
    std::int64_t limit = undisturbed_until(now);
    bool one_waits = arrivals_.one_has_come(now);
    turn_if_due();
    while (true) {
        // Not copied: it has just been written.
        const policy::Choice& choice = scheduler_.choose(bursts_, timing_, now);
        const std::int64_t when = choice.rank.when;
        if (when >= limit) {
            return when;
        }
        const Command command = choice.command;
        issue(command, choice.rank.age.bank(), when);
        now = when + pause_;
        const bool has_made_room = command == Command::Read || command == Command::Write;
        if (now >= limit || bursts_.size() == 0) {
            return now;
        }
        if (has_made_room) {
            if (one_waits) {
                since = now;
                admit(now);
                limit = undisturbed_until(now);
                one_waits = arrivals_.one_has_come(now);
            }
            turn_if_due();
        }
    }
}

// The first CK after `now` at which a burst or the guest may come, a refresh or the closing of an
// idle row may be due, or decisions have to end.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::undisturbed_until(std::int64_t now) const {
    if (!pages_.always_open()) {
        return now + 1;
    }
    std::int64_t until = std::min({until_, arrivals_.next(now), refresh_.next()});
    if (guest_.expected()) {
        until = std::min(until, guest_.from());
    }
    return std::max(until, now + 1);
}

// The bank's next step: its oldest row hit, or else closing or opening a row for its oldest burst.
template <class Scheduler>
void ScheduledChannel<Scheduler>::find_next_step(policy::BurstQueue& queue, std::size_t bank,
                                                 std::int64_t now) {
    const std::uint64_t bit = std::uint64_t{1} << bank;
    const policy::Lane& lane = queue.lanes[bank];
    const bool was_hit = (queue.hits & bit) != 0;
    const bool is_hit = !lane.hits.empty() && (scheduler_.overtakes(lane) ||
                                               bursts_.first_is_older(lane.hits, lane.others));
    const std::int32_t next = is_hit ? lane.hits.head : lane.others.head;
    const policy::Age age =
        next == policy::kNone ? policy::Age() : policy::Age(bursts_[next].order, bank);
    queue.ages[bank] = age;
    if (was_hit && is_hit) {
        return;
    }
    queue.hits = is_hit ? queue.hits | bit : queue.hits & ~bit;
    const bool active = &queue == &bursts_.active();
    scheduler_.on_step({bank, age, next != policy::kNone, was_hit, is_hit, active}, bursts_,
                       timing_, now);
}

template <class Scheduler>
void ScheduledChannel<Scheduler>::issue(Command command, std::size_t bank, std::int64_t now) {
    switch (command) {
        case Command::Activate:
            activate(bank, now);
            break;
        case Command::Precharge:
            pages_.on_conflict(bank);
            precharge(bank, now);
            break;
        default:
            issue_column(command == Command::Write, bank, now);
            break;
    }
}

template <class Scheduler>
void ScheduledChannel<Scheduler>::issue_column(bool write, std::size_t bank, std::int64_t now) {
    policy::BurstQueue& queue = bursts_.queue(write);
    const std::int32_t index = bursts_.take_hit(queue, bank);
    const policy::Burst& served = bursts_[index];
    const Command column = policy::column_command(write);
    const std::int64_t latency = (write ? dram_.write_latency : dram_.read_latency).count();
    timing_.issue(column, bank, served.row, now);
    tell(column, bank, served.row, now);
    ++(write ? stats_.writes : stats_.reads);
    ++(write ? bank_counts_[bank].writes : bank_counts_[bank].reads);
    stats_.row_hits += served.opened_row ? 0 : 1;
    pages_.on_use(bank, now);
    account_.on_data(write, served.opened_row, now + latency, latency, dram_.burst.count());
    scheduler_.on_column_command(&queue == &bursts_.passive());
    find_next_step(queue, bank, now);
    if (!write) {
        owner_.on_burst_done(served.request, account_.data_end());
    }
    bursts_.give_back(index);
}

// Opens the row of the oldest burst of the direction being served.
template <class Scheduler>
void ScheduledChannel<Scheduler>::activate(std::size_t bank, std::int64_t now) {
    policy::BurstQueue& active = bursts_.active();
    policy::Burst& served = bursts_[active.lanes[bank].others.head];
    served.opened_row = true;
    active.owed |= std::uint64_t{1} << bank;
    timing_.issue(Command::Activate, bank, served.row, now);
    scheduler_.on_row_command();
    tell(Command::Activate, bank, served.row, now);
    ++stats_.activates;
    ++bank_counts_[bank].activates;
    pages_.on_use(bank, now);
    pages_.on_open(bank, served.row);
    for (const bool write : {false, true}) {
        policy::BurstQueue& queue = bursts_.queue(write);
        if ((queue.banks >> bank & 1) != 0) {
            bursts_.pick_hits(queue.lanes[bank], served.row);
            find_next_step(queue, bank, now);
        }
    }
}

template <class Scheduler>
void ScheduledChannel<Scheduler>::precharge(std::size_t bank, std::int64_t now) {
    timing_.issue(Command::Precharge, bank, device::kNoRow, now);
    scheduler_.on_row_command();
    tell(Command::Precharge, bank, device::kNoRow, now);
    ++stats_.precharges;
    for (const bool write : {false, true}) {
        policy::BurstQueue& queue = bursts_.queue(write);
        queue.owed &= ~(std::uint64_t{1} << bank);
    }
    for (const bool write : {false, true}) {
        policy::BurstQueue& queue = bursts_.queue(write);
        if ((queue.banks >> bank & 1) != 0) {
            bursts_.return_hits(queue.lanes[bank]);
            find_next_step(queue, bank, now);
        }
    }
}

// Closes one row that the page policy no longer wants open; returns when to look again.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::close_idle_rows(std::int64_t now) {
    if (pages_.always_open()) {
        return INT64_MAX;
    }
    const Closing found = pages_.idle_row(timing_.open_banks() & ~bursts_.banks(), timing_, now);
    if (found.bank == Closing::kNobody) {
        return found.when;
    }
    pages_.on_idle_close(found.bank, timing_.open_row(found.bank));
    precharge(found.bank, now);
    return now + 1;
}

// Closes a row of these banks; nothing returned: all are closed. Otherwise when to go on.
template <class Scheduler>
std::optional<std::int64_t> ScheduledChannel<Scheduler>::close_rows(std::uint64_t banks,
                                                                    std::int64_t now) {
    const std::uint64_t open = timing_.open_banks() & banks;
    if (open == 0) {
        return std::nullopt;
    }
    const Closing found = pages_.any_row(open, timing_, now);
    if (found.bank == Closing::kNobody) {
        return found.when;
    }
    precharge(found.bank, now);
    return now + 1;
}

// One step towards the refresh that is due; returns when to take the next.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::refresh(std::int64_t now) {
    const policy::RefreshRound round = refresh_.round();
    if (const auto later = close_rows(round.banks, now)) {
        return *later;
    }
    const std::int64_t when = timing_.earliest_refresh(round.banks);
    if (when > now) {
        return when;
    }
    timing_.refresh(round.banks, now, now + round.length);
    scheduler_.on_row_command();
    tell(Command::Refresh, static_cast<std::size_t>(std::countr_zero(round.banks)), device::kNoRow,
         now);
    ++stats_.refreshes;
    account_.on_refresh(now + round.length);
    refresh_.on_done();
    return now + 1;
}

// An idle channel refreshes unwatched: takes those steps now that somebody looks again.
template <class Scheduler>
void ScheduledChannel<Scheduler>::catch_up_refreshes(std::int64_t now) {
    stats_.refreshes += refresh_.skip_until(now);
    std::int64_t step = refresh_.next();
    while (step < now && step >= refresh_.next()) {
        step = refresh(step);
    }
}

// Gives the guest his next turn once every row is closed; returns when to look again.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::serve_guest(std::int64_t now) {
    if (const auto later = close_rows(kEveryBank, now)) {
        return *later;
    }
    const std::int64_t quiet = timing_.earliest_refresh(kEveryBank);
    if (quiet > now) {
        return quiet;
    }
    if (guest_.has_work()) {
        const std::int64_t until = guest_.run(now, refresh_.next());
        timing_.quiet_until(until);
        account_.on_guest(now, until);
        return until;
    }
    guest_.leave(now);
    return now + 1;
}

}  // namespace tilesim::arch::memory::controller
