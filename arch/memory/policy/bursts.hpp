// The bursts that wait in a channel, read and write queue, sorted by what a scheduler asks: which
// banks have work, which of them have its row open, which burst of a bank is the oldest.
//
// A queue is a lane for each bank; a lane is two lists, of the bursts to the row that is open and
// of the others, so that no burst is looked at again before its turn. What a list holds are runs:
// bursts of one request that lie side by side in a row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "arch/base/check.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/device/address_map.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/policy/rank.hpp"

namespace tilesim::arch::memory::policy {

// Nobody's run: it ends a list, and is younger than every other, so that nothing that asks for the
// first of a list has to ask whether there is one.
inline constexpr std::int32_t kNone = 0;

// Of drains that were cut short: gem5's memory controller has 16 reads between two drains
// (min_reads_per_switch) of a queue of 64.
inline constexpr std::int64_t kWritesForARead = 4;

struct Burst {
    std::int64_t row = 0;
    std::int64_t order = 0;  // of the runs let in; lower is older
    std::uint64_t request = 0;
    std::uint32_t column : 31 = 0;
    std::uint32_t opened_row : 1 = 0;  // an ACT was needed for it
};

struct Run {
    Burst first;
    std::uint32_t bursts = 0;   // it and those behind it, in the next columns
    std::int32_t next = kNone;  // of the same list, younger
    std::uint32_t entered = 0;  // bursts it came in with
};

// Of a burst that has left its queue; not a copy of it, which has just been written: the host would
// wait for that.
struct Taken {
    std::uint64_t request = 0;
    bool opened_row = false;
    std::uint32_t run = 0;  // how many of its run have left if it was the last of them
};

struct BurstList {  // oldest first
    std::int32_t head = kNone;
    std::int32_t tail = kNone;
    std::int64_t order = Age::kOrders - 1;  // of the oldest
    bool empty() const { return head == kNone; }
};

struct Lane {        // a bank's bursts of one direction
    BurstList hits;  // to the row that is open
    BurstList others;
    std::int64_t overtaken = 0;  // row hits since the oldest burst came first
    bool empty() const { return (hits.head | others.head) == kNone; }
};

using BankAges = std::array<Age, device::kMaxBanks>;

struct BurstQueue {  // bit masks over banks
    explicit BurstQueue(std::int64_t bursts) : capacity(bursts) {}

    std::array<Lane, device::kMaxBanks> lanes;
    BankAges ages;            // of the burst each lane would serve next
    std::uint64_t banks = 0;  // a lane is not empty
    std::uint64_t hits = 0;   // its next step is a column command: its row is open
    std::uint64_t owed = 0;   // its open row was opened for a burst that still waits
    std::int64_t size = 0;
    std::int64_t most = 0;  // at a time
    std::int64_t capacity;
    std::int64_t room() const { return capacity - size; }
};

class Bursts {
  public:
    explicit Bursts(const device::ControllerConfig& config);

    Bursts(const Bursts&) = delete;
    Bursts& operator=(const Bursts&) = delete;

    const BurstQueue& queue(bool write) const { return write ? writes_ : reads_; }
    BurstQueue& queue(bool write) { return write ? writes_ : reads_; }
    // The direction being served, and the other, whose opened rows are still made use of.
    const BurstQueue& active() const { return *active_; }
    BurstQueue& active() { return *active_; }
    const BurstQueue& passive() const { return *passive_; }
    BurstQueue& passive() { return *passive_; }
    bool draining() const { return draining_; }  // writes
    std::int64_t size() const { return reads_.size + writes_.size; }
    std::uint64_t banks() const { return reads_.banks | writes_.banks; }
    const Run& operator[](std::int32_t index) const {
        return runs_[static_cast<std::size_t>(index)];
    }
    Run& operator[](std::int32_t index) { return runs_[static_cast<std::size_t>(index)]; }
    // Puts so many bursts from `first` on at the end of their lane; true: they are the first of
    // their list. There must be room.
    bool enter(BurstQueue& queue, device::Location first, std::uint32_t bursts,
               std::uint64_t request, bool is_hit);
    // The lane's oldest hit, and the same taken.
    const Burst& first_hit(const BurstQueue& queue, std::size_t bank) const {
        return (*this)[queue.lanes[bank].hits.head].first;
    }
    Taken take_hit(BurstQueue& queue, std::size_t bank);
    // Numbers runs from 0 again; nothing may wait.
    void restart() { order_ = 0; }
    // Serves writes from one watermark down to the other, and while no read waits; true: turned.
    // Writes that come as fast as they leave would never get there: while reads wait, a drain is
    // over once it has served what the queue holds, and a quarter as many reads go before the next.
    bool choose_direction();
    // The most writes a drain had served while reads waited for its end.
    std::int64_t longest_drain() const { return longest_drain_; }
    // The bank's row has opened: moves the bursts to it to the hits.
    void pick_hits(Lane& lane, std::int64_t row);
    // It has closed: there are no hits any more.
    void return_hits(Lane& lane);

