// How a channel does it, command by command: the other bodies of scheduled_channel.hpp.
#pragma once

#include <bit>

#include "arch/memory/controller/scheduled_channel.hpp"

namespace tilesim::arch::memory::controller {

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
