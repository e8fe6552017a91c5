// Events by the slot of time they are due in, about a nanosecond each, for about a microsecond
// ahead: putting one in and taking the first out take no longer the more there are.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "arch/base/event_heap.hpp"
#include "arch/base/slot_pool.hpp"

namespace tilesim::arch::base {

class EventWheel {
  public:
    // Time of the first event; kNever when there is none.
    Femtoseconds next_time() const { return next_time_; }
    // Of those at one time the one that was put in first.
    const Event& front() const { return links_[front_].event; }
    // Puts in an event that none in the wheel has been scheduled after; nothing is due before
    // `now`. False: it is too far ahead, or its slot is crowded.
    bool put(const Event& event, Femtoseconds now);
    void pop();

  private:
    static constexpr int kSlotBits = 20;  // of a time in femtoseconds
    static constexpr std::size_t kSlots = 1024;
    static constexpr std::size_t kWord = 64;
    static constexpr int kCrowd = 4;  // events of a slot passed by before one finds its place
    static constexpr std::uint32_t kNone = UINT32_MAX;

    struct Link {
        Event event;
        std::uint32_t next;  // later, of the same slot
    };
    struct Slot {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };

    static std::int64_t slot_of(Femtoseconds time) { return time.count() >> kSlotBits; }
    static std::size_t place(std::int64_t slot) { return static_cast<std::size_t>(slot) % kSlots; }
    // Behind which event of a slot that has some one of this time has its place: behind the last,
    // behind another, or before all (kNone). Nothing: it would take long to find out.
    std::optional<std::uint32_t> place_behind(const Slot& slot, Femtoseconds time) const;
    // The first slot from this one on that has events; there is one.
    std::int64_t next_slot(std::int64_t slot) const;
    void set_front(std::uint32_t link) {
        front_ = link;
        next_time_ = links_[link].event.time;
    }

    std::array<Slot, kSlots> slots_;
    std::array<std::uint64_t, kSlots / kWord> occupied_{};  // bit set: the slot has events
    SlotPool<Link> links_;
    std::uint32_t front_ = kNone;
    Femtoseconds next_time_ = kNever;
};

// Here, not in a .cpp: every event goes through both.

inline std::optional<std::uint32_t> EventWheel::place_behind(const Slot& slot,
                                                             Femtoseconds time) const {
    if (links_[slot.last].event.time <= time) {
        return slot.last;
    }
    std::uint32_t behind = kNone;
    std::uint32_t next = slot.first;
    for (int passed = 0; links_[next].event.time <= time; ++passed) {
        if (passed == kCrowd) {
            return std::nullopt;
        }
        behind = next;
        next = links_[next].next;
    }
    return behind;
}

inline bool EventWheel::put(const Event& event, Femtoseconds now) {
    const std::int64_t number = slot_of(event.time);
    if (number - slot_of(now) >= static_cast<std::int64_t>(kSlots)) {
        return false;
    }
    Slot& slot = slots_[place(number)];
    std::uint32_t behind = kNone;
    if (slot.first == kNone) {
        occupied_[place(number) / kWord] |= std::uint64_t{1} << place(number) % kWord;
    } else if (const auto found = place_behind(slot, event.time)) {
        behind = *found;
    } else {
        return false;
    }
    const auto index = static_cast<std::uint32_t>(links_.take());
    Link& link = links_[index];
    link.event.time = event.time;  // one by one: the host would wait for a copy
    link.event.order = event.order;
    link.event.handler = event.handler;
    link.event.tag = event.tag;
    std::uint32_t& before = behind == kNone ? slot.first : links_[behind].next;
    link.next = behind == slot.last ? kNone : before;
    before = index;
    slot.last = behind == slot.last ? index : slot.last;
    if (event.time < next_time_) {
        set_front(index);
    }
    return true;
}

inline void EventWheel::pop() {
    const std::int64_t number = slot_of(next_time_);
    Slot& slot = slots_[place(number)];
    const std::uint32_t next = links_[front_].next;
    links_.give_back(front_);
    slot.first = next;
    if (next != kNone) {
        set_front(next);
        return;
    }
    slot.last = kNone;
    occupied_[place(number) / kWord] &= ~(std::uint64_t{1} << place(number) % kWord);
    if (links_.in_use() > 0) {
        set_front(slots_[place(next_slot(number))].first);
    } else {
        next_time_ = kNever;
    }
}

inline std::int64_t EventWheel::next_slot(std::int64_t slot) const {
    std::uint64_t slots = occupied_[place(slot) / kWord] >> place(slot) % kWord;
    while (slots == 0) {
        slot += static_cast<std::int64_t>(kWord - place(slot) % kWord);
        slots = occupied_[place(slot) / kWord];
    }
    return slot + std::countr_zero(slots);
}

}  // namespace tilesim::arch::base
