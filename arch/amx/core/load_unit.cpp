#include "arch/amx/core/load_unit.hpp"

namespace tilesim::arch::amx::core {

namespace {

// Of prefetches, which only ask for a line.
bool into_l2(program::Opcode opcode) {
    return opcode == program::Opcode::Prefetcht1 || opcode == program::Opcode::Prefetcht2;
}

}  // namespace

LoadUnit::LoadUnit(const AmxConfig& config, Scoreboard& window, caches::PrivateCaches& caches,
                   StoreBuffer& stores, Translation& pages)
    : config_(config),
      window_(window),
      caches_(caches),
      stores_(stores),
      pages_(pages),
      cycle_(config.access.load_lines * kSlot),
      fill_(cycle_ * config.caches.fill_percent / kSlot),
      replay_(cycle_ * config.access.replay_percent / kSlot) {}

void LoadUnit::start(EntryId id) {
    const Entry& entry = window_.at(id);
    const program::Opcode opcode = entry.instruction->opcode;
    Active active;
    active.id = id;
    active.sequence = entry.sequence;
    active.prefetch = program::is_prefetch(opcode);
    if (into_l2(opcode)) {
        caches_.expect(pages_.physical(line_of(entry, 0)));
    }
    std::vector<Active>& list = into_l2(opcode) ? fetches_ : active_;
    auto place = list.end();
    while (place != list.begin() && (place - 1)->sequence > active.sequence) {
        --place;
    }
    list.insert(place, active);
    prefetches_ += active.prefetch && config_.access.prefetch_port ? 1 : 0;
}

void LoadUnit::take_slots(Active& active, std::int64_t now) {
    const Entry& entry = window_.at(active.id);
    if (active.prefetch) {
        send_prefetch(active, now);
        return;
    }
    const Lines lines(entry);
    while (slots_left(now) && entry.next_line < entry.lines &&
           load_line(active, lines(entry.next_line), now) == Access::Done) {
        slot_ += kSlot;
    }
}

void LoadUnit::send_prefetch(Active& active, std::int64_t now) {
    if (!may_send_prefetch(now) || prefetch(active, now) == Access::Blocked) {
        return;
    }
    prefetches_ -= config_.access.prefetch_port ? 1 : 0;
    if (by_prefetch_port(now)) {
        prefetch_free_ = now + 1;
    } else {
        prefetch_slot_free_ = now + 1;
        slot_ += kSlot;
    }
}

void LoadUnit::step(std::int64_t now) {
    wake_ = caches::kUnknownCycle;
    slot_ = std::max(slot_, now * cycle_);
    pages_.ask_again(now);
    bool sent = false;
    bool fetched = false;
    std::size_t fetch = 0;
    for (Active& active : active_) {
        if (fetch < fetches_.size() && !caches_.full()) {
            fetched = send_fetches(fetch, active.sequence, now) || fetched;
        }
        if (!ports_left(now)) {
            break;
        }
        if (active.refused == caches_.version() || refused_again(active, now)) {
            continue;
        }
        take_slots(active, now);
        sent = sent || window_.at(active.id).next_line == window_.at(active.id).lines;
    }
    if (fetch < fetches_.size()) {
        fetched = send_fetches(fetch, UINT64_MAX, now) || fetched;
    }
    if (sent) {
        drop_sent(active_);
    }
    if (fetched) {
        drop_sent(fetches_);
    }
    if (!empty() && !slots_left(now)) {
        run_ahead(now);
    }
    if (!empty() && !slots_left(now)) {
        wake_ = std::min(wake_, slot_ / cycle_);
    }
    if (prefetches_ > 0 && prefetch_free_ > now) {
        wake_ = std::min(wake_, prefetch_free_);
    }
}

// Prefetches into the L2 from the one in place `next` on to the last before `before`; whether any
// was sent.
bool LoadUnit::send_fetches(std::size_t& next, std::uint64_t before, std::int64_t now) {
    bool sent = false;
    while (next < fetches_.size() && fetches_[next].sequence < before && !caches_.full() &&
           ports_left(now)) {
        if (pass_refused(next, before, now)) {
            continue;
        }
        Active& fetch = fetches_[next++];
        if (fetch.refused != caches_.version()) {
            take_slots(fetch, now);
            sent = sent || window_.at(fetch.id).next_line > 0;
        }
    }
    return sent;
}

// Those for which the L2 had no place and has none now either, up to the first that may find one;
// whether there are such.
bool LoadUnit::pass_refused(std::size_t& next, std::uint64_t before, std::int64_t now) {
    const std::size_t first = next;
    if (!fetches_[next].repeats || !may_send_prefetch(now) || caches_.l2_finds_place(now)) {
        return false;
    }
    while (next < fetches_.size() && fetches_[next].sequence < before && fetches_[next].repeats &&
           caches_.none_in_l2(fetches_[next].refusal)) {
        fetches_[next++].refused = caches_.version();
    }
    return next > first;
}

void LoadUnit::drop_sent(std::vector<Active>& list) const {
    std::erase_if(list, [this](const Active& active) {
        const Entry& entry = window_.at(active.id);
        return entry.next_line == entry.lines;
    });
}

// The lines of the oldest load that hit and that no store blocks, each in its own slot.
void LoadUnit::run_ahead(std::int64_t now) {
    if (active_.empty() ||
        (!fetches_.empty() && fetches_.front().sequence < active_.front().sequence)) {
        return;
    }
    const EntryId id = active_.front().id;
    Entry& entry = window_.at(id);
    if (entry.instruction->opcode != program::Opcode::Tileloadd || entry.store >= 0) {
        return;
    }
    const Lines lines(entry);
    const std::int64_t free = translated(entry, lines, unblocked(entry, lines), now);
    if (active_.front().refused != caches_.version()) {  // otherwise the next line is not there
        take_hits(id, lines, free);
    }
}

// Those of its `count` next lines up to the first that is not there.
void LoadUnit::take_hits(EntryId id, const Lines& lines, std::int64_t count) {
    Entry& entry = window_.at(id);
    const std::int64_t first = entry.next_line;
    if (count == 0 || !caches_.contains_l1(pages_.physical(lines(first)))) {
        return;  // as mostly
    }
    caches::Line page = -1;  // rows of a page share its frame
    caches::Line frame = 0;
    const std::int64_t hits = caches_.load_hits(count, [&](std::int64_t i) {
        const caches::Line line = lines(first + i);
        if (line / caches::kLinesPerPage != page) {
            page = line / caches::kLinesPerPage;
            frame = pages_.physical(page * caches::kLinesPerPage);
        }
        return frame + line % caches::kLinesPerPage;
    });
    if (hits > 0) {
        active_.front().repeats = false;
        entry.next_line = static_cast<std::int8_t>(first + hits);
        slot_ += hits * kSlot;
        entry.latest_line = std::max(entry.latest_line,
                                     (slot_ - kSlot) / cycle_ + config_.caches.l1_latency.count());
    }
    if (entry.next_line == entry.lines) {
        active_.erase(active_.begin());
        finish_if_there(id, entry);
    }
}

// How many lines there are from the next one on to the first that a store blocks. Older stores only
// become fewer: what is free of them stays so.
std::int64_t LoadUnit::unblocked(Entry& entry, const Lines& lines) const {
    if (stores_.idle()) {
        return entry.lines - entry.next_line;
    }
    entry.unblocked = std::max(entry.unblocked, entry.next_line);
    while (entry.unblocked < entry.lines &&
           stores_.conflict(lines(entry.unblocked), entry.sequence) == StoreBuffer::kNone) {
        ++entry.unblocked;
    }
    return entry.unblocked - entry.next_line;
}

// How many of its `count` next lines lie in pages that are known. To ask again for the last of
// those asked for changes nothing while the TLBs have not changed.
std::int64_t LoadUnit::translate(const Entry& entry, const Lines& lines, std::int64_t count,
                                 std::int64_t now) {
    const std::int64_t first = entry.next_line;
    // Before the first answer: one that brings a page in may drive another of them out.
    const Translated asked{entry.sequence, pages_.changes(), first + count};
    if (count > 0 && pages_.page_of(lines(first)) == pages_.page_of(lines(first + count - 1))) {
        if (!pages_.ready(lines(first), now)) {
            return 0;
        }
        translated_ = {entry.sequence, pages_.changes(), first + count};  // rows between lie there
        return count;
    }
    std::int64_t page = -1;
    for (std::int64_t i = 0; i < count; ++i) {
        const caches::Line line = lines(first + i);
        if (pages_.page_of(line) != page) {
            if (!pages_.ready(line, now)) {
                return i;
            }
            page = pages_.page_of(line);
        }
    }
    translated_ = asked;
    return count;
}

bool LoadUnit::forwards(const Entry& entry, std::int64_t store) const {
    return !program::is_tile_load(entry.instruction->opcode) &&
           stores_.forwards(store, entry.address, entry.bytes);
}

// The entry's next line.
LoadUnit::Access LoadUnit::load_line(Active& active, caches::Line line, std::int64_t now) {
    Entry& entry = window_.at(active.id);
    if (!page_ready(pages_.page_of(line), now)) {
        return Access::Blocked;
    }
    if (active.repeats &&  // no store was in its way before either
        caches_.load_refused(active.refusal, active.line, now, active.id, true)) {
        asked(active, caches::PrivateCaches::Outcome::Waiting, active.line, now);
        return Access::Done;
    }
    if (entry.store == StoreBuffer::kNone && entry.next_line >= entry.unblocked) {
        entry.store = stores_.conflict(line, entry.sequence);
    }
    if (entry.store != StoreBuffer::kNone) {
        if (!passed(entry)) {
            return take_from(entry.store, active.id, now);
        }
        entry.store = StoreBuffer::kNone;
    }
    return load(active, line, now);
}

// The store that blocked it does so no longer.
bool LoadUnit::passed(const Entry& entry) const {
    return program::is_tile_load(entry.instruction->opcode) ? stores_.released(entry.store)
                                                            : stores_.committed(entry.store);
}

// The data of a store that is not yet in the L1, where it may have them.
LoadUnit::Access LoadUnit::take_from(std::int64_t store, EntryId id, std::int64_t now) {
    Entry& entry = window_.at(id);
    if (!forwards(entry, store)) {
        return Access::Blocked;
    }
    if (stores_.data_at(store) > now) {
        wake_ = std::min(wake_, stores_.data_at(store));
        return Access::Blocked;
    }
    entry.latest_line = now + config_.access.forward_latency.count();
    ++entry.next_line;
    finish_if_there(id, entry);
    return Access::Done;
}

LoadUnit::Access LoadUnit::load(Active& active, caches::Line line, std::int64_t now) {
    const program::Opcode opcode = window_.at(active.id).instruction->opcode;
    const bool nontemporal = opcode == program::Opcode::Tileloaddt1;
    if (nontemporal && nontemporal_free_ > now) {
        wake_ = std::min(wake_, nontemporal_free_);
        return Access::Blocked;
    }
    const bool fills = !nontemporal || config_.access.nontemporal_fills_l1;
    const caches::Line physical = pages_.physical(line);
    const auto outcome = caches_.load(physical, now, active.id, fills);
    if (outcome == caches::PrivateCaches::Outcome::NoBuffer) {
        note_refusal(active, line, physical);
        active.repeats = !nontemporal;
        return Access::Blocked;
    }
    asked(active, outcome, physical, now);
    return Access::Done;
}

// The entry's next line is there or under way.
void LoadUnit::asked(Active& active, caches::PrivateCaches::Outcome outcome, caches::Line physical,
                     std::int64_t now) {
    Entry& entry = window_.at(active.id);
    const program::Opcode opcode = entry.instruction->opcode;
    active.repeats = false;
    ++entry.next_line;
    if (opcode == program::Opcode::Tileloaddt1) {
        const bool last = entry.next_line == entry.lines;
        nontemporal_free_ = now + config_.access.nontemporal_line.count() +
                            (last ? config_.access.nontemporal_gap.count() : 0);
    }
    if (outcome == caches::PrivateCaches::Outcome::Hit) {
        entry.latest_line = std::max(entry.latest_line, now + config_.caches.l1_latency.count());
    } else {
        ++entry.waiting;
        entry.missed = physical;
    }
    if (!program::is_tile_load(opcode)) {
        caches_.train(
            reinterpret_cast<std::uintptr_t>(entry.instruction) / sizeof(program::Statement),
            physical, now);
    }
    finish_if_there(active.id, entry);
}

LoadUnit::Access LoadUnit::prefetch(Active& active, std::int64_t now) {
    Entry& entry = window_.at(active.id);
    const caches::Line line = line_of(entry, 0);
    const caches::Line physical = pages_.physical(line);
    const program::Opcode opcode = entry.instruction->opcode;
    if (fetch(opcode, physical, now) == caches::PrivateCaches::Outcome::NoBuffer) {
        note_refusal(active, line, physical);
        active.repeats = true;
        if (into_l2(opcode)) {
            active.refusal = caches_.refusal_by_l2(physical);
        }
        return Access::Blocked;
    }
    ++entry.next_line;
    entry.latest_line = now;
    finish_if_there(active.id, entry);
    return Access::Done;
}

caches::PrivateCaches::Outcome LoadUnit::fetch(program::Opcode opcode, caches::Line line,
                                               std::int64_t now) {
    if (opcode == program::Opcode::Prefetchw) {
        return caches_.own(line, now);
    }
    const bool into_l1 =
        opcode == program::Opcode::Prefetcht0 || opcode == program::Opcode::Prefetchnta;
    return caches_.prefetch(line, into_l1, now);
}

void LoadUnit::arrive(EntryId id, std::int64_t now) {
    Entry& entry = window_.at(id);
    --entry.waiting;
    entry.latest_line = std::max(entry.latest_line, now);
    if (!program::is_tile_load(entry.instruction->opcode)) {
        slot_ = std::max(slot_, now * cycle_) + replay_;
    }
    finish_if_there(id, entry);
}

// When every line is there the register follows after the time its kind takes.
void LoadUnit::finish(EntryId id) {
    Entry& entry = window_.at(id);
    const program::Opcode opcode = entry.instruction->opcode;
    if (entry.port0 + entry.port5 > 0) {
        window_.wake(id, entry.latest_line);
        return;
    }
    std::int64_t to_use = config_.access.vector_load_to_use.count();
    if (opcode == program::Opcode::Tileloadd) {
        to_use = config_.access.tile_load_to_use.count();
    } else if (opcode == program::Opcode::Tileloaddt1) {
        to_use = config_.access.nontemporal_to_use.count();
    } else if (program::is_prefetch(opcode)) {
        to_use = 1;
    } else if (opcode == program::Opcode::Mov) {
        to_use = 0;
    }
    entry.done_at = entry.latest_line + to_use;
    window_.issue(id);
    window_.complete(id, entry.done_at);
}

std::int64_t LoadUnit::next_event(std::int64_t now) const {
    return std::max(wake_, now + 1);
}

// Of a refused line only whether it may be asked for again: a look whether it has a buffer by now
// finds what asking for it would.
void LoadUnit::record(caches::StateRecord& to, std::uint64_t next) const {
    for (const std::vector<Active>* const list : {&active_, &fetches_}) {
        to.add(std::ssize(*list));
        for (const Active& active : *list) {
            to.sequence(active.sequence);
            to.add((active.refused == caches_.version() ? 1 : 0) | (active.prefetch ? 2 : 0) |
                   (active.repeats ? 4 : 0));
        }
    }
    to.time_in_parts(slot_, cycle_, 0);
    to.add(prefetches_);
    to.time(prefetch_free_);
    to.time(prefetch_slot_free_);
    to.time(nontemporal_free_);
    const bool known = !active_.empty() && translated_.changes == pages_.changes() &&
                       translated_.sequence >= active_.front().sequence;
    to.add(known ? static_cast<std::int64_t>(next - translated_.sequence) : -1);
    to.add(known ? translated_.end : 0);
}

}  // namespace tilesim::arch::amx::core
