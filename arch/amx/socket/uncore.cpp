#include "arch/amx/socket/uncore.hpp"

#include <algorithm>
#include <utility>

namespace tilesim::arch::amx::socket {

using base::Cycles;
using base::Femtoseconds;
using Kind = caches::UncoreRequest::Kind;

Uncore::Uncore(const AmxConfig& config, memory::port::MemoryPort& memory, base::EventQueue& queue,
               std::vector<core::Core*> cores, std::vector<Member> members)
    : config_(config),
      memory_(memory),
      queue_(queue),
      core_clock_(config.clock),
      uncore_(config.uncore.clock),
      cores_(std::move(cores)),
      members_(std::move(members)),
      stands_for_(cores_.size()),
      l3_(config.uncore.l3),
      mesh_(config.uncore, config.cores),
      filter_(config.uncore.snoop_filter),
      port_free_(cores_.size(), Femtoseconds{0}) {
    for (std::size_t core = 0; members_.size() < cores_.size(); ++core) {
        members_.push_back({core, true, Displacement{}});
    }
    for (const bool simulated : {true, false}) {
        for (std::size_t member = 0; member < members_.size(); ++member) {
            if (members_[member].simulated == simulated) {
                stands_for_[members_[member].core].push_back(member);
            }
        }
    }
}

// Both in memory.
caches::Line Uncore::line_of(std::size_t member, caches::Line home) const {
    if (members_[member].simulated) {
        return home;
    }
    const caches::PageMap& map = core_of(member).pages().map();
    return map.physical(members_[member].displacement.of(map.program_line(home)));
}

caches::Line Uncore::home_of(std::size_t member, caches::Line line) const {
    if (members_[member].simulated) {
        return line;
    }
    const caches::PageMap& map = core_of(member).pages().map();
    return map.physical(members_[member].displacement.back(map.program_line(line)));
}

Femtoseconds Uncore::lookahead() const {
    return std::min(config_.uncore.lookup, config_.uncore.answer);
}

Femtoseconds Uncore::memory_lookahead(const AmxConfig& config) {
    return config.uncore.to_memory;
}

std::uint64_t Uncore::take_flight(const caches::UncoreRequest& request, std::size_t member) {
    const std::size_t tag = flights_.take();
    flights_[tag] = {request, member};
    return tag;
}

// Requests are looked up when the cores have gone on once more: till then the host would forget
// what it fetched for them now.
void Uncore::collect() {
    for (const caches::Line line : expected_) {
        expect(line);
    }
    expected_.clear();
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        for (const caches::UncoreRequest& request : cores_[core]->caches().outbox()) {
            expected_.push_back(request.line);
            const std::uint64_t tag = take_flight(request, stands_for_[core].front());
            const Femtoseconds sent = core_clock_.time_of(Cycles{request.cycle});
            queue_.at(std::max(queue_.now(), sent + config_.uncore.lookup), *this, tag);
        }
        cores_[core]->caches().outbox().clear();
    }
}

[[gnu::flatten]] void Uncore::on_event(std::uint64_t tag, Femtoseconds now) {
    if (flights_[tag].answered) {
        arrived(tag, now);
    } else {
        look_up_all(tag, now);
    }
}

// For the core itself and all it stands for, who take turns at being first.
void Uncore::look_up_all(std::uint64_t tag, Femtoseconds now) {
    const Flight own = flights_[tag];
    const std::vector<std::size_t>& members = stands_for_[members_[own.member].core];
    const auto first = static_cast<std::size_t>(own.request.line);
    in_step_.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t member = members[(first + i) % members.size()];
        if (member == own.member) {
            in_step_.push_back(tag);
        } else {
            caches::UncoreRequest request = own.request;
            request.line = line_of(member, request.line);
            expect(request.line);
            in_step_.push_back(take_flight(request, member));
        }
    }
    for (const std::uint64_t each : in_step_) {
        look_up(each, now);
    }
}

void Uncore::look_up(std::uint64_t tag, Femtoseconds now) {
    switch (flights_[tag].request.kind) {
        case Kind::Prefetch:
            return prefetch(tag, now);
        case Kind::CleanVictim:
        case Kind::DirtyVictim:
        case Kind::Stream:
            take_victim(flights_[tag], now);
            flights_.give_back(tag);
            return;
        case Kind::Read:
        case Kind::Own:
            ++counters_.requests;
            hand_out(tag, now);
    }
}

