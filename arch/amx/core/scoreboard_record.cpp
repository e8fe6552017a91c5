// What a window is in, as numbers.
#include <algorithm>

#include "arch/amx/core/scoreboard.hpp"

namespace tilesim::arch::amx::core {

// How full its queues are follows from the entries, how many tiles are free from them and the
// registers.
void Scoreboard::record(caches::StateRecord& to, std::int64_t now, std::int64_t stores) const {
    to.sequence(head_);
    for (std::uint64_t sequence = head_; sequence < tail_; ++sequence) {
        record_entry(to, entries_[id_of(sequence)], now, stores);
    }
    record_registers(to, now);
    to.add(last_b_);
    record_wheel(to, now);
}

// Who waits for an entry follows from the producers of those behind it.
void Scoreboard::record_entry(caches::StateRecord& to, const Entry& entry, std::int64_t now,
                              std::int64_t stores) const {
    to.add(reinterpret_cast<std::intptr_t>(entry.instruction));
    to.add(entry.address);
    for (const std::int64_t cycle :
         {entry.operands_at, entry.result_at, entry.done_at, entry.latest_line}) {
        to.time(cycle);
    }
    to.add(entry.store < 0 ? entry.store : stores - entry.store);
    to.add(entry.missed);
    for (const std::int64_t count :
         {std::int64_t{entry.uops}, std::int64_t{entry.bytes}, std::int64_t{entry.rows},
          std::int64_t{entry.lines}, std::int64_t{entry.next_line}, std::int64_t{entry.waiting},
          std::int64_t{entry.unblocked}, std::int64_t{entry.port0}, std::int64_t{entry.port5},
          std::int64_t{entry.target}, std::int64_t{entry.pending}}) {
        to.add(count);
    }
    to.add((entry.issued ? 1 : 0) | (entry.frees_tile ? 2 : 0) | (entry.stores_dot ? 4 : 0) |
           (entry.keeps_b ? 8 : 0));
    for (std::size_t slot = 0; slot < entry.producers.size(); ++slot) {
        // An entry that is no longer in the window counts by its result.
        const EntryId producer = late_producer(entry, slot, now - 1);
        if (producer == kNoEntry) {
            to.add(-1);
            continue;
        }
        to.entry(producer);
        to.time(entries_[producer].result_at);
        to.add(reinterpret_cast<std::intptr_t>(entries_[producer].instruction));
    }
}

void Scoreboard::record_registers(caches::StateRecord& to, std::int64_t now) const {
    for (const Register& reg : registers_) {
        to.add((reg.by_dot ? 1 : 0) | (reg.in_pool ? 2 : 0));
        if (reg.producer == 0 || reg.ready_at < now) {
            to.add(-1);
            continue;
        }
        to.sequence(reg.producer);
        to.time(reg.ready_at);
    }
}

// Those of one cycle go to their units' lists in order of age, however they lie here.
void Scoreboard::record_wheel(caches::StateRecord& to, std::int64_t now) const {
    std::vector<std::uint64_t> due;
    for (std::size_t ahead = 0; ahead < kWheel; ++ahead) {
        const std::size_t slot = (static_cast<std::size_t>(now) + ahead) % kWheel;
        due.clear();
        for (EntryId id = wheel_[slot]; id != kNoEntry; id = entries_[id].next_in_slot) {
            due.push_back(entries_[id].sequence);
        }
        std::sort(due.begin(), due.end());
        if (!due.empty()) {
            to.add(-static_cast<std::int64_t>(ahead) - 1);
        }
        for (const std::uint64_t sequence : due) {
            to.sequence(sequence);
        }
    }
}

}  // namespace tilesim::arch::amx::core
