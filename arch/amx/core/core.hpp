// One core: takes a program's instructions through window, ports and caches, cycle by cycle.
//
// `advance` executes cycles up to a limit and skips those in which nothing can happen. What misses
// the L2 waits in `caches().outbox()` for whoever stands for the rest of the socket; answers come
// back through `caches().deliver`. Every cycle is charged to one state of CoreState.
//
// Models:  see the parts: Scoreboard, Ports, LoadUnit, StoreBuffer, PrivateCaches.
// Ignores: instruction fetch, branch misprediction, the second hardware thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/amx/core/load_unit.hpp"
#include "arch/amx/core/ports.hpp"
#include "arch/amx/program/tile_config.hpp"
#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"

namespace tilesim::arch::amx::core {

// Where a cycle went. While TMUL multiplies that is the answer; else what the oldest TDP in the
// window waits for; without one, what keeps the next from coming.
enum class CoreState : std::uint8_t {
    Multiply,
    StoreRead,  // TMUL gives a result to a tile store
    LoadL1,     // a tile on its way from the L1
    LoadL2,
    LoadL3,
    LoadMemory,
    StoreConflict,  // a tile load waits for a store to its line
    Accumulator,    // C still in the multiplier, or TILEZERO
    Tiles,          // no physical tile free
    Window,         // reorder buffer, a scheduler or a queue full
    Ports,          // AVX-512 or scalar work
    Configure,      // LDTILECFG, TILERELEASE
    Drain,          // the last stores reach the L1
    Barrier,
    Finished
};
inline constexpr base::stats::StateTable<CoreState> kCoreStates{{
    {CoreState::Multiply, "multiply", "TMUL multiplies"},
    {CoreState::StoreRead, "store_read", "TMUL gives a result to a tile store"},
    {CoreState::LoadL1, "load_l1", "a TDP waits for a tile from the L1"},
    {CoreState::LoadL2, "load_l2", "a TDP waits for a tile from the L2"},
    {CoreState::LoadL3, "load_l3", "a TDP waits for a tile from the L3"},
    {CoreState::LoadMemory, "load_memory", "a TDP waits for a tile from DRAM"},
    {CoreState::StoreConflict, "store_conflict",
     "a TDP waits for a tile whose lines are still in the store buffer"},
    {CoreState::Accumulator, "accumulator", "a TDP waits for C"},
    {CoreState::Tiles, "tiles", "no physical tile is free"},
    {CoreState::Window, "window", "the window, a scheduler or a queue is full"},
    {CoreState::Ports, "ports", "AVX-512 or scalar instructions, no TDP in the window"},
    {CoreState::Configure, "configure", "LDTILECFG or TILERELEASE"},
    {CoreState::Drain, "drain", "the last instructions and stores complete"},
    {CoreState::Barrier, "barrier", "waits for other cores"},
    {CoreState::Finished, "finished", "done before the others"},
}};

struct CoreCounters {
    std::int64_t instructions = 0;
    std::int64_t dots = 0;
    std::int64_t dot_rows = 0;  // cycles of TMUL they take
    std::int64_t tile_load_lines = 0;
    std::int64_t tile_loads = 0;
    std::int64_t tile_stores = 0;
};

// Executes instructions on data as they enter the window; timing does not depend on it.
class InstructionObserver {
  public:
    virtual void on_instruction(const program::DynamicInstruction& instruction) = 0;

  protected:
    ~InstructionObserver() = default;
};

class Core {
  public:
    // Keeps references to both; `observer` may be null.
    Core(const AmxConfig& config, const program::Program& program,
         InstructionObserver* observer = nullptr);

    bool finished() const { return finished_at_ != caches::kUnknownCycle; }
    // The cycle in which the last store had reached the L1.
    std::int64_t finished_at() const { return finished_at_; }
    bool at_barrier() const { return at_barrier_; }
    // The rule an instruction broke: nothing after it was executed.
    const std::optional<program::Fault>& fault() const { return fault_; }
    const program::Statement& faulting() const { return program_.statements[stream_.position()]; }
    const CoreCounters& counters() const { return counters_; }
    std::int64_t spent(CoreState state) const { return spent_[static_cast<std::size_t>(state)]; }
    caches::PrivateCaches& caches() { return caches_; }
    const caches::PrivateCaches& caches() const { return caches_; }
    Translation& pages() { return pages_; }
    const Translation& pages() const { return pages_; }
    const WindowPeaks& window_peaks() const { return window_.peaks(); }
    std::int64_t most_scalar() const { return ports_.most_scalar(); }
    std::int64_t now() const { return now_; }
    // Grows whenever an instruction retires or a stored line reaches the L1.
    std::uint64_t progress() const {
        return window_.retired() + static_cast<std::uint64_t>(stores_.committed());
    }
    // Nothing happens here until a line is delivered or the barrier is passed; for ever, when
    // neither is to come.
    bool asleep() const { return asleep_; }