void Uncore::hand_out(std::uint64_t tag, Femtoseconds now) {
    const Flight flight = flights_[tag];
    const caches::Line line = flight.request.line;
    SnoopFilter::Entry& entry = filter_.of(line);
    if (const auto coming = coming_.find(line); coming != coming_.end()) {
        locate(flight, caches::Level::Memory);
        add(coming->second, tag);
        return;
    }
    if (hit_l3(flight, entry)) {
        ++counters_.l3_hits;
        answer(tag, from_slice(flight, now), false);
    } else if (!from_core(tag, entry, now)) {
        from_memory(tag, now);
    }
}

// A line that nobody else has leaves the L3 with the core that takes it, unless DRAM waits for it.
bool Uncore::hit_l3(const Flight& flight, SnoopFilter::Entry& entry) {
    const caches::Line line = flight.request.line;
    if (!l3_.touch(line)) {
        return false;
    }
    const std::uint16_t name = SnoopFilter::name_of(flight.member);
    const bool own = flight.request.kind == Kind::Own;
    if (own) {
        take_from_others(flight.member, line, entry);
    }
    const bool alone = own || entry.holder == SnoopFilter::kNobody || entry.holder == name;
    if (entry.prefetched) {
        entry.prefetched = false;
        note_fetch(entry);
    } else {
        entry.reused = true;
    }
    entry.holder = alone ? name : SnoopFilter::kSeveral;
    if (own || (alone && !l3_.dirty(line))) {
        l3_.remove(line);
    }
    return true;
}

// Another core has it: a written line goes over, to a reader for the first time only.
bool Uncore::from_core(std::uint64_t tag, SnoopFilter::Entry& entry, Femtoseconds now) {
    const Flight& flight = flights_[tag];
    const caches::Line line = flight.request.line;
    const std::uint16_t name = SnoopFilter::name_of(flight.member);
    if (entry.holder == SnoopFilter::kNobody || entry.holder == name ||
        entry.holder == SnoopFilter::kSeveral) {
        if (flight.request.kind == Kind::Own) {
            take_from_others(flight.member, line, entry);
        }
        return false;
    }
    const auto has_it = static_cast<std::size_t>(entry.holder - 1);
    caches::PrivateCaches& holder = core_of(has_it).caches();
    const caches::Line home = home_of(has_it, line);
    if (!holder.has_or_awaits(home)) {
        return false;
    }
    const bool dirty = holder.dirty(home);
    const bool moves = flight.request.kind == Kind::Own || (dirty && !entry.forwarded);
    if (moves) {
        if (members_[has_it].simulated) {
            holder.give_up(home);
        }
        entry.holder = name;
        entry.forwarded = flight.request.kind == Kind::Read;
    } else {
        if (members_[has_it].simulated) {
            holder.clean(home);
        }
        install(line, dirty, now);
        entry.holder = SnoopFilter::kSeveral;
    }
    entry.reused = true;
    ++counters_.from_cores;
    const Femtoseconds arrives =
        mesh_.carry(mesh_.stop_of(has_it), mesh_.stop_of(flight.member), now, now);
    counters_.kept_waiting += arrives > now ? 1 : 0;
    answer(tag, arrives + config_.uncore.from_core, moves && dirty);
    return true;
}

void Uncore::take_from_others(std::size_t member, caches::Line line,
                              const SnoopFilter::Entry& entry) {
    const std::size_t own = members_[member].core;
    if (entry.holder == SnoopFilter::kSeveral) {
        for (std::size_t other = 0; other < cores_.size(); ++other) {
            if (other != own) {
                cores_[other]->caches().give_up(line);
            }
        }
    } else if (entry.holder != SnoopFilter::kNobody) {
        const Member& other = members_[static_cast<std::size_t>(entry.holder - 1)];
        if (other.core != own && other.simulated) {
            cores_[other.core]->caches().give_up(line);
        }
    }
}

void Uncore::note_fetch(SnoopFilter::Entry& entry) {
    entry.again = entry.fetched;
    entry.fetched = true;
    entry.reused = false;
}

