// How a channel does it, command by command: the other bodies of scheduled_channel.hpp.
#pragma once

#include <bit>
#include <optional>

#include "arch/memory/controller/scheduled_channel.hpp"
#include "arch/memory/device/bank_set.hpp"

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
        case Command::Write:
            issue_column<true>(bank, now);
            break;
        default:
            issue_column<false>(bank, now);
            break;
    }
}

template <class Scheduler>
template <bool write>
void ScheduledChannel<Scheduler>::issue_column(std::size_t bank, std::int64_t now) {
    policy::BurstQueue& queue = bursts_.queue(write);
    std::optional<policy::Burst> heard;  // copied for a listener only
    if (listener_ != nullptr) {
        heard = bursts_.first_hit(queue, bank);
    }
    const policy::Taken served = bursts_.take_hit(queue, bank);
    const Command column = policy::column_command(write);
    const std::int64_t latency = (write ? dram_.write_latency : dram_.read_latency).count();
    timing_.issue(column, bank, timing_.open_row(bank), now);
    const bool closes =
        pages_.may_auto_precharge() &&
        pages_.closes_with_column(bank, !bursts_.queue(false).lanes[bank].hits.empty() ||
                                            !bursts_.queue(true).lanes[bank].hits.empty());
    if (heard) {
        const Command command = !closes ? column
                                : write ? Command::WritePrecharge
                                        : Command::ReadPrecharge;
        listener_->on_column(index_, command, bank, heard->row, now, *heard);
    }
    ++(write ? stats_.writes : stats_.reads);
    ++(write ? bank_counts_[bank].writes : bank_counts_[bank].reads);
    stats_.row_hits += served.opened_row ? 0 : 1;
    pages_.on_use(bank, now);
    account_.on_data(write, bank, served.opened_row, now + latency, latency, dram_.burst.count());
    if (&queue == &bursts_.passive()) [[unlikely]] {
        scheduler_.on_passive_column();
    }
    if (closes) {
        timing_.precharge_after_column(bank);
        rows_have_closed(std::uint64_t{1} << bank, now);
        ++stats_.precharges;
        row_left(bank, now);
    }
    find_next_step(queue, bank, now);
    if (!write && served.run > 0) {  // data leave in order: the last of a run are its latest
        owner_.on_bursts_done(served.request, served.run, account_.data_end());
    }
}

// Opens the row of the oldest burst of the direction being served.
template <class Scheduler>
void ScheduledChannel<Scheduler>::activate(std::size_t bank, std::int64_t now) {
    policy::BurstQueue& active = bursts_.active();
    policy::Burst& served = bursts_[active.lanes[bank].others.head].first;
    served.opened_row = 1;
    active.owed |= std::uint64_t{1} << bank;
    row_opens(bank, now);
    timing_.issue(Command::Activate, bank, served.row, now);
    tell(Command::Activate, bank, served.row, now);
    ++stats_.activates;
    ++bank_counts_[bank].activates;
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
    rows_have_closed(std::uint64_t{1} << bank, now);
    tell(Command::Precharge, bank, device::kNoRow, now);
    ++stats_.precharges;
    row_left(bank, now);
    scheduler_.on_precharge(bank, bursts_, timing_, now);
}

