// The bounded out-of-order window: what has been allocated and not yet retired, who waits for whom,
// and which tile registers are free.
//
// Registers are renamed: an instruction knows the producers of its operands when it enters. Vector
// and scalar registers are never short; tiles come from a pool of `physical_tiles`, one taken by
// every instruction that writes a tile (TILEZERO, a zero idiom, takes none) and given back when the
// next writer of the same name retires. An instruction whose operands are all there at a known
// cycle lies in a time wheel until then.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/amx/caches/private_caches.hpp"
#include "arch/amx/program/instruction_stream.hpp"
#include "arch/base/stats.hpp"

namespace tilesim::arch::amx::core {

using EntryId = std::uint32_t;
inline constexpr EntryId kNoEntry = UINT32_MAX;

// 128 bytes: two lines of the host's cache.
struct alignas(128) Entry {
    const program::Instruction* instruction = nullptr;
    std::uint64_t sequence = 0;
    std::int64_t address = 0;
    std::int64_t operands_at = 0;  // latest operand, of those known
    std::int64_t result_at = caches::kUnknownCycle;
    std::int64_t done_at = caches::kUnknownCycle;  // may retire from this cycle on
    std::int64_t store = -1;       // number of its first store; of a load: that blocks it
    std::int64_t latest_line = 0;  // when its latest line came
    caches::Line missed = -1;      // its latest miss
    std::array<EntryId, 3> producers{kNoEntry, kNoEntry, kNoEntry};
    std::array<std::uint32_t, 3> next_consumer{};
    std::uint32_t consumers = UINT32_MAX;  // list of entry * 4 + operand
    EntryId next_in_slot = kNoEntry;
    std::int16_t uops = 1;
    std::int8_t bytes = 0;  // of a vector load or store
    std::int8_t rows = 0;
    std::int8_t lines = 0;      // of a load or store; of a TDP: rows of B
    std::int8_t next_line = 0;  // first not yet asked for
    std::int8_t waiting = 0;    // lines under way
    std::int8_t unblocked = 0;  // those before are free of older stores
    std::int8_t port0 = 0;      // cycles it takes of ports 0 and 5
    std::int8_t port5 = 0;
    std::uint8_t target = UINT8_MAX;  // register it writes
    std::uint8_t pending : 4 = 0;     // operands whose time is not known
    bool issued : 1 = false;
    bool frees_tile : 1 = false;  // at retirement
    bool stores_dot : 1 = false;  // a store whose tile a TDP wrote last
    bool keeps_b : 1 = false;     // a TDP whose B is that of the one before
};
static_assert(sizeof(Entry) == 128);

// Why nothing more can be allocated.
enum class Blocked : std::uint8_t { No, Window, Scheduler, LoadQueue, StoreBuffer, Tiles };
inline constexpr base::stats::StateTable<Blocked> kBlocked{{
    {Blocked::No, "nothing", "instructions enter"},
    {Blocked::Window, "window", "room in the reorder buffer"},
    {Blocked::Scheduler, "scheduler", "room in its scheduler"},
    {Blocked::LoadQueue, "load_queue", "room in the load queue"},
    {Blocked::StoreBuffer, "store_buffer", "room in the store buffer"},
    {Blocked::Tiles, "tiles", "a free physical tile"},
}};

// Most uops there have been at a time.
struct WindowPeaks {
    std::int64_t uops = 0;
    std::int64_t waiting = 0;         // in the compute scheduler
    std::int64_t memory_waiting = 0;  // in the memory scheduler
    std::int64_t loads = 0;           // in the load queue
};

class Scoreboard {
  public:
    Scoreboard(const WindowConfig& window, const TileConfigTiming& tiles);

    bool empty() const { return head_ == tail_; }
    std::uint64_t retired() const { return head_ - 1; }
    Entry& at(EntryId id) { return entries_[id]; }
    const Entry& at(EntryId id) const { return entries_[id]; }
    const Entry& head() const { return entries_[id_of(head_)]; }
    EntryId head_id() const { return id_of(head_); }
    // Changes whenever an instruction that was blocked may be so no longer.
    std::uint64_t releases() const { return releases_; }
    // May an instruction of so many uops enter? Loads and stores have queues of their own.
    Blocked blocked(const program::Instruction& instruction, std::int64_t uops) const;
    // Next cycle with a waiting instruction whose operands come; kUnknownCycle: none.
    std::int64_t next_due() const { return next_due_; }
    // Is the producer of operand `slot` still to deliver at `now`? Its entry, else kNoEntry.
    EntryId late_producer(const Entry& entry, std::size_t slot, std::int64_t now) const;