void Uncore::from_memory(std::uint64_t tag, Femtoseconds now) {
    const Flight& flight = flights_[tag];
    locate(flight, caches::Level::Memory);
    SnoopFilter::Entry& entry = filter_.of(flight.request.line);
    note_fetch(entry);
    entry.holder = SnoopFilter::name_of(flight.member);
    entry.forwarded = false;
    coming_.try_emplace(flight.request.line);
    ask_memory(tag, now);
}

void Uncore::add(Waiting& waiting, std::uint64_t tag) {
    flights_[tag].next = kNobody;
    if (waiting.first == kNobody) {
        waiting.first = tag;
    } else {
        flights_[waiting.last].next = tag;
    }
    waiting.last = tag;
}

void Uncore::prefetch(std::uint64_t tag, Femtoseconds now) {
    const caches::Line line = flights_[tag].request.line;
    SnoopFilter::Entry& entry = filter_.of(line);
    if (l3_.contains(line) || coming_.contains(line) || entry.holder != SnoopFilter::kNobody) {
        flights_.give_back(tag);
        return;
    }
    entry.prefetched = true;
    coming_.try_emplace(line);
    ++counters_.prefetches;
    ask_memory(tag, now);
}

// DRAM's data is there: for the core that asked first, for all who asked since, for the L3 where
// those are several or nobody.
void Uncore::arrived(std::uint64_t tag, Femtoseconds when) {
    const Flight flight = flights_[tag];
    const caches::Line line = flight.request.line;
    ++counters_.memory_answers;
    std::uint64_t waiting = coming_.extract(line).mapped().first;
    if (flight.request.kind == Kind::Prefetch) {
        flights_.give_back(tag);
        install_unused(line, when);
    } else {
        answer(tag, when, false);
        if (waiting != kNobody) {
            install(line, false, when);
        }
    }
    while (waiting != kNobody) {
        const std::uint64_t other = std::exchange(waiting, flights_[waiting].next);
        hand_out(other, when);
    }
}

void Uncore::locate(const Flight& flight, caches::Level level) {
    if (members_[flight.member].simulated) {
        core_of(flight.member).caches().located(flight.request.line, level);
    }
}

void Uncore::answer(std::uint64_t tag, Femtoseconds at, bool dirty) {
    const Flight& flight = flights_[tag];
    if (!members_[flight.member].simulated) {
        flights_.give_back(tag);
        return;
    }
    Femtoseconds& free = port_free_[members_[flight.member].core];
    const Femtoseconds start = std::max(at, free);
    free = start + Femtoseconds{uncore_.time_of(Cycles{caches::kLineBytes}).count() /
                                config_.uncore.port_width.count()};
    const Femtoseconds there = start + config_.uncore.answer;
    core_of(flight.member)
        .caches()
        .deliver(flight.request.line, core_clock_.first_cycle_from(there).count(), dirty);
    flights_.give_back(tag);
}

void Uncore::ask_memory(std::uint64_t tag, Femtoseconds now) {
    const Flight& flight = flights_[tag];
    memory::port::MemoryRequest request;
    request.address = flight.request.line * caches::kLineBytes;
    request.bytes = caches::kLineBytes;
    request.write = flight.memory_write;
    request.client = this;
    request.tag = tag;
    request.arrival = now + config_.uncore.to_memory;
    ++(flight.memory_write ? counters_.memory_writes : counters_.memory_reads);
    memory_.submit(request);
}

// Said as soon as the controller knows: the answer leaves when the data is there.
void Uncore::on_memory_complete(std::uint64_t tag, Femtoseconds when) {
    if (flights_[tag].memory_write) {
        flights_.give_back(tag);
        return;
    }
    flights_[tag].answered = true;
    expect(flights_[tag].request.line);
    queue_.at(std::max(when, queue_.now()), *this, tag);
}

// When the slice and the links have let the line pass; what that takes at least is `answer`.
Femtoseconds Uncore::from_slice(const Flight& flight, Femtoseconds now) {
    const std::size_t slice = mesh_.slice_of(flight.request.line);
    const Femtoseconds arrives =
        mesh_.carry(slice, mesh_.stop_of(flight.member), mesh_.serve(slice, now), now);
    counters_.kept_waiting += arrives > now ? 1 : 0;
    return arrives;
}

}  // namespace tilesim::arch::amx::socket
