// The fill buffers of an L1: lines under way, and the order in which they are ready.
//
// A buffer is taken for a line, or for none while it only waits for an answer, and given back when
// that has come. Lines that are ready leave in order of readiness, those of one cycle in the order
// in which their buffers were taken; those that may not go yet let others pass.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "arch/amx/caches/line_slots.hpp"
#include "arch/base/check.hpp"

namespace tilesim::arch::amx::caches {

enum class Level : std::uint8_t { L1, L2, L3, Memory };

inline constexpr std::int64_t kUnknownCycle = INT64_MAX;

struct FillBuffer {
    Line line = Cache::kNone;
    bool asked = true;  // the L2 or the uncore knows of it
    bool fills_l1 = false;
    bool own = false;
    bool moves = true;  // takes the path; otherwise it only waits until `ready_at`
    std::int64_t ready_at = kUnknownCycle;  // at the L2's end of the path
    std::uint64_t order = 0;
    Level level = Level::L2;
    std::uint32_t waiter = kNobody;  // who is told of its line first: mostly the only one
    std::vector<std::uint32_t> others;

    static constexpr std::uint32_t kNobody = UINT32_MAX;
    void tell(std::uint32_t who) {
        if (waiter == kNobody) {
            waiter = who;
        } else {
            others.push_back(who);
        }
    }
};

class FillBuffers {
  public:
    explicit FillBuffers(std::int64_t count)
        : buffers_(static_cast<std::size_t>(count)),
          free_(~std::uint64_t{0} >> (kMost - static_cast<std::size_t>(count))) {}

    bool full() const { return free_ == 0; }
    // All are taken, half of them at least for lines that the L2 does not have.
    bool full_of_misses() const { return full() && 2 * missed_ >= busy_; }
    // Those taken for lines that the L2 does not have.
    std::int64_t missed() const { return missed_; }
    // What a request that found no buffer remembers of its line.
    Refusal refusal(Line line) const {
        const std::size_t slot = slot_of(line);
        return {held_[slot].taken, static_cast<std::uint8_t>(slot)};
    }
    // Whether it is sure to find none again: none is free, and none has been taken for its line.
    bool refuses_again(Refusal refusal) const { return full() && none_taken(refusal); }
    bool none_taken(Refusal refusal) const { return held_[refusal.slot].taken == refusal.taken; }
    bool empty() const { return busy_ == 0; }
    // The buffer of a line, or null.
    const FillBuffer* find(Line line) const {
        const Held held = held_[slot_of(line)];
        if (held.count == 0) {
            return nullptr;
        }
        const FillBuffer& latest = buffers_[held.latest];
        return latest.line == line ? &latest : search(line);
    }
    FillBuffer* find(Line line) {
        return const_cast<FillBuffer*>(static_cast<const FillBuffers*>(this)->find(line));
    }
    // When the first line is ready, and the first wait over; kUnknownCycle: not known of any.
    std::int64_t next_move() const { return moves_.next; }
    std::int64_t next_wait() const { return waits_.next; }
    // Of the lines that are ready at `now` and may go, the one that has been ready longest, or
    // null.
    template <class MayGo>
    FillBuffer* ready(std::int64_t now, MayGo may_go) {
        for (const std::uint8_t index : moves_) {
            FillBuffer& buffer = buffers_[index];
            if (buffer.ready_at > now) {
                return nullptr;
            }
            if (may_go(buffer)) {
                return &buffer;
            }
        }
        return nullptr;
    }
    // The wait that is over at `now`, or null.
    FillBuffer* over(std::int64_t now) {
        return next_wait() <= now ? &buffers_[waits_.front()] : nullptr;
    }

