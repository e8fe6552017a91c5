#include "arch/amx/socket/uncore.hpp"

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::socket {

using base::Cycles;
using base::Femtoseconds;

Uncore::Uncore(const AmxConfig& config, memory::port::MemoryPort& memory,
               base::EventQueue& queue, std::vector<core::Core*> cores)
    : config_(config),
      memory_(memory),
      queue_(queue),
      core_clock_(config.clock),
      uncore_(config.uncore.clock),
      cores_(std::move(cores)),
      l3_(config.uncore.l3),
      port_free_(cores_.size(), Femtoseconds{0}),
      streams_(cores_.size(), caches::StreamTable{true}) {}

Femtoseconds Uncore::lookahead() const {
    return std::min(cycles(config_.uncore.lookup), cycles(config_.uncore.answer));
}

Femtoseconds Uncore::memory_lookahead(const AmxConfig& config) {
    return base::Clock{config.uncore.clock}.time_of(config.uncore.to_memory);
}

void Uncore::warm(caches::Line line) {
    l3_.install(line, false);
}

std::uint64_t Uncore::take_flight(const caches::UncoreRequest& request, std::size_t core) {
    const std::size_t tag = flights_.take();
    flights_[tag] = {request, core};
    return tag;
}

void Uncore::collect() {
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        for (const caches::UncoreRequest& request : cores_[core]->caches().outbox()) {
            const std::uint64_t tag = take_flight(request, core);
            const Femtoseconds sent = core_clock_.time_of(Cycles{request.cycle});
            queue_.at(std::max(queue_.now(), sent + cycles(config_.uncore.lookup)), *this, tag);
        }
        cores_[core]->caches().outbox().clear();
    }
}

void Uncore::on_event(std::uint64_t tag, Femtoseconds now) {
    if (flights_[tag].prefetch) {
        prefetched(tag, now);
    } else if (flights_[tag].answered) {
        answer(tag, now);
    } else {
        look_up(tag, now);
    }
}

void Uncore::look_up(std::uint64_t tag, Femtoseconds now) {
    const Flight flight = flights_[tag];
    const caches::UncoreRequest& request = flight.request;
    if (request.kind == caches::UncoreRequest::Kind::CleanVictim ||
        request.kind == caches::UncoreRequest::Kind::DirtyVictim) {
        install(request.line, request.kind == caches::UncoreRequest::Kind::DirtyVictim, now);
        flights_.give_back(tag);
        return;
    }
    ++counters_.requests;
    if (take_from_core(flight)) {
        ++counters_.from_cores;
        install(request.line, true, now);
        answer(tag, now + cycles(config_.uncore.dirty_elsewhere));
        return;
    }
    if (l3_.touch(request.line)) {
        ++counters_.l3_hits;
        answer(tag, now);
    } else {
        cores_[flight.core]->caches().located(request.line, caches::Level::Memory);
        if (const auto coming = coming_.find(request.line); coming != coming_.end()) {
            coming->second.push_back(tag);
        } else {
            ask_memory(tag, now);
        }
    }
    prefetch(flight.core, request.line, now);
}

void Uncore::prefetch(std::size_t core, caches::Line line, Femtoseconds now) {
    if (config_.uncore.streamer == 0) {
        return;
    }
    const auto [first, end] = streams_[core].access(line, config_.uncore.streamer);
    for (caches::Line ahead = first; ahead < end; ++ahead) {
        if (l3_.contains(ahead) || coming_.contains(ahead) || held_by_a_core(ahead)) {
            continue;
        }
        coming_[ahead];
        const std::uint64_t tag = take_flight({caches::UncoreRequest::Kind::Read, ahead, 0}, core);
        flights_[tag].prefetch = true;
        ++counters_.prefetches;
        ask_memory(tag, now);
    }
}

// Somebody's L2 answers for it, or has asked for it already.
bool Uncore::held_by_a_core(caches::Line line) const {
    return std::any_of(cores_.begin(), cores_.end(), [line](const core::Core* core) {
        return core->caches().has_or_awaits(line);
    });
}

void Uncore::prefetched(std::uint64_t tag, Femtoseconds when) {
    const caches::Line line = flights_[tag].request.line;
    install(line, false, when);
    const std::vector<std::uint64_t> waiting = std::move(coming_[line]);
    coming_.erase(line);
    flights_.give_back(tag);
    for (const std::uint64_t waiter : waiting) {
        answer(waiter, when);
    }
}

// A line that another core holds dirty is taken from it; one that is to be written leaves every
// other core.
bool Uncore::take_from_core(const Flight& flight) {
    bool dirty = false;
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        caches::PrivateCaches& caches = cores_[core]->caches();
        if (core == flight.core) {
            continue;
        }
        if (caches.dirty(flight.request.line)) {
            dirty = true;
            caches.give_up(flight.request.line);
        } else if (flight.request.kind == caches::UncoreRequest::Kind::Own) {
            caches.give_up(flight.request.line);
        }
    }
    return dirty;
}

void Uncore::answer(std::uint64_t tag, Femtoseconds at) {
    const Flight& flight = flights_[tag];
    Femtoseconds& free = port_free_[flight.core];
    const Femtoseconds start = std::max(at, free);
    // 64 bytes at `port_width` of the core's clock: 21 B/cycle is no whole number of cycles.
    free = start + Femtoseconds{core_clock_.time_of(Cycles{caches::kLineBytes}).count() /
                                config_.uncore.port_width.count()};
    const Femtoseconds there = start + cycles(config_.uncore.answer);
    cores_[flight.core]->caches().deliver(flight.request.line,
                                          core_clock_.first_cycle_from(there).count());
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
    request.arrival = now + cycles(config_.uncore.to_memory);
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
    queue_.at(std::max(when, queue_.now()), *this, tag);
}

void Uncore::install(caches::Line line, bool dirty, Femtoseconds now) {
    const caches::Cache::Victim victim = l3_.install(line, dirty);
    if (victim.dirty) {
        write_back(victim.line, now);
    }
}

void Uncore::write_back(caches::Line line, Femtoseconds now) {
    const std::uint64_t tag = take_flight({caches::UncoreRequest::Kind::DirtyVictim, line, 0}, 0);
    flights_[tag].memory_write = true;
    ask_memory(tag, now);
}

}  // namespace tilesim::arch::amx::socket
