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

#include "arch/base/event_queue.hpp"
#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads {

// What a model is built on.
struct Bench {
    arch::base::EventQueue& queue;
    arch::base::stats::Group& root;
    arch::memory::controller::MemorySystem& memory;
};

class Model {
  public:
    virtual ~Model() = default;
    // Its components' activities go to `listener` from now on.
    virtual void connect(arch::base::ProbeListener* listener) = 0;
    virtual void start() = 0;
    virtual bool finished() const = 0;
    // Events go on, but nothing can ever finish. Asked now and then.
    virtual bool livelocked() const { return false; }
    // A run that has nothing left to do although `finished` does not hold is at its end, not dead.
    virtual bool may_rest() const { return false; }
    // Who waits for whom. Meaningful when no event is left and it has not finished.
    virtual arch::npu::array::DeadlockReport deadlock() const = 0;
    // Charges every component's present state until now.
    virtual void finish_statistics() = 0;
    // Of the end; call when finished.
    virtual arch::base::Cycles finish_cycle() const = 0;
    virtual arch::base::Femtoseconds finish_time() const = 0;
    // Adds to what the memory has counted.
    virtual void add_bank_use(arch::memory::port::BankUse&) const {}
};

struct Plan {
    const arch::memory::device::MemoryConfig& memory;
    // How long before its arrival every request to the memory is submitted.
    arch::base::Femtoseconds lookahead;
    arch::base::Hertz clock;  // of the cycles reported
    double macs = 0;
    std::function<std::unique_ptr<Model>(Bench&)> build;
    // Called with the model at the end, however it ended; may be empty.
    std::function<void(Model&)> collect = {};
    // Instead of the run's own where that is not given; kNever: none.
    arch::base::Femtoseconds quiet_time = arch::base::kNever;
};

// How a plan's run has ended.
enum class RunEnd { Finished, Rested, Standstill, TimeLimit };

class Runner {
  public:
    virtual ~Runner() = default;
    // Fills in time, rates, states, memory and status of the result. Where the run did not
    // finish, the status says so and `deadlock` who waits for whom.
    virtual RunEnd run(const Plan& plan, RunResult& result) = 0;
    // A run of another case, as part of this one.
    virtual RunResult run(const struct Case& part) = 0;
};

}  // namespace tilesim::workloads
