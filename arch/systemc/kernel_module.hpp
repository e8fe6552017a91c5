// The SystemC face of the event queue: one process that executes it, in SystemC time.
//
// The queue's events run inside one SC_METHOD. While nothing else is scheduled in SystemC the
// process runs ahead through the queue in one activation; otherwise it sleeps until the queue's
// next event. This is the only process the shipped systems need (one process in front of many
// agents is 6-8 times cheaper than one each).
#pragma once

#include <chrono>
#include <functional>

#include "arch/base/event_queue.hpp"

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

// Elaborates SystemC with one module that executes `queue`, and simulates until `finished` holds.
// `finished` is asked after every event of a time stamp. SystemC allows one elaboration a process:
// further queues of the process are executed the same way without it. What models throw arrives
// here unchanged.
Outcome run(base::EventQueue& queue, const Limits& limits, const std::function<bool()>& finished);

}  // namespace tilesim::arch::systemc
