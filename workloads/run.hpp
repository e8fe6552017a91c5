// What a dataflow hands over to be simulated, and who simulates it.
//
// A Model is a machine's blocks around one memory. A Plan says how to build it; a Runner (the
// session in sim/) builds time line, statistics and memory, keeps the limits, lets probes listen,
// and collects what every run has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/block.hpp"
#include "arch/base/deadlock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/controller/command_log.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/port/memory_window.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads {

struct Case;

// What a model is built on.
struct Bench {
    arch::base::EventQueue& queue;
    arch::base::stats::Group& root;
    // For those who are lent its channels; requests go to the port.
    arch::memory::controller::MemorySystem& memory;
    arch::memory::port::MemoryPort& port;
    // The memory's time at the queue's 0.
    arch::base::Femtoseconds origin{0};
    // Called where what is reported begins, if that is later than the start: the memory has counted
    // for others until then.
    std::function<void()> begin_reported = [] {};
};

// How far a run that repeats itself has come, in rounds of equal work.
struct Rounds {
    double done = 0;       // worked on, the present one in part
    double delivered = 0;  // of them, those whose results have arrived where they belong
};

// Who hears what others on the memory do, each null for nobody: all commands, one's own included,
// and the requests of others, in the memory's time.
struct HearingBesideOthers {
    arch::memory::controller::CommandListener* commands = nullptr;
    arch::memory::port::WindowListener* requests = nullptr;
};

class Model {
  public:
    virtual ~Model() = default;
    // Its components' activities go to `listener` from now on.
    virtual void connect(arch::base::ProbeListener* listener) = 0;
    virtual void start() = 0;
    virtual bool finished() const = 0;
    // For now it cannot come to hold without its interrupting the queue: nobody needs to ask.
    virtual bool tells_end() const { return false; }
    // Stopped now, it would have left nothing undone: for what has no end of its own.
    virtual bool done_so_far() const { return finished(); }
    // Events go on, but nothing can ever finish. Asked now and then.
    virtual bool livelocked() const { return false; }
    // A run that has nothing left to do although `finished` does not hold is at its end, not dead.
    virtual bool may_rest() const { return false; }
    // Who waits for whom. Meaningful when no event is left and it has not finished.
    virtual arch::base::DeadlockReport deadlock() const = 0;
    // Charges every component's present state until now.
    virtual void finish_statistics() = 0;
    // Of the end; call when finished.
    virtual arch::base::Cycles finish_cycle() const = 0;
    virtual arch::base::Femtoseconds finish_time() const = 0;
    // Of a run whose plan has rounds.
    virtual Rounds rounds() const { return {}; }
    // Its keys that cannot have mattered to the run: "npu.cascade.fifo".
    virtual std::vector<std::string> not_exercised() const { return {}; }
    // Whether somebody was lent channels of the memory and kept to their timing.
    virtual bool borrows_channels() const { return false; }
    // What it consists of, beyond the groups of its statistics.
    virtual std::vector<arch::base::Block> blocks() const { return {}; }
    // Commands it gives to channels it has borrowed go to `log` as well.
    virtual void log_commands(arch::memory::controller::CommandLog& /*log*/) {}
    // Who hears the memory's commands for it, if nobody else asks anything of the memory, and tells
    // `next`, which may be null, of them.
    virtual arch::memory::controller::CommandListener* hearing(
        arch::memory::controller::CommandListener* next) {
        return next;
    }
    // The same of one among several agents on the memory.
    virtual HearingBesideOthers hearing_beside_others() { return {}; }
    // Adds to what the memory has counted.
    virtual void add_bank_use(arch::memory::port::BankUse&) const {}
};

// How a plan's run has ended.
enum class RunEnd {
    Finished,
    Rested,      // nothing is left to do, and that is its end
    Stopped,     // by its budget, with nothing undone
    Standstill,  // dead, or alive without an end in sight
    TimeLimit
};

struct Plan {
    const arch::memory::device::MemoryConfig& memory;
    // How long before its arrival every request to the memory is submitted.
    arch::base::Femtoseconds lookahead;
    // Simulated before the time reported begins; no part of what `run.max_time` grants.
    arch::base::Femtoseconds lead{0};
    arch::base::Hertz clock;  // of the cycles reported
    double macs = 0;
    // What each bank of the memory has in it.
    std::vector<std::string> in_banks = {};
    std::function<std::unique_ptr<Model>(Bench&)> build = {};
    // Called at the end, however it ended, while the model is there; may be empty.
    std::function<void(RunEnd)> collect = {};
    // Rounds of equal work it consists of, each as long as the one before once it is in its
    // stride; 0: it does not repeat itself. A sampled run is one of its first.
    double rounds = 0;
    // What the results of a round take to leave, at least; 0: not known.
    arch::base::Femtoseconds least_leaving{0};
    // What a round takes at least once every buffer on its way is full; 0: not known.
    arch::base::Femtoseconds least_period{0};
    // Not what the result is of: nobody listens.
    bool aside = false;
    // The simulated-time budget where the case leaves that at its default.
    arch::base::Femtoseconds quiet_time = arch::base::kNever;
};

class Runner {
  public:
    virtual ~Runner() = default;
    // Fills in time, rates, states, memory and status of the result, under the limits of the case.
    // Where the run did not end well, the status says so and `deadlock` who waits for whom.
    virtual RunEnd run(const Case& a_case, const Plan& plan, RunResult& result) = 0;
    // A run of another case, as part of this one.
    virtual RunResult run(const Case& part) = 0;
    // Whether others use the memory meanwhile: they meet what is simulated, and nothing that it
    // stands for.
    virtual bool beside_others() const { return false; }
};

}  // namespace tilesim::workloads
