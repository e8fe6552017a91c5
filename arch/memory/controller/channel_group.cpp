#include "arch/memory/controller/channel_group.hpp"

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::memory::controller {

void ChannelGroup::add(Channel& channel) {
    members_.push_back({&channel});
}

void ChannelGroup::expect(std::size_t member, std::int64_t when) {
    SIM_CHECK(when >= decided_, "a channel hears of CK {}, commands are decided up to {}", when,
              decided_);
    Member& it = members_[member];
    it.next = std::min(it.next, when);
    if (!deciding_ && when < wake_) {
        wake_at(when);
    }
}

void ChannelGroup::wake_at(std::int64_t cycle) {
    wake_ = cycle;
    queue_.at(clock_.time_of(base::Cycles{cycle}), *this, static_cast<std::uint64_t>(cycle));
}

void ChannelGroup::on_event(std::uint64_t tag, base::Femtoseconds time) {
    const auto now = static_cast<std::int64_t>(tag);
    if (now != wake_) {
        return;  // an earlier wake has taken this one's place
    }
    wake_ = INT64_MAX;
    decided_ = clock_.first_cycle_from(time + lookahead_).count();
    deciding_ = true;
    std::int64_t next = INT64_MAX;
    if (members_.size() == 1) {
        next = members_.front().next = members_.front().channel->run(now, decided_);
    } else {
        decide_in_turns();
        for (const Member& each : members_) {
            next = std::min(next, each.next);
        }
    }
    deciding_ = false;
    if (next != INT64_MAX) {
        wake_at(next);
    }
}

// The one that has something to do first goes on until another has, and hands the buses over.
// Those that nothing is asked of are refreshed in between.
void ChannelGroup::decide_in_turns() {
    while (true) {
        const auto first =
            std::min_element(members_.begin(), members_.end(),
                             [](const Member& a, const Member& b) { return a.next < b.next; });
        const std::int64_t now = first->next;
        if (now >= decided_) {
            return;
        }
        first->next = INT64_MAX;
        std::int64_t until = decided_;
        for (const Member& each : members_) {
            if (&each != &*first) {
                each.channel->refresh_unwatched(now);
                hand_over_buses(each);
                until = std::min({until, each.next, each.channel->next_unwatched_refresh()});
            }
        }
        first->next = first->channel->run(now, std::max(until, now + 1));
        hand_over_buses(*first);
    }
}

void ChannelGroup::refresh_unwatched(std::int64_t now) {
    for (const Member& each : members_) {
        each.channel->refresh_unwatched(now);
        hand_over_buses(each);
    }
}

void ChannelGroup::hand_over_buses(const Member& from) {
    for (const Member& each : members_) {
        if (&each != &from) {
            each.channel->command_bus() = from.channel->command_bus();
        }
    }
}

}  // namespace tilesim::arch::memory::controller