  private:
    void append(BurstList& list, std::int32_t index);
    void set_head(BurstList& list, std::int32_t head) {
        list.head = head;
        list.order = (*this)[head].first.order;
    }
    std::int32_t take_first(BurstList& list) {
        const std::int32_t first = list.head;
        set_head(list, (*this)[first].next);
        return first;
    }

    std::int64_t write_high_;
    std::int64_t write_low_;
    std::vector<Run> runs_;
    std::vector<std::int32_t> free_;  // indices of these that are none's
    BurstQueue reads_;
    BurstQueue writes_;
    BurstQueue* active_ = &reads_;
    BurstQueue* passive_ = &writes_;
    bool draining_ = false;
    std::int64_t served_ = 0;      // of this direction, since it was turned to
    std::int64_t owed_reads_ = 0;  // before the next drain
    std::int64_t longest_drain_ = 0;
    std::int64_t order_ = 0;
};

// Here, not in a .cpp: the channel's loop takes a dozen of these small steps a command.

inline void Bursts::append(BurstList& list, std::int32_t index) {
    Run& appended = (*this)[index];
    appended.next = kNone;
    const bool is_first = list.empty();
    (is_first ? list.head : (*this)[list.tail].next) = index;
    list.order = is_first ? appended.first.order : list.order;
    list.tail = index;
}

inline bool Bursts::enter(BurstQueue& to, device::Location first, std::uint32_t bursts,
                          std::uint64_t request, bool is_hit) {
    const std::size_t bank = first.bank();
    const std::int32_t index = free_.back();
    free_.pop_back();
    Run& entered = (*this)[index];
    entered.first.row = first.row();
    entered.first.order = order_++;
    entered.first.request = request;
    entered.first.column = static_cast<std::uint32_t>(first.column()) & 0x7FFF'FFFFU;
    entered.first.opened_row = 0;
    entered.bursts = entered.entered = bursts;
    SIM_CHECK(order_ <= Age::kOrders, "a channel has never been idle for {} runs", order_);
    Lane& lane = to.lanes[bank];
    BurstList& list = is_hit ? lane.hits : lane.others;
    const bool is_first = list.empty();
    append(list, index);
    to.banks |= std::uint64_t{1} << bank;
    to.size += bursts;
    if (to.size > to.most) {
        to.most = to.size;
    }
    return is_first;
}

inline Taken Bursts::take_hit(BurstQueue& from, std::size_t bank) {
    Lane& lane = from.lanes[bank];
    lane.overtaken = lane.hits.order < lane.others.order ? 0 : lane.overtaken + 1;
    Run& run = (*this)[lane.hits.head];
    Taken taken{run.first.request, run.first.opened_row != 0};
    --from.size;
    served_ += &from == active_ ? 1 : 0;
    from.owed &= ~(std::uint64_t{1} << bank);  // who opened the row is the first to leave
    if (--run.bursts > 0) {
        ++run.first.column;
        run.first.opened_row = 0;
    } else {
        taken.run = run.entered;
        free_.push_back(take_first(lane.hits));
        from.banks &= ~(std::uint64_t{lane.empty()} << bank);
    }
    return taken;
}

inline bool Bursts::choose_direction() {
    const bool was_draining = draining_;
    if (reads_.size == 0) {
        draining_ = writes_.size > 0;
    } else if (draining_ && writes_.size > write_low_) {
        longest_drain_ = std::max(longest_drain_, served_);
        draining_ = served_ < writes_.capacity;
    } else {
        draining_ = !draining_ && writes_.size >= write_high_ && served_ >= owed_reads_;
    }
    if (draining_ == was_draining) [[likely]] {
        return false;
    }
    const bool cut_short = was_draining && writes_.size > write_low_;
    owed_reads_ = cut_short ? base::ceil_div(writes_.capacity, kWritesForARead) : 0;
    served_ = 0;
    std::swap(active_, passive_);
    return true;
}

inline void Bursts::pick_hits(Lane& lane, std::int64_t row) {
    std::int32_t last_other = kNone;
    for (std::int32_t index = lane.others.head; index != kNone;) {
        const std::int32_t next = (*this)[index].next;
        if ((*this)[index].first.row == row) {
            if (last_other == kNone) {
                set_head(lane.others, next);
            } else {
                (*this)[last_other].next = next;
            }
            append(lane.hits, index);
        } else {
            last_other = index;
        }
        index = next;
    }
    lane.others.tail = last_other;
}

inline void Bursts::return_hits(Lane& lane) {
    if (lane.hits.empty()) {
        return;
    }
    BurstList hits = std::exchange(lane.hits, BurstList{});
    BurstList others = std::exchange(lane.others, BurstList{});
    while (!hits.empty() || !others.empty()) {
        append(lane.others, take_first(hits.order < others.order ? hits : others));
    }
}

}  // namespace tilesim::arch::memory::policy
