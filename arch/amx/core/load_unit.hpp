// The load ports: two lines a cycle, oldest load first, a tile row by row.
//
// A load whose next line finds no fill buffer, lies in a store that is not yet in the L1 or in a
// page that is being looked up steps aside; younger loads go on. One that has work for ports 0 and
// 5 goes on to them with its line. A line that enters the L1 keeps loads out of it for
// `fill_percent` of a cycle; to read the dirty line that it displaces takes a load's slot. A tile
// load takes rows that it had to wait for as they come; other loads are replayed, which takes
// `replay_percent` of a cycle. Prefetches may have a port of their own, which a line that
// enters the L1 does not keep busy; beside it one a cycle goes as a line does. TILELOADDT1 takes a
// line every `nontemporal_line` cycles, `nontemporal_gap` more at its end, and leaves the L1 alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arch/amx/core/scoreboard.hpp"
#include "arch/amx/core/store_buffer.hpp"
#include "arch/amx/core/translation.hpp"

namespace tilesim::arch::amx::core {

class LoadUnit {
  public:
    LoadUnit(const AmxConfig& config, Scoreboard& window, caches::PrivateCaches& caches,
             StoreBuffer& stores, Translation& pages);

    bool empty() const { return active_.empty() && fetches_.empty(); }
    // Line `index` of an entry, rows first.
    static caches::Line line_of(const Entry& entry, std::int64_t index) {
        return Lines(entry)(index);
    }
    // Next cycle with something to do, as far as is known here.
    std::int64_t next_event(std::int64_t now) const;

    void start(EntryId id);
    // The L1 takes a line, and reads out a dirty one in its place: no load is served meanwhile.
    void fill(std::int64_t now, bool displaces_dirty) {
        slot_ = std::max(slot_, now * cycle_) + fill_ + (displaces_dirty ? kSlot : 0);
    }
    // A line the caches had to fetch is there.
    void arrive(EntryId id, std::int64_t now);
    // One cycle. The oldest load has every slot until it is blocked: its lines that hit are taken
    // at once, and the slots with them.
    void step(std::int64_t now);

    // `next`: sequence of the instruction that enters next.
    void record(caches::StateRecord& to, std::uint64_t next) const;

  private:
    struct Lines {
        explicit Lines(const Entry& entry)
            : address(entry.address),
              stride(entry.instruction->row_stride),
              split(entry.lines != entry.rows) {}
        caches::Line operator()(std::int64_t index) const {
            if (split) {  // rows that do not start on a line take two
                return caches::line_at(address + index / 2 * stride) + index % 2;
            }
            return caches::line_at(address + index * stride);
        }
        std::int64_t address;
        std::int64_t stride;
        bool split;
    };
    enum class Access { Done, Blocked };
    // A load with lines to ask for, and what is known of the next where no buffer was free for it.
    struct Active {
        EntryId id = kNoEntry;
        caches::Refusal refusal;
        std::uint64_t sequence = 0;
        std::uint64_t refused = UINT64_MAX;  // the caches' version then
        std::int64_t page = 0;
        caches::Line line = 0;  // of memory
        bool prefetch = false;
        bool repeats = false;  // may be refused again without a look: no TILELOADDT1
    };
    struct Translated {  // lines of an entry, to the last that no store blocked
        std::uint64_t sequence = 0;
        std::uint64_t changes = 0;  // of the TLBs, when all their pages were known
        std::int64_t end = 0;

