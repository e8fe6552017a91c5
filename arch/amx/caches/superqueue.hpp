// The superqueue of an L2: places for its misses until their lines come, and for the lines it
// evicts until the L3 has answered.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arch/amx/caches/line_slots.hpp"
#include "arch/amx/caches/state_record.hpp"

namespace tilesim::arch::amx::caches {

class Superqueue {
  public:
    explicit Superqueue(std::int64_t places) : places_(places) {}

    // Is the line under way?
    bool holds(Line line) const { return slots_[slot_of(line)].held > 0 && search(line); }
    bool no_misses() const { return misses_.empty(); }
    std::int64_t taken() const { return std::ssize(misses_) + std::ssize(victims_); }
    // Somebody has found no place, and one of a victim's will be free.
    bool awaits_victim() const { return refused_ && !victims_.empty(); }
    // When the L3 will have answered for the oldest; there must be one.
    std::int64_t next_victim() const { return victims_.front(); }
    // No line may be under way.
    void record(StateRecord& to) const;

    // Is a place free at `now`? Whoever finds none waits for one.
    bool finds_place(std::int64_t now) {
        forget_answered(now);
        const bool found = taken() < places_;
        refused_ = refused_ || !found;
        return found;
    }
    // What a line remembers that is neither here nor in the L2, and whether none of its slot has
    // been taken in since: then it is still in neither.
    Refusal refusal(Line line) const {
        const std::size_t slot = slot_of(line);
        return {slots_[slot].taken, static_cast<std::uint8_t>(slot)};
    }
    bool none_taken(Refusal refusal) const { return slots_[refusal.slot].taken == refusal.taken; }
    void take(Line line) {
        misses_.push_back(line);
        ++slots_[slot_of(line)].held;
        note_in_l2(line);
    }
    void give_back(Line line);
    // A line that the L2 evicts; the L3 answers in `cycle`.
    void take_for_victim(std::int64_t cycle) { victims_.push_back(cycle); }
    // Victims whose places are free by now.
    void forget_answered(std::int64_t now) {
        if (!victims_.empty() && victims_.front() <= now) {
            victims_.erase(victims_.begin(),
                           std::upper_bound(victims_.begin(), victims_.end(), now));
        }
    }
    void forget_victims() { victims_.clear(); }
    void forget_refusals() { refused_ = false; }
    // The line has come into the L2 without a place here.
    void note_in_l2(Line line) { ++slots_[slot_of(line)].taken; }

  private:
    struct Slot {
        std::uint16_t held = 0;
        std::uint16_t taken = 0;  // since the start; wraps after more than a window's lines
    };
    bool search(Line line) const {
        return std::find(misses_.begin(), misses_.end(), line) != misses_.end();
    }

    std::int64_t places_;
    std::vector<Line> misses_;
    std::vector<std::int64_t> victims_;  // when the L3 will have answered each
    bool refused_ = false;               // anybody, since a place was free last
    std::array<Slot, kLineSlots> slots_{};
};

}  // namespace tilesim::arch::amx::caches
