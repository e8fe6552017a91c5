// Cores running their programs together, over one uncore and one memory.
//
// Cores run in slices of time no longer than an answer of the uncore takes, so that nothing a core
// does can reach another within a slice; between slices the uncore takes their requests. Results do
// not depend on the order of cores within a slice. Of many cores with the same program some stand
// for the others: `in_step.hpp`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/amx/socket/uncore.hpp"
#include "arch/base/block.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"

namespace tilesim::arch::amx::socket {

class Socket final : public base::EventHandler {
  public:
    // `observers`: one a program, or empty. Keeps references to everything.
    // `config`'s clock is the one so many cores work at. Every program runs `runs` times, all cores
    // starting together each time: cycles and states are those of the last.
    Socket(const AmxConfig& config, const std::vector<program::Program>& programs,
           const std::vector<core::InstructionObserver*>& observers,
           memory::port::MemoryPort& memory, base::EventQueue& queue, std::int64_t runs = 1);

    bool finished() const;
    // Latest core, since the last run began; valid when finished.
    std::int64_t finish_cycle() const;
    base::Femtoseconds finish_time() const;
    // Lines that have come from memory since the last run began.
    std::int64_t lines_from_memory() const {
        return uncore_->counters().memory_answers - answers_before_;
    }
    // One a program; `core` is the one that stands for it.
    std::size_t cores() const { return members_.size(); }
    std::size_t simulated() const { return cores_.size(); }
    const core::Core& core(std::size_t index) const { return *cores_[members_[index].core]; }
    const Uncore& uncore() const { return *uncore_; }
    // At which several cores have met.
    std::int64_t barriers() const { return barriers_; }
    // "core 3: #UD ...": the first fault; empty when there was none. `line`: of the program's text
    // with the instruction, 0 where there is none.
    std::string fault(int& line) const;
    std::string fault() const;

    // When a core last retired an instruction or wrote a line, to within a slice.
    base::Cycles last_progress() const { return base::Cycles{last_progress_}; }
    // Who waits for what, a core a line. Meaningful when no event is left and it has not finished.
    std::string standstill() const;

    // Cores, what is in them, and what they share.
    std::vector<base::Block> blocks() const;
    // Every core's states go to `listener` from now on.
    void connect(base::ProbeListener* listener);
    // Takes [address, address + bytes) out of every cache.
    void flush(std::int64_t address, std::int64_t bytes);
    // Puts it into every core's caches of `level`, or into the L3.
    void warm(std::int64_t address, std::int64_t bytes, caches::Level level, bool dirty);
    void warm(std::size_t core, std::int64_t address, std::int64_t bytes, caches::Level level,
              bool dirty);
    // Called where the last of several runs begins.
    void on_last_run(std::function<void()> begins) { last_run_begins_ = std::move(begins); }
    void start();
    // Adds an account of each core's cycles under `parent` and ends the trace; call once, at the
    // end.
    void write_statistics(base::stats::Group& parent);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;

  private:
    static std::string name_of_core(std::size_t index);
    core::InstructionObserver* observer_of(
        std::size_t program, const std::vector<program::Program>& programs,
        const std::vector<core::InstructionObserver*>& observers);
    // The program a simulated core executes.
    std::size_t program_of(std::size_t core) const;
    void release_barrier();
    void run_again();
    void keep_victims(std::size_t core);
    void note_progress();
    bool stands_still() const;

    AmxConfig config_;
    base::EventQueue& queue_;
    base::Clock clock_;
    std::vector<Member> members_;
    std::vector<std::unique_ptr<InStepObserver>> observers_;  // of cores that stand for others
    std::vector<std::unique_ptr<core::Core>> cores_;
    std::unique_ptr<Uncore> uncore_;
    std::int64_t slice_ = 1;  // cycles
    std::int64_t barriers_ = 0;
    bool touched_ = false;  // some cache holds something
    std::int64_t at_ = 0;
    std::int64_t runs_;              // to go, this one included
    std::int64_t counted_from_ = 0;  // cycle in which the latest began
    std::function<void()> last_run_begins_;
    std::int64_t answers_before_ = 0;  // of memory, when it began
    std::uint64_t progress_ = 0;       // of all cores
    std::int64_t last_progress_ = 0;
    std::vector<std::unique_ptr<base::stats::Group>> groups_;
    std::vector<std::unique_ptr<base::stats::StateAccount>> accounts_;
};

}  // namespace tilesim::arch::amx::socket
