// Events in a heap: the earliest is found at once, in order of time, then of scheduling.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/base/units.hpp"

namespace tilesim::arch::base {

class EventHandler;

struct Event {
    Femtoseconds time;
    std::uint64_t order;  // of scheduling
    EventHandler* handler;
    std::uint64_t tag;
};

class EventHeap {
  public:
    // Time of the first event; kNever when there is none.
    Femtoseconds next_time() const { return heap_.empty() ? kNever : heap_.front().time; }
    const Event& front() const { return heap_.front(); }
    void push(const Event& event);
    void pop();

  private:
    std::vector<Event> heap_;  // 4-ary: children of i are 4i+1..4i+4
};

}  // namespace tilesim::arch::base
