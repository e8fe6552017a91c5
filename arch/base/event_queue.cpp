#include "arch/base/event_queue.hpp"

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::base {

void EventQueue::at(Femtoseconds time, EventHandler& handler, std::uint64_t tag) {
    SIM_CHECK(time >= now_, "event scheduled at {} fs, before the present {} fs", time.count(),
              now_.count());
    const bool is_earlier = time < next_time();
    const Event event{time, order_++, &handler, tag};
    if (!wheel_.put(event, now_)) {
        heap_.push(event);
    }
    ++pending_;
    if (is_earlier && watcher_ != nullptr) {
        watcher_->on_earlier(time);
    }
}

bool EventQueue::heap_goes_first() const {
    const Femtoseconds in_heap = heap_.next_time();
    const Femtoseconds in_wheel = wheel_.next_time();
    return in_heap < in_wheel ||
           (in_heap == in_wheel && heap_.front().order < wheel_.front().order);
}

inline void EventQueue::execute_first() {
    const bool from_heap = heap_goes_first();
    // Not copied: it may just have been written, and the host would wait.
    const Event& event = from_heap ? heap_.front() : wheel_.front();
    EventHandler& handler = *event.handler;
    const std::uint64_t tag = event.tag;
    now_ = event.time;
    if (from_heap) {
        heap_.pop();
    } else {
        wheel_.pop();
    }
    --pending_;
    ++executed_;
    handler.on_event(tag, now_);
}

void EventQueue::run_until(Femtoseconds limit) {
    while (pending_ > 0 && next_time() <= limit) {
        execute_first();
    }
}

std::int64_t EventQueue::run_stamps(Femtoseconds limit, std::int64_t most) {
    interrupted_ = false;
    std::int64_t stamps = 0;
    while (pending_ > 0 && next_time() <= limit && stamps < most && !interrupted_) {
        ++stamps;
        do {
            execute_first();
        } while (pending_ > 0 && next_time() == now_);
    }
    return stamps;
}

void EventQueue::advance_to(Femtoseconds time) {
    SIM_CHECK(time <= next_time(), "the present would be {} fs, after the event at {} fs",
              time.count(), next_time().count());
    now_ = std::max(now_, time);
}

}  // namespace tilesim::arch::base