// Bursts that were to find the row open have to wait for another.
template <class Scheduler>
void ScheduledChannel<Scheduler>::row_left(std::size_t bank, std::int64_t now) {
    for (const bool write : {false, true}) {
        policy::BurstQueue& queue = bursts_.queue(write);
        queue.owed &= ~(std::uint64_t{1} << bank);
    }
    for (const bool write : {false, true}) {
        policy::BurstQueue& queue = bursts_.queue(write);
        if ((queue.banks >> bank & 1) != 0) {
            peaks_.overtaken = std::max(peaks_.overtaken, queue.lanes[bank].overtaken);
            if (!queue.lanes[bank].hits.empty()) {
                bursts_.return_hits(queue.lanes[bank]);
                find_next_step(queue, bank, now);
            }
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

// Closes every row of a rank once the last of them may be; returns when to go on.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::precharge_all(std::uint64_t rank, std::int64_t now) {
    const std::int64_t when = timing_.earliest_precharge_all(rank);
    if (when > now) {
        return when;
    }
    const std::uint64_t open = timing_.open_banks() & rank;
    timing_.precharge_all(rank, now);
    tell(Command::PrechargeAll, static_cast<std::size_t>(std::countr_zero(rank)), device::kNoRow,
         now);
    ++stats_.precharges;
    rows_have_closed(open, now);
    device::for_each_bank(open, [&](std::size_t bank) {
        row_left(bank, now);
        scheduler_.on_precharge(bank, bursts_, timing_, now);
    });
    return now + 1;
}

// Closes a row of these banks, or all of a rank that is whole among them; nothing returned: all are
// closed. Otherwise when to go on.
template <class Scheduler>
std::optional<std::int64_t> ScheduledChannel<Scheduler>::close_rows(std::uint64_t banks,
                                                                    std::int64_t now) {
    const std::uint64_t open = timing_.open_banks() & banks;
    if (open == 0) {
        return std::nullopt;
    }
    if (const std::uint64_t rank = timing_.rank_with(open); (rank & ~banks) == 0) {
        return precharge_all(rank, now);
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
    on_refreshed(round, now);
    return now + 1;
}

template <class Scheduler>
void ScheduledChannel<Scheduler>::on_refreshed(const policy::RefreshRound& round,
                                               std::int64_t now) {
    account_.on_refresh(round.banks, now + round.length);
    scheduler_.on_refresh();
    tell(round.command, static_cast<std::size_t>(std::countr_zero(round.banks)), device::kNoRow,
         now);
    ++stats_.refreshes;
    refresh_.on_done();
}

// One step of a refresh that only its banks, or its rank of several, wait for: they take no new
// command, close, are refreshed. The engine knows then when to go on.
template <class Scheduler>
void ScheduledChannel<Scheduler>::refresh_some(std::int64_t now) {
    const policy::RefreshRound round = refresh_.round();
    if (!refresh_.begun()) {
        timing_.hold_back(round.banks, now);
        refresh_.begin();
        scheduler_.on_turn();  // may have planned a command to them
    }
    if (const auto later = close_rows(round.banks, now)) {
        refresh_.go_on_at(*later);
        return;
    }
    const std::int64_t when = timing_.earliest_partial_refresh(round.banks);
    if (when > now) {
        // Without end while one ACT follows the other, unless they wait.
        const std::int64_t gives_way = timing_.activates_delay_refresh_from(round.banks);
        if (gives_way <= now) {
            timing_.keep_activates_back(round.banks, when);
            scheduler_.on_turn();  // may have planned one
        }
        refresh_.go_on_at(gives_way <= now ? when : gives_way);
        return;
    }
    timing_.partial_refresh(round.banks, now, now + round.length);
    on_refreshed(round, now);
}

// An idle channel refreshes unwatched: takes those steps now that somebody looks again.
template <class Scheduler>
void ScheduledChannel<Scheduler>::catch_up_refreshes(std::int64_t now) {
    bool more = true;
    while (more) {
        const bool resumes = refresh_.begun();
        stats_.refreshes += refresh_.skip_until(now, idle_since_);
        const std::int64_t done = stats_.refreshes.value();
        std::int64_t step = refresh_.last_unwatched();
        std::int64_t end = idle_since_;
        while (step < now && stats_.refreshes.value() == done) {
            end = step + refresh_.round().pace;
            if (refresh_.alone()) {
                step = refresh(step);
            } else {
                refresh_some(step);
                step = refresh_.next();
            }
        }
        if (stats_.refreshes.value() > done) {
            idle_since_ = end;
        }
        more = resumes && !refresh_.begun();  // there may have been others behind it
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
    SIM_CHECK(timing_.open_banks() == 0, "a channel with open rows cannot be lent");
    if (guest_.has_work()) {
        const std::int64_t until = guest_.run(now, refresh_.next());
        account_.on_guest(now, until);
        return until;
    }
    guest_.leave(now);
    idle_since_ = now;
    return now + 1;
}

}  // namespace tilesim::arch::memory::controller
