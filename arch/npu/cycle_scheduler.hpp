// The array's view of the common time line: events at cycles of its own clock.
#pragma once

#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"

namespace tilesim::arch::npu {

class CycleScheduler {
  public:
    // `ticks`: of this clock in a cycle of the array; more than one for streams wider than a word.
    CycleScheduler(base::EventQueue& queue, base::Clock clock, std::int64_t ticks = 1)
        : queue_(queue), clock_(clock), ticks_(ticks) {}

    base::EventQueue& queue() { return queue_; }
    std::size_t pending() const { return queue_.pending(); }
    const base::Clock& clock() const { return clock_; }

    // The cycle that has begun last; conversions are remembered because events come in clusters.
    base::Cycles now() const {
        if (queue_.now() != last_time_) {
            last_time_ = queue_.now();
            last_cycle_ = clock_.cycle_at(last_time_);
        }
        return last_cycle_;
    }
    // Between cycles of the array and those of this clock.
    base::Cycles ticks(base::Cycles cycles) const { return cycles * ticks_; }
    base::Cycles cycles(base::Cycles ticks) const {
        return ticks_ == 1 ? ticks : base::Cycles{base::ceil_div(ticks.count(), ticks_)};
    }

    // The first cycle edge not before the present; where events of other clocks enter this one.
    base::Cycles next_edge() const { return clock_.first_cycle_from(queue_.now()); }

    void at(base::Cycles cycle, base::EventHandler& handler, std::uint64_t tag = 0) {
        queue_.at(clock_.time_of(cycle), handler, tag);
    }

  private:
    base::EventQueue& queue_;
    base::Clock clock_;
    std::int64_t ticks_;
    mutable base::Femtoseconds last_time_{-1};
    mutable base::Cycles last_cycle_{0};
};

}  // namespace tilesim::arch::npu