        bool operator==(const Translated&) const = default;
    };
    static constexpr std::int64_t kSlot = 100;
    Access load_line(Active& active, caches::Line line, std::int64_t now);
    // Is the page known? If not, its time wakes the unit.
    bool page_ready(std::int64_t page, std::int64_t now) {
        const bool ready = pages_.page_ready(page, now);
        wake_ = ready ? wake_ : std::min(wake_, pages_.next_event());
        return ready;
    }
    void note_refusal(Active& active, caches::Line line, caches::Line physical) const {
        active.refused = caches_.version();
        active.refusal = caches_.refusal(physical);
        active.page = pages_.page_of(line);
        active.line = physical;
    }
    // A line that found no fill buffer finds none now either. Its page is asked for as it would be:
    // the TLBs' order goes by that.
    bool refused_again(Active& active, std::int64_t now) {
        if (!active.repeats || !caches_.refuses_again(active.refusal)) {
            return false;
        }
        if (!active.prefetch && (!slots_left(now) || !page_ready(active.page, now))) {
            return true;
        }
        active.refused = caches_.version();
        return true;
    }
    void run_ahead(std::int64_t now);
    bool slots_left(std::int64_t now) const { return slot_ < (now + 1) * cycle_; }
    bool prefetch_port_left(std::int64_t now) const {
        return prefetches_ > 0 && prefetch_free_ <= now;
    }
    bool ports_left(std::int64_t now) const { return slots_left(now) || prefetch_port_left(now); }
    // By a port of its own, or as one a cycle by a slot of a line; as a line where it has none.
    bool by_prefetch_port(std::int64_t now) const {
        return config_.access.prefetch_port && prefetch_free_ <= now;
    }
    bool may_send_prefetch(std::int64_t now) const {
        const bool by_slot = !config_.access.prefetch_port || prefetch_slot_free_ <= now;
        return by_prefetch_port(now) || (by_slot && slots_left(now));
    }
    bool send_fetches(std::size_t& next, std::uint64_t before, std::int64_t now);
    bool pass_refused(std::size_t& next, std::uint64_t before, std::int64_t now);
    void drop_sent(std::vector<Active>& list) const;
    void take_slots(Active& active, std::int64_t now);
    void send_prefetch(Active& active, std::int64_t now);
    Access load(Active& active, caches::Line line, std::int64_t now);
    void asked(Active& active, caches::PrivateCaches::Outcome outcome, caches::Line physical,
               std::int64_t now);
    Access prefetch(Active& active, std::int64_t now);
    caches::PrivateCaches::Outcome fetch(program::Opcode opcode, caches::Line line,
                                         std::int64_t now);
    Access take_from(std::int64_t store, EntryId id, std::int64_t now);
    bool passed(const Entry& entry) const;
    std::int64_t unblocked(Entry& entry, const Lines& lines) const;
    std::int64_t translated(const Entry& entry, const Lines& lines, std::int64_t count,
                            std::int64_t now) {
        const Translated asked{entry.sequence, pages_.changes(), entry.next_line + count};
        return asked == translated_ ? count : translate(entry, lines, count, now);
    }
    std::int64_t translate(const Entry& entry, const Lines& lines, std::int64_t count,
                           std::int64_t now);
    void take_hits(EntryId id, const Lines& lines, std::int64_t count);
    bool forwards(const Entry& entry, std::int64_t store) const;
    void finish_if_there(EntryId id, const Entry& entry) {
        if (entry.next_line == entry.lines && entry.waiting == 0) {
            finish(id);
        }
    }
    void finish(EntryId id);

    const AmxConfig& config_;
    Scoreboard& window_;
    caches::PrivateCaches& caches_;
    StoreBuffer& stores_;
    Translation& pages_;
    // In order of age: prefetches into the L2, which do nothing while no buffer is free, and
    // others.
    std::vector<Active> fetches_;
    std::vector<Active> active_;
    std::int64_t cycle_;           // a cycle in hundredths of a load's slot
    std::int64_t fill_;            // a line that enters the L1, in those
    std::int64_t replay_;          // a load that is replayed
    std::int64_t slot_ = 0;        // next free one, in those
    std::int64_t prefetches_ = 0;  // active ones, where they have a port of their own
    std::int64_t prefetch_free_ = 0;
    std::int64_t prefetch_slot_free_ = 0;  // for one that goes as a line does
    std::int64_t nontemporal_free_ = 0;
    std::int64_t wake_ = caches::kUnknownCycle;  // earliest known end of a block
    Translated translated_;
};

}  // namespace tilesim::arch::amx::core
