// The guest of a channel, if it has one: from when on he may come, and until when he has it.
#pragma once

#include <cstdint>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/memory/controller/channel_guest.hpp"

namespace tilesim::arch::memory::controller {

class GuestTurn {
  public:
    void invite(ChannelGuest& guest, std::int64_t from) {
        SIM_CHECK(guest_ == nullptr, "a channel has one guest at a time");
        guest_ = &guest;
        from_ = from;
    }
    bool expected() const { return guest_ != nullptr; }
    // CK from which on he wants the channel.
    std::int64_t from() const { return from_; }
    bool wants(std::int64_t now) const { return guest_ != nullptr && now >= from_; }
    // CK of the end of his present turn.
    std::int64_t until() const { return until_; }
    bool has_work() const { return !guest_->finished(); }
    // His turn on a quiet channel: until the next refresh or his own end.
    std::int64_t run(std::int64_t now, std::int64_t next_refresh) {
        return until_ = guest_->run(now, next_refresh);
    }
    // He goes, and may say when he comes again.
    void leave(std::int64_t now) {
        ChannelGuest* const left = std::exchange(guest_, nullptr);
        if (const auto again = left->on_left(now)) {
            guest_ = left;
            from_ = *again;
        }
    }

  private:
    ChannelGuest* guest_ = nullptr;
    std::int64_t from_ = 0;
    std::int64_t until_ = 0;
};

}  // namespace tilesim::arch::memory::controller