    // Its states go to `listener` from now on, as the component `name`.
    void connect(base::ProbeListener* listener, std::string name);
    // The run has ended in `cycle`: so has the state the listener knows of.
    void finish_trace(std::int64_t cycle);
    // Cycles [now, limit); stops early when finished.
    void advance(std::int64_t limit);
    void pass_barrier();
    // The program once more from its start, in cycle `now`, which is no earlier than its end;
    // counted from there.
    void restart(std::int64_t now);
    // Why nothing more enters or leaves the window, for messages.
    std::string waiting_for() const;

  private:
    std::int64_t step();  // one cycle; the next one with something to do
    void receive();
    void retire();
    bool may_allocate() const { return !stream_.finished() && !at_barrier_ && !fault_; }
    void allocate();
    bool allocate_one(std::int64_t& budget);
    bool enter(const program::DynamicInstruction& dynamic, std::int64_t uops);
    void prepare_memory(EntryId id);
    void prepare_others(EntryId id);
    bool holds_back(const program::Instruction& instruction);
    bool allowed(const program::Instruction& instruction);
    std::optional<program::Fault> check(const program::Instruction& instruction);
    std::int64_t uops_of(const program::Instruction& instruction) const;
    std::int64_t lines_of(const program::DynamicInstruction& dynamic) const;
    std::int64_t next_event() const;
    void charge(std::int64_t until) {
        while (first_dot_ < dots_.size() && window_.at(dots_[first_dot_]).issued) {
            ++first_dot_;
        }
        if (ports_.tmul_free() >= until && !probe_) {  // as mostly
            spent_[static_cast<std::size_t>(tmul_state())] += until - now_;
        } else {
            charge_parts(until);
        }
    }
    CoreState tmul_state() const {
        return ports_.tmul_use() == TmulUse::Multiply ? CoreState::Multiply : CoreState::StoreRead;
    }
    void charge_parts(std::int64_t until);
    void charge(CoreState state, std::int64_t from, std::int64_t until);
    CoreState cause(std::int64_t at, std::int64_t& end) const;
    CoreState cause_of_dot(const Entry& dot, std::int64_t at, std::int64_t& end) const;
    CoreState cause_of_load(const Entry& load) const;

    const AmxConfig& config_;
    const program::Program& program_;
    InstructionObserver* observer_;
    base::StateProbe probe_;
    program::InstructionStream stream_;
    program::TileConfig tiles_;
    std::uint32_t configuration_ = 1;     // counts LDTILECFG and TILERELEASE
    std::vector<std::uint32_t> checked_;  // of each statement: under which it was found legal
    Scoreboard window_;
    caches::PrivateCaches caches_;
    Translation pages_;
    StoreBuffer stores_;
    LoadUnit loads_;
    Ports ports_;
    std::vector<caches::PrivateCaches::Arrival> arrivals_;
    std::vector<EntryId> dots_;  // not yet started, in program order, from first_dot_ on
    std::size_t first_dot_ = 0;
    std::int64_t now_ = 0;
    std::int64_t uops_left_ = 0;      // of an instruction that needs several cycles to enter
    std::int64_t retire_left_ = 0;    // as above, to leave
    std::int64_t configured_at_ = 0;  // end of LDTILECFG
    bool at_barrier_ = false;
    bool asleep_ = false;
    Blocked blocked_ = Blocked::No;
    std::uint64_t refused_ = 0;  // the window's releases when it was blocked
    std::int64_t finished_at_ = caches::kUnknownCycle;
    std::optional<program::Fault> fault_;
    CoreCounters counters_;
    std::array<std::int64_t, kCoreStates.kStates> spent_{};
};

}  // namespace tilesim::arch::amx::core
