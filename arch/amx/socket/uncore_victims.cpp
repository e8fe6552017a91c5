// What the L3 takes from the cores, before a run and in it, and what it gives to DRAM.
#include "arch/amx/socket/uncore.hpp"

namespace tilesim::arch::amx::socket {

using base::Femtoseconds;
using Kind = caches::UncoreRequest::Kind;

void Uncore::warm(caches::Line line, bool dirty) {
    l3_.install(line, dirty);
    filter_.of(line).reused = true;
}

void Uncore::warm_victim(std::size_t core, caches::Line line, bool dirty) {
    for (const std::size_t member : stands_for_[core]) {
        warm(line_of(member, line), dirty);
    }
}

void Uncore::warm_core(std::size_t member, caches::Line line) {
    SnoopFilter::Entry& entry = filter_.of(line);
    const std::uint16_t name = SnoopFilter::name_of(member);
    entry.holder =
        entry.holder == SnoopFilter::kNobody || entry.holder == name ? name : SnoopFilter::kSeveral;
    entry.reused = true;
}

void Uncore::flush(caches::Line line) {
    l3_.remove(line);
    SnoopFilter::Entry& entry = filter_.of(line);
    const std::uint32_t tag = entry.tag;
    entry = {};
    entry.tag = tag;
}

void Uncore::take_victim(const Flight& flight, Femtoseconds now) {
    const caches::Line line = flight.request.line;
    SnoopFilter::Entry& entry = filter_.of(line);
    if (flight.request.kind == Kind::Stream) {
        take_from_others(flight.member, line, entry);
        entry.holder = SnoopFilter::kNobody;
        l3_.remove(line);
        write_back(line, now);
        return;
    }
    if (entry.holder == SnoopFilter::name_of(flight.member)) {
        entry.holder = SnoopFilter::kNobody;
    }
    const bool dirty = flight.request.kind == Kind::DirtyVictim;
    const bool used = dirty || entry.reused;
    if (used || takes_unused(line, entry.again)) {
        mesh_.carry(mesh_.stop_of(flight.member), mesh_.slice_of(line), now, now);
        if (used) {
            install(line, dirty, now);
        } else {
            install_unused(line, now);
        }
    }
}

// All that DRAM has been asked for again; of the others so many of a hundred, evenly.
bool Uncore::takes_unused(caches::Line line, bool again) {
    constexpr std::int64_t kPercent = 100;
    ++counters_.unused_victims;
    if (!config_.uncore.clean_displaces && !l3_.has_room(line)) {
        return false;
    }
    if (again) {
        return true;
    }
    unused_ += config_.uncore.clean_percent;
    const bool takes = unused_ >= kPercent;
    unused_ -= takes ? kPercent : 0;
    return takes;
}

void Uncore::install(caches::Line line, bool dirty, Femtoseconds now) {
    mesh_.serve(mesh_.slice_of(line), now);
    drop(l3_.install(line, dirty), now);
}

void Uncore::install_unused(caches::Line line, Femtoseconds now) {
    mesh_.serve(mesh_.slice_of(line), now);
    drop(l3_.install_next_to_go(line), now);
}

void Uncore::drop(const caches::Cache::Victim& victim, Femtoseconds now) {
    if (victim.dirty) {
        mesh_.serve(mesh_.slice_of(victim.line), now);
        write_back(victim.line, now);
    }
}

void Uncore::write_back(caches::Line line, Femtoseconds now) {
    const std::uint64_t tag = take_flight({Kind::DirtyVictim, line, 0}, 0);
    flights_[tag].memory_write = true;
    ask_memory(tag, now);
}

}  // namespace tilesim::arch::amx::socket
