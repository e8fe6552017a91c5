// What a channel does next: the first bodies of scheduled_channel.hpp.
#pragma once

#include <algorithm>

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
    const bool writes = bursts_.draining() && bursts_.active().size > 0;
    const bool refreshes = refresh_.due(now) && !(writes && refresh_.lets_writes_pass(now)) &&
                           (bursts_.size() > 0 || guest_.expected());
    if (refreshes && !refresh_.alone()) {
        refresh_some(now);
    }
    if (refreshes && refresh_.alone()) {
        next = refresh(now);
    } else if (guest_.wants(now) && refresh_.begun()) {
        next = refresh_.next();
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
    if (bursts_.size() > 0 || arrivals_.one_has_come(now)) {  // which comes in with the next step
        return std::min(next, next_refresh);
    }
    const bool rows_to_close = !pages_.always_open() && timing_.open_banks() != 0;
    return rows_to_close ? next : INT64_MAX;  // refreshed unwatched until a burst arrives
}

// Lets in, in order of arrival, what has arrived and finds room. Every burst goes through here
// once: it is worth one function without calls.
template <class Scheduler>
[[gnu::flatten]] void ScheduledChannel<Scheduler>::admit(std::int64_t now) {
    while (arrivals_.one_has_come(now)) {
        const Arrival& first = arrivals_.first();
        const bool write = first.write;
        const std::int64_t room = bursts_.queue(write).room();
        if (room == 0) {
            return;
        }
        const std::uint64_t request = first.request;
        const auto bursts = static_cast<std::uint32_t>(std::min<std::int64_t>(room, first.count));
        enqueue(first, bursts, now);
        arrivals_.take(bursts);
        if (write) {  // taken over: done as far as the client is concerned, who may submit the next
            owner_.on_bursts_done(request, bursts, now);
        }
    }
}

template <class Scheduler>
void ScheduledChannel<Scheduler>::enqueue(const Arrival& from, std::uint32_t bursts,
                                          std::int64_t now) {
    if (bursts_.size() == 0) {
        account_.on_first_queued(now);
        bursts_.restart();
        catch_up_refreshes(now);
    }
    const std::size_t bank = from.first.bank();
    const bool is_hit = from.first.row() == timing_.open_row(bank);
    policy::BurstQueue& queue = bursts_.queue(from.write);
    if (bursts_.enter(queue, from.first, bursts, from.request, is_hit)) {
        find_next_step(queue, bank, now);
    }
}

// Issues commands from `since` on, and lets bursts in as they come or find room again, while these
// alone decide what comes next; returns when to look again, `since` is then when bursts were last
// let in. Everything is inlined into it: a command takes a dozen small steps, and the calls alone
// took a tenth of a whole GEMM's run.
template <class Scheduler>
[[gnu::flatten]] std::int64_t ScheduledChannel<Scheduler>::serve_queues(std::int64_t& since) {
    std::int64_t now = since;
    const std::int64_t end = queues_alone_until();
    std::int64_t limit = undisturbed_until(now, end);
    bool one_waits = arrivals_.one_has_come(now);
    turn_if_due();
    while (true) {
        // Not copied: it has just been written.
        const policy::Choice& choice = scheduler_.choose(bursts_, timing_, now);
        const std::int64_t when = choice.rank.when;
        if (when < limit) {
            const Command command = choice.command;
            issue(command, choice.rank.age.bank(), when);
            now = when + pause_;
            const bool has_made_room = command == Command::Read || command == Command::Write;
            if (has_made_room && bursts_.size() == 0) {
                idle_since_ = now;
                return now;
            }
            if (now < limit && !(has_made_room && one_waits)) {
                if (has_made_room) {
                    turn_if_due();
                }
                continue;
            }
            if (now >= limit && now >= end) {
                return now;
            }
        } else if (limit < end) {
            now = limit;
        } else {
            return when;
        }
        since = now;
        admit(now);
        limit = undisturbed_until(now, end);
        one_waits = arrivals_.one_has_come(now);
        turn_if_due();
    }
}

// The CK at which something else than bursts and their commands may come: the guest, a refresh,
// the closing of an idle row, or the end of decisions.
template <class Scheduler>
std::int64_t ScheduledChannel<Scheduler>::queues_alone_until() const {
    if (!pages_.always_open()) {
        return INT64_MIN;
    }
    const std::int64_t until = std::min(until_, refresh_.next());
    return guest_.expected() ? std::min(until, guest_.from()) : until;
}

// The bank's next step: its oldest row hit, or else closing or opening a row for its oldest burst.
template <class Scheduler>
void ScheduledChannel<Scheduler>::find_next_step(policy::BurstQueue& queue, std::size_t bank,
                                                 std::int64_t now) {
    const std::uint64_t bit = std::uint64_t{1} << bank;
    const policy::Lane& lane = queue.lanes[bank];
    const bool was_hit = (queue.hits & bit) != 0;
    // No branch on it: nobody could predict which.
    const bool overtakes = static_cast<bool>(static_cast<int>(!lane.hits.empty()) &
                                             static_cast<int>(scheduler_.overtakes(lane)));
    const bool is_hit = static_cast<bool>(static_cast<int>(overtakes) |
                                          static_cast<int>(lane.hits.order < lane.others.order));
    const policy::BurstList& next = is_hit ? lane.hits : lane.others;
    const policy::Age age(next.order, bank);
    queue.ages[bank] = age;
    if (was_hit && is_hit) {
        return;
    }
    queue.hits = is_hit ? queue.hits | bit : queue.hits & ~bit;
    const bool active = &queue == &bursts_.active();
    scheduler_.on_step({bank, age, !next.empty(), was_hit, is_hit, active}, bursts_, timing_, now);
}

}  // namespace tilesim::arch::memory::controller
