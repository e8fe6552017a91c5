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

#include "arch/amx/core/core_counters.hpp"
#include "arch/amx/core/load_unit.hpp"
#include "arch/amx/core/ports.hpp"
#include "arch/amx/core/repetition.hpp"
#include "arch/amx/program/tile_config.hpp"
#include "arch/base/probe.hpp"

namespace tilesim::arch::amx::core {

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
    std::int64_t finished_at() const { return finished_at_ + skipped_; }
    bool at_barrier() const { return at_barrier_; }
    // The cycle in which it came there.
    std::int64_t barrier_from() const { return barrier_from_ + skipped_; }
    // The rule an instruction broke: nothing after it was executed.
    const std::optional<program::Fault>& fault() const { return fault_; }
    const program::Statement& faulting() const { return program_.statements[stream_.position()]; }
    const CoreCounters& counters() const { return counters_; }
    std::int64_t spent(CoreState state) const { return spent_[static_cast<std::size_t>(state)]; }
    // Cycles in which TMUL multiplied and then waited for what the next product needed, by what
    // that was: a faster multiplier would have waited longer.
    std::int64_t overlapped(CoreState wait) const {
        return overlapped_[static_cast<std::size_t>(wait)];
    }
    caches::PrivateCaches& caches() { return caches_; }
    const caches::PrivateCaches& caches() const { return caches_; }
    Translation& pages() { return pages_; }
    const Translation& pages() const { return pages_; }
    const WindowPeaks& window_peaks() const { return window_.peaks(); }
    std::int64_t most_scalar() const { return ports_.most_scalar(); }
    std::int64_t now() const { return now_ + skipped_; }
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
    // No other core is there: where `advance` stops changes nothing from now on, and turns of a
    // loop that do what turns before did are looked for.
    void be_alone() { repetition_.emplace(program_); }
    // Skips as many such turns as the loop under way has left, in a multiple of `grid` cycles; how
    // many cycles. The uncore must have nothing for this core.
    std::int64_t leap(std::int64_t grid);
    // Cycles [now, limit); stops early when finished.
    void advance(std::int64_t limit);
    // The others are there: it goes on in cycle `at`.
    void pass_barrier(std::int64_t at);
    // The program once more from its start, in cycle `now`, which is no earlier than its end;
    // counted from there.
    void restart(std::int64_t now);
    // Why nothing more enters or leaves the window, for messages.
    std::string waiting_for() const;

  private:
    bool takes_step() const;
    std::int64_t next_delivery() const;
    std::int64_t step();  // one cycle; the next one with something to do
    void receive();
    Repetition::Turn turn_of(std::size_t end) const;
    void look();
    caches::StateRecord state(std::size_t end) const;
    caches::StateRecord tags() const;
    Counts counts() const;
    void retire();
    bool may_allocate() const { return !stream_.finished() && !at_barrier_ && !fault_; }
    void allocate();
    bool allocate_one(std::int64_t& budget);
    bool enter(const program::DynamicInstruction& dynamic, std::int64_t uops);
    void prepare_memory(EntryId id);
    void prepare_others(EntryId id);
    bool holds_back(const program::Instruction& instruction);
    bool allowed(const program::Instruction& instruction);
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
    CoreState cause_of_full() const;
    CoreState cause_of_oldest() const;
    CoreState cause_of_conflict(std::int64_t store) const;
    CoreState cause_of_load(const Entry& load) const;
    CoreState cause_of_prefetch() const;
    CoreState cause_of_tiles() const;
    CoreState cause_of_store() const;
    CoreState cause_of_buffers() const;
    static CoreState cause_of_level(caches::Level level);

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
    std::int64_t now_ = 0;      // but for those skipped
    std::int64_t skipped_ = 0;  // cycles
    std::optional<Repetition> repetition_;
    std::optional<std::size_t> turned_;  // end of a watched loop that has entered in this step
    std::int64_t due_ = 0;               // when the next step is, as the last one left it
    std::int64_t uops_left_ = 0;         // of an instruction that needs several cycles to enter
    std::int64_t retire_left_ = 0;       // as above, to leave
    std::int64_t allocates_from_ = 0;    // end of LDTILECFG, or of a barrier
    bool at_barrier_ = false;
    std::int64_t barrier_from_ = 0;   // of the latest, once it has come there
    std::int64_t barrier_until_ = 0;  // once it has passed
    bool asleep_ = false;
    Blocked blocked_ = Blocked::No;
    std::uint64_t refused_ = 0;  // the window's releases when it was blocked
    std::int64_t finished_at_ = caches::kUnknownCycle;
    std::optional<program::Fault> fault_;
    CoreCounters counters_;
    std::array<std::int64_t, kCoreStates.kStates> spent_{};
    std::array<std::int64_t, kCoreStates.kStates> overlapped_{};  // of those multiplying
};

}  // namespace tilesim::arch::amx::core
