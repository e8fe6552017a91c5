// Stores between the window and the L1: a line an entry, committed in program order.
//
// An entry is taken when the store enters the window, gets its data when the store executes,
// becomes senior when it retires, and is written to the L1 one a cycle once the line is there.
// Lines of senior stores are asked for ahead, one a cycle, once more from the oldest on where that
// one's was evicted before its turn; a store past the caches asks for none and takes a fill buffer
// when it is its turn. A tile load of the line waits until `tile_load_after_store` cycles after
// that; an AVX-512 load may take its data from the entry, of a tile store a full line only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arch/amx/caches/page_map.hpp"
#include "arch/amx/caches/private_caches.hpp"
#include "arch/base/spread.hpp"

namespace tilesim::arch::amx::core {

class StoreBuffer {
  public:
    StoreBuffer(std::int64_t entries, std::int64_t tile_load_after_store,
                const caches::PageMap& pages);

    static constexpr std::int64_t kNone = -1;

    // Those there have been.
    std::int64_t count() const { return tail_; }
    void record(caches::StateRecord& to, const caches::PrivateCaches& caches) const;

    std::int64_t room() const { return entries_ - (tail_ - commit_); }
    bool empty() const { return tail_ == commit_; }
    // Stores that have reached the L1.
    std::int64_t committed() const { return commit_; }
    // Of the store that is written next, of which there must be one: whether it has retired, its
    // line, whether that goes past the caches.
    bool head_is_senior() const { return commit_ < senior_; }
    caches::Line head_line() const { return at(commit_).line; }
    bool head_streams() const { return at(commit_).streams; }
    // `step` has nothing to do, and `next_event` to say.
    bool idle() const { return tail_ == release_; }
    // The youngest store before `sequence` to the line that a tile load must still wait for.
    std::int64_t conflict(caches::Line line, std::uint64_t sequence) const {
        return idle() || filter_[slot_of(line)] == 0 ? kNone : search(line, sequence);
    }
    bool released(std::int64_t store) const { return store < release_; }
    bool committed(std::int64_t store) const { return store < commit_; }
    bool senior(std::int64_t store) const { return store < senior_; }  // it has retired
    // May a load of [address, address + bytes) take its data from the store? It must lie within,
    // and be the whole line where a tile store wrote it.
    bool forwards(std::int64_t store, std::int64_t address, std::int64_t bytes) const;
    std::int64_t data_at(std::int64_t store) const { return at(store).data_at; }
    // Next cycle with something to do, as far as is known here.
    std::int64_t next_event(std::int64_t now) const;

    // The part of a store that lies in one line; returns its number.
    // `streams`: past the caches.
    std::int64_t push(std::int64_t address, std::int64_t bytes, std::uint64_t sequence, bool tile,
                      bool streams = false);
    void set_data(std::int64_t store, std::int64_t cycle) { at(store).data_at = cycle; }
    // Every entry below `end` belongs to a retired store.
    void set_senior(std::int64_t end) { senior_ = end; }
    // A line has come into the L1, and may have driven out another.
    void note_fill(const caches::PrivateCaches::Fill& fill) {
        if (commit_ == tail_) {
            return;
        }
        const caches::Line line = at(commit_).line;
        lineless_ = fill.came == line ? kNone : lineless_;
        kept_ = fill.left == line ? Head{} : kept_;
    }
    // One cycle; true when something moved. Loads come before lines are asked for: `step` is both.
    bool step(std::int64_t now, caches::PrivateCaches& caches) {
        const bool written = commit(now, caches);
        return ask(now, caches) || written;
    }
    bool commit(std::int64_t now, caches::PrivateCaches& caches);
    bool ask(std::int64_t now, caches::PrivateCaches& caches) {
        asked_ = std::max(asked_, commit_);
        const bool wants = asked_ < senior_ || (commit_ < senior_ && !keeps_head(caches));
        const bool moved = wants && ask_ahead(now, caches);
        refused_now_ = refused_ == caches.version();
        return moved;
    }

  private:
    struct Entry {
        std::int64_t address = 0;
        std::int64_t bytes = 0;
        std::uint64_t sequence = 0;
        caches::Line line = 0;  // of memory
        bool tile = false;
        bool streams = false;
        std::int64_t data_at = caches::kUnknownCycle;
        std::int64_t committed_at = caches::kUnknownCycle;
    };
    struct Head {  // the store to commit next
        std::int64_t store = kNone;
        std::uint64_t given_up = 0;  // lines, when its own was there or on its way

        bool operator==(const Head&) const = default;
    };
    static constexpr unsigned kFilterBits = 10;
    static constexpr std::size_t kFilter = std::size_t{1} << kFilterBits;
    static std::size_t slot_of(caches::Line line) { return base::spread(line, kFilterBits); }
    static caches::Line line_of(const Entry& entry) { return caches::line_at(entry.address); }
    std::int64_t search(caches::Line line, std::uint64_t sequence) const;
    bool write_next(std::int64_t now, caches::PrivateCaches& caches);
    // The head's line is known to be there or on its way.
    bool keeps_head(const caches::PrivateCaches& caches) const {
        return kept_ == Head{commit_, caches.given_up()};
    }
    bool head_lost(const caches::PrivateCaches& caches);
    bool ask_ahead(std::int64_t now, caches::PrivateCaches& caches);
    Entry& at(std::int64_t store) { return ring_[static_cast<std::size_t>(store) & mask_]; }
    const Entry& at(std::int64_t store) const {
        return ring_[static_cast<std::size_t>(store) & mask_];
    }

    std::int64_t entries_;
    std::int64_t after_store_;
    caches::PageMap pages_;
    std::vector<Entry> ring_;
    std::size_t mask_;
    std::array<std::uint16_t, kFilter> filter_{};  // stores held of each slot's lines
    // Store numbers, release <= commit <= asked, senior <= tail.
    std::int64_t release_ = 0;
    std::int64_t commit_ = 0;
    std::int64_t asked_ = 0;
    std::int64_t senior_ = 0;
    std::int64_t tail_ = 0;
    std::int64_t lineless_ = kNone;  // a store that found its line missing, which wakes it
    Head kept_;
    bool refused_now_ = false;
    std::uint64_t refused_ = UINT64_MAX;  // version of the caches that had no fill buffer
};

}  // namespace tilesim::arch::amx::core