    EntryId allocate(const program::DynamicInstruction& dynamic, std::int64_t uops,
                     std::int64_t now);
    // The entry's result is there from `cycle` on.
    void complete(EntryId id, std::int64_t cycle);
    // It has left its scheduler.
    void issue(EntryId id);
    // Takes the head out of the window.
    void retire();
    // It goes on in a unit of its own at `cycle`.
    void wake(EntryId id, std::int64_t cycle) { schedule(id, cycle); }
    // LDTILECFG and TILERELEASE, behind which nothing enters for a while: every tile is zero and
    // stands in no register.
    void reset_tiles();
    // Cycle `now` begins; nothing was due in those since the last.
    void begin(std::int64_t now) { now_ = now - 1; }
    // Takes what is due at `now`, each unit's in an order of its own: a list by `next_in_slot`.
    EntryId pop_due(std::int64_t now) {
        now_ = now;
        return next_due_ == now ? take_slot() : kNoEntry;
    }

    const WindowPeaks& peaks() const { return peaks_; }

    // Sequence of the instruction that enters next.
    std::uint64_t next() const { return tail_; }
    // Of cycle `now`, before its step.
    caches::StateRecord state_record(std::int64_t now) const {
        return {now, tail_, entries_.size()};
    }
    // `stores`: how many there have been.
    void record(caches::StateRecord& to, std::int64_t now, std::int64_t stores) const;

  private:
    struct Register {
        std::uint64_t producer = 0;  // sequence; 0: none
        std::int64_t ready_at = 0;
        bool by_dot = false;
        bool in_pool = false;  // a physical tile stands behind it
    };
    static constexpr std::size_t kWheel = 1024;
    static constexpr std::size_t kWordBits = 64;
    static constexpr std::size_t kMask = program::kTiles + program::kVectorRegisters;  // k1
    static constexpr std::size_t kGenerals = kMask + 1;
    static constexpr std::size_t kRegisters = kGenerals + program::kGeneralRegisters;

    EntryId id_of(std::uint64_t sequence) const { return static_cast<EntryId>(sequence & mask_); }
    void rename(Entry& entry, EntryId id, const program::OpcodeInfo& info, std::int64_t now);
    void use(Entry& entry, EntryId id, std::size_t reg, std::size_t slot, std::int64_t now);
    void write(Entry& entry, std::size_t reg, const program::OpcodeInfo& info);
    bool takes_tile(const program::Instruction& instruction) const;
    std::int64_t forwarded(const Entry& entry, std::size_t slot, bool by_dot) const;
    void schedule(EntryId id, std::int64_t cycle);
    void record_entry(caches::StateRecord& to, const Entry& entry, std::int64_t now,
                      std::int64_t stores) const;
    void record_registers(caches::StateRecord& to, std::int64_t now) const;
    void record_wheel(caches::StateRecord& to, std::int64_t now) const;
    EntryId take_slot();
    std::int64_t first_due() const;

    WindowConfig window_;
    std::vector<Entry> entries_;  // a ring, by sequence
    std::uint64_t mask_;
    std::array<Register, kRegisters> registers_{};
    std::array<EntryId, kWheel> wheel_{};
    std::array<std::uint64_t, kWheel / kWordBits> occupied_{};
    std::int64_t next_due_ = caches::kUnknownCycle;
    std::uint64_t releases_ = 0;
    std::uint64_t head_ = 1;
    std::uint64_t tail_ = 1;
    std::int64_t now_ = 0;
    std::int64_t uops_ = 0;
    std::int64_t waiting_ = 0;         // uops in the compute scheduler
    std::int64_t memory_waiting_ = 0;  // in the memory scheduler
    std::int64_t loads_ = 0;           // uops in the load queue
    std::int64_t free_tiles_ = 0;
    WindowPeaks peaks_;
    bool dot_in_place_ = false;
    std::int64_t forwards_ = 0;  // cycles before its result that a TDP hands C on
    std::int8_t last_b_ = -1;    // tile of the latest TDP's B; -1: it is another by now
};

}  // namespace tilesim::arch::amx::core
