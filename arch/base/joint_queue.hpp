// Several event queues executed as one: each agent of a system counts time from its own start.
//
// Events go in order of time, at one time in the order in which the queues were added, then of
// scheduling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arch/base/event_queue.hpp"

namespace tilesim::arch::base {

class JointQueue {
  public:
    // `origin`: the joint time at which `queue` is at 0. The queue must outlive this one, or be
    // taken out.
    void add(EventQueue& queue, Femtoseconds origin = Femtoseconds{0}) {
        members_.push_back({&queue, origin});
        interrupt();
    }
    void remove(const EventQueue& queue);
    // Of the earliest event of all; kNever when there is none.
    Femtoseconds next_time() const {
        Femtoseconds next = kNever;
        for (const Member& member : members_) {
            const Femtoseconds time = member.queue->next_time();
            if (time != kNever && time + member.origin < next) {
                next = time + member.origin;
            }
        }
        return next;
    }
    // Of the event that is executed, or of the last one, or later.
    Femtoseconds now() const {
        return members_.size() == 1
                   ? std::max(now_, members_.front().queue->now() + members_.front().origin)
                   : now_;
    }
    // Executes every event up to and including `limit`.
    void run_until(Femtoseconds limit);
    // The same for so many time stamps at most, and no further than one in which somebody
    // interrupts; returns how many they were.
    std::int64_t run_stamps(Femtoseconds limit, std::int64_t most);
    // Whoever executes time stamps is to look up after the present one.
    void interrupt() {
        for (const Member& member : members_) {
            member.queue->interrupt();
        }
    }
    // The same, and the present of every queue is `time` afterwards.
    void catch_up(Femtoseconds time);
    std::uint64_t executed() const;
    void watch(QueueWatcher* watcher);

  private:
    struct Member {
        EventQueue* queue;
        Femtoseconds origin;
    };
    std::vector<Member> members_;
    Femtoseconds now_{0};
};

}  // namespace tilesim::arch::base
