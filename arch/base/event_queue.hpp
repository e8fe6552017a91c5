// The time line every model of a system shares: events in order of time, then of scheduling.
//
// One SystemC process (arch/systemc) executes this queue, so that hundreds of agents cost one
// process; a unit test executes it without SystemC. Ties are broken by the order of `at` calls,
// which depends on nothing but the scenario, so runs repeat bit for bit.
#pragma once

#include <cstdint>
#include <vector>

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
    bool empty() const { return heap_.empty(); }
    // Events that wait for their time.
    std::size_t pending() const { return heap_.size(); }
    // Time of the earliest event; kNever when there is none.
    Femtoseconds next_time() const { return heap_.empty() ? kNever : heap_.front().time; }
    std::uint64_t executed() const { return executed_; }

    // Calls `handler.on_event(tag, time)` at `time`, which must not lie in the past.
    void at(Femtoseconds time, EventHandler& handler, std::uint64_t tag = 0);

    // Executes every event up to and including `limit`.
    void run_until(Femtoseconds limit);
    // The present is `time` from now on; nothing may be due before.
    void advance_to(Femtoseconds time);
    // `watcher` hears from now on; nullptr: nobody.
    void watch(QueueWatcher* watcher) { watcher_ = watcher; }

  private:
    struct Entry {
        Femtoseconds time;
        std::uint64_t order;
        EventHandler* handler;
        std::uint64_t tag;
    };
    static bool before(const Entry& a, const Entry& b) {
        return a.time != b.time ? a.time < b.time : a.order < b.order;
    }
    void pop();

    std::vector<Entry> heap_;  // 4-ary: children of i are 4i+1..4i+4
    Femtoseconds now_{0};
    std::uint64_t order_ = 0;
    std::uint64_t executed_ = 0;
    QueueWatcher* watcher_ = nullptr;
};

}  // namespace tilesim::arch::base
