// The time line every model of a system shares: events in order of time, then of scheduling.
//
// One SystemC process (arch/systemc) executes this queue, so that hundreds of agents cost one
// process; a unit test executes it without SystemC. Ties are broken by the order of `at` calls,
// which depends on nothing but the scenario, so runs repeat bit for bit.
//
// Most events are due within a microsecond and wait in a wheel; the others, and those for which it
// has no room, in a heap, which takes the longer the more there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "arch/base/event_heap.hpp"
#include "arch/base/event_wheel.hpp"
#include "arch/base/units.hpp"

namespace tilesim::arch::base {

// What an event calls. `tag` is what the handler passed to `EventQueue::at`.
class EventHandler {
  public:
    virtual void on_event(std::uint64_t tag, Femtoseconds now) = 0;

  protected:
    ~EventHandler() = default;
};

// Hears when an event is put before all others: whoever executes the queue may have to wake sooner.
class QueueWatcher {
  public:
    virtual void on_earlier(Femtoseconds time) = 0;

  protected:
    ~QueueWatcher() = default;
};

class EventQueue {
  public:
    Femtoseconds now() const { return now_; }
    bool empty() const { return pending_ == 0; }
    // Events that wait for their time.
    std::size_t pending() const { return pending_; }
    // Time of the earliest event; kNever when there is none.
    Femtoseconds next_time() const { return std::min(wheel_.next_time(), heap_.next_time()); }
    std::uint64_t executed() const { return executed_; }

    // Calls `handler.on_event(tag, time)` at `time`, which must not lie in the past.
    void at(Femtoseconds time, EventHandler& handler, std::uint64_t tag = 0);

    // Executes every event up to and including `limit`.
    void run_until(Femtoseconds limit);
    // The same for so many time stamps at most, and no further than one in which somebody
    // interrupts; returns how many they were.
    std::int64_t run_stamps(Femtoseconds limit, std::int64_t most);
    // Whoever executes time stamps is to look up after the present one.
    void interrupt() { interrupted_ = true; }
    // The present is `time` from now on; nothing may be due before.
    void advance_to(Femtoseconds time);
    // `watcher` hears from now on; nullptr: nobody.
    void watch(QueueWatcher* watcher) { watcher_ = watcher; }

  private:
    bool heap_goes_first() const;
    void execute_first();

    EventWheel wheel_;
    EventHeap heap_;
    std::size_t pending_ = 0;
    Femtoseconds now_{0};
    std::uint64_t order_ = 0;
    std::uint64_t executed_ = 0;
    QueueWatcher* watcher_ = nullptr;
    bool interrupted_ = false;
};

}  // namespace tilesim::arch::base