    // A free one, for a line.
    FillBuffer& take(Line line) {
        FillBuffer& buffer = take_any();
        buffer.line = line;
        buffer.moves = true;
        Held& held = held_[slot_of(line)];
        ++held.count;
        ++held.taken;
        held.latest = index_of(buffer);
        return buffer;
    }
    // A free one, for a wait until `cycle`.
    FillBuffer& take_wait(std::int64_t cycle);
    // The L2 does not have its line.
    void set_missed(FillBuffer& buffer) {
        missed_ += buffer.level == Level::L2 ? 1 : 0;
        buffer.level = Level::L3;
    }
    // Its line is ready from `cycle` on.
    void set_ready(FillBuffer& buffer, std::int64_t cycle) {
        if (buffer.ready_at != kUnknownCycle) {
            dequeue(moves_, buffer);
        }
        buffer.ready_at = cycle;
        enqueue(moves_, buffer);
    }
    void give_back(FillBuffer& buffer) {
        dequeue(buffer.moves ? moves_ : waits_, buffer);
        if (buffer.moves) {
            --held_[slot_of(buffer.line)].count;
        }
        missed_ -= buffer.level == Level::L2 ? 0 : 1;
        buffer.line = Cache::kNone;
        free_ |= std::uint64_t{1} << index_of(buffer);
        --busy_;
    }
    // Those under way, the first to go first; everybody's line is known.
    void record(StateRecord& to) const;
    // Every buffer whose line nobody knows of yet, the one taken first before the others.
    template <class Body>
    void each_unasked(Body body) {
        std::array<std::uint8_t, kMost> oldest_first;
        auto end = oldest_first.begin();
        for (const FillBuffer& buffer : buffers_) {
            if (!buffer.asked) {
                *end++ = index_of(buffer);
            }
        }
        std::sort(oldest_first.begin(), end, [this](std::uint8_t a, std::uint8_t b) {
            return buffers_[a].order < buffers_[b].order;
        });
        std::for_each(oldest_first.begin(), end, [&](std::uint8_t i) { body(buffers_[i]); });
    }

  private:
    static constexpr std::size_t kMost = 64;  // of a word's bits
    // Indices, first ready first. That one goes most often: its place stays behind.
    struct Queue {
        std::array<std::uint8_t, 2 * kMost> of{};
        std::size_t first = 0;
        std::size_t behind = 0;
        std::int64_t next = kUnknownCycle;  // when the first is ready

        bool empty() const { return first == behind; }
        std::uint8_t front() const { return of[first]; }
        const std::uint8_t* begin() const { return of.data() + first; }
        const std::uint8_t* end() const { return of.data() + behind; }
    };
    void note_first(Queue& queue) const {
        queue.next = queue.empty() ? kUnknownCycle : buffers_[queue.front()].ready_at;
    }
    const FillBuffer* search(Line line) const;
    FillBuffer& take_any() {
        SIM_DCHECK(!full(), "no fill buffer is free");
        FillBuffer& buffer = buffers_[static_cast<std::size_t>(std::countr_zero(free_))];
        free_ &= free_ - 1;
        ++busy_;
        buffer.fills_l1 = false;
        buffer.own = false;
        buffer.level = Level::L2;
        buffer.ready_at = kUnknownCycle;
        buffer.order = order_++;
        buffer.waiter = FillBuffer::kNobody;
        buffer.others.clear();
        return buffer;
    }
    // Behind all that are ready sooner, or at the same time in a buffer taken before.
    void enqueue(Queue& queue, const FillBuffer& buffer) {
        if (queue.behind == queue.of.size()) [[unlikely]] {
            move_to_start(queue);
        }
        std::size_t place = queue.behind++;
        for (; place > queue.first; --place) {
            const FillBuffer& before = buffers_[queue.of[place - 1]];
            if (before.ready_at < buffer.ready_at ||
                (before.ready_at == buffer.ready_at && before.order < buffer.order)) {
                break;
            }
            queue.of[place] = queue.of[place - 1];
        }
        queue.of[place] = index_of(buffer);
        note_first(queue);
    }
    // Where it is there: a line nobody knows of is not.
    void dequeue(Queue& queue, const FillBuffer& buffer) const {
        if (!queue.empty() && queue.front() == index_of(buffer)) {  // as mostly
            ++queue.first;
        } else {
            dequeue_from_within(queue, buffer);
        }
        note_first(queue);
    }
    static void move_to_start(Queue& queue);
    void dequeue_from_within(Queue& queue, const FillBuffer& buffer) const;
    std::uint8_t index_of(const FillBuffer& buffer) const {
        return static_cast<std::uint8_t>(&buffer - buffers_.data());
    }

    std::vector<FillBuffer> buffers_;
    std::uint64_t free_;  // a bit each
    std::int64_t busy_ = 0;
    std::int64_t missed_ = 0;  // of these, for lines the L2 does not have
    std::uint64_t order_ = 0;
    Queue moves_;  // whose time is known
    Queue waits_;
    struct Held {  // the buffers of a slot's lines
        std::uint8_t count = 0;
        std::uint8_t latest = 0;  // index of the one taken last
        std::uint16_t taken = 0;  // since the start; wraps after more than a window's lines
    };
    std::array<Held, kLineSlots> held_{};
};

}  // namespace tilesim::arch::amx::caches
