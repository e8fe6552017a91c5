#include "arch/base/joint_queue.hpp"

#include <algorithm>

namespace tilesim::arch::base {

void JointQueue::remove(const EventQueue& queue) {
    interrupt();
    std::erase_if(members_, [&](const Member& member) { return member.queue == &queue; });
}

void JointQueue::run_until(Femtoseconds limit) {
    if (members_.size() == 1) {
        const Member only = members_.front();
        only.queue->run_until(limit - only.origin);
        now_ = std::max(now_, only.queue->now() + only.origin);
        return;
    }
    for (Femtoseconds next = next_time(); next <= limit; next = next_time()) {
        now_ = next;
        // An event may add a member, or take one out.
        for (std::size_t i = 0; i < members_.size(); ++i) {
            const Member member = members_[i];
            member.queue->run_until(next - member.origin);
        }
        if (next == kNever) {
            return;
        }
    }
}

std::int64_t JointQueue::run_stamps(Femtoseconds limit, std::int64_t most) {
    if (members_.size() == 1) {
        const Member only = members_.front();
        const std::int64_t stamps = only.queue->run_stamps(limit - only.origin, most);
        now_ = std::max(now_, only.queue->now() + only.origin);
        return stamps;
    }
    const Femtoseconds next = next_time();
    if (next > limit || next == kNever || most == 0) {
        return 0;
    }
    run_until(next);
    return 1;
}

void JointQueue::catch_up(Femtoseconds time) {
    run_until(time);
    now_ = std::max(now_, time);
    for (const Member& member : members_) {
        if (member.origin <= time) {
            member.queue->advance_to(time - member.origin);
        }
    }
}

std::uint64_t JointQueue::executed() const {
    std::uint64_t executed = 0;
    for (const Member& member : members_) {
        executed += member.queue->executed();
    }
    return executed;
}

void JointQueue::watch(QueueWatcher* watcher) {
    for (const Member& member : members_) {
        member.queue->watch(watcher);
    }
}

}  // namespace tilesim::arch::base
