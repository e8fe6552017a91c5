// Channels that share their command buses, mostly one alone: wakes them when something is due and
// lets them decide, in order of time, what happens within the lookahead.
//
// Models:  pseudo-channels, which have banks, queues and data pins of their own and take turns on
//          the command buses; of two that could go in the same CK the one before goes first.
// Ignores: the CKs of a guest's commands, which keep room between them for the others'.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/memory/controller/channel.hpp"

namespace tilesim::arch::memory::controller {

class ChannelGroup final : public base::EventHandler {
  public:
    // `lookahead`: bursts come in at least this long before they arrive.
    ChannelGroup(base::Clock clock, base::Femtoseconds lookahead, base::EventQueue& queue)
        : clock_(clock), lookahead_(lookahead), queue_(queue) {}

    void add(Channel& channel);
    void set_lookahead(base::Femtoseconds lookahead) { lookahead_ = lookahead; }
    // Something reaches a member at CK `when`.
    void expect(std::size_t member, std::int64_t when);

    // Members that nothing is asked of have been refreshed up to CK `now`.
    void refresh_unwatched(std::int64_t now);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;

  private:
    struct Member {
        Channel* channel = nullptr;
        std::int64_t next = INT64_MAX;  // CK at which it has something to do
    };
    void decide_in_turns();
    void hand_over_buses(const Member& from);
    void wake_at(std::int64_t cycle);

    base::Clock clock_;
    base::Femtoseconds lookahead_;
    base::EventQueue& queue_;
    std::vector<Member> members_;
    std::int64_t wake_ = INT64_MAX;  // CK of the event that counts
    std::int64_t decided_ = 0;       // every command before this CK has been decided
    bool deciding_ = false;
};

}  // namespace tilesim::arch::memory::controller
