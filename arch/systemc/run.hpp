// Executes a system's queues under limits until it has finished: the command line's way to run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "arch/base/joint_queue.hpp"
#include "arch/systemc/time_line.hpp"

namespace tilesim::arch::systemc {

enum class Outcome {
    Finished,            // the condition given to `run` holds
    NothingPending,      // no event is left and the condition does not hold: a standstill
    SimulatedTimeLimit,  // the next event lies beyond the limit
    WallTimeLimit
};

struct Limits {
    base::Femtoseconds simulated = base::kNever;
    std::chrono::milliseconds wall = std::chrono::milliseconds::max();
    // Called now and then (host time) with the simulated time; may be empty.
    std::function<void(base::Femtoseconds)> progress = {};
};

// Whether modules can still be made: SystemC elaborates once a process.
bool elaborating();

// What a run is for. Is asked before time stamps.
class Goal {
  public:
    virtual ~Goal() = default;
    // `unasked`: time stamps executed since the last time, but for the first.
    virtual bool reached(std::int64_t unasked) = 0;
    // So many can be executed before it has to be asked again, unless somebody interrupts the
    // queue.
    virtual std::int64_t patience() const { return 1; }
};

// Simulates, with whatever else there is in SystemC, until the goal is reached; SystemC is paused
// then, and may be started again. What models throw arrives here unchanged.
Outcome run(TimeLine& time_line, const Limits& limits, Goal& goal);
// Until `finished` holds, which is asked before every time stamp.
Outcome run(TimeLine& time_line, const Limits& limits, const std::function<bool()>& finished);

// The same without SystemC, for what comes after its elaboration.
Outcome run(base::JointQueue& queues, const Limits& limits, Goal& goal);
Outcome run(base::JointQueue& queues, const Limits& limits, const std::function<bool()>& finished);

}  // namespace tilesim::arch::systemc
