// Turns of a loop that are known to repeat are skipped.
#include <numeric>

#include "arch/amx/core/core.hpp"

namespace tilesim::arch::amx::core {

Repetition::Turn Core::turn_of(std::size_t end) const {
    return {end, stream_.turns(end), caches_.exchanges()};
}

// After the step in which the loop's end has entered; its cycle is not charged yet.
void Core::look() {
    const std::size_t end = *turned_;
    turned_.reset();
    if (!caches_.quiet() || !pages_.quiet() || observer_ != nullptr || probe_ ||
        !stream_.inside(end) || !repetition_->wants(turn_of(end))) {
        return;
    }
    repetition_->note(
        turn_of(end), state(end), [this] { return tags(); }, [this] { return counts(); });
}

// All but what `tags` has, and the turns of the loop that ends at `end`.
caches::StateRecord Core::state(std::size_t end) const {
    caches::StateRecord record = window_.state_record(now_ + 1);
    record.add(static_cast<std::int64_t>(stream_.position()));
    stream_.each_count_but(end, [&record](std::int64_t count) { record.add(count); });
    record.time(due_);
    record.add(uops_left_);
    record.add(retire_left_);
    record.time(allocates_from_);
    record.add(configuration_);
    record.add(static_cast<std::int64_t>(blocked_));
    record.add(refused_ == window_.releases() ? 1 : 0);
    window_.record(record, now_ + 1, stores_.count());
    loads_.record(record, window_.next());
    stores_.record(record, caches_);
    ports_.record(record);
    caches_.record(record);
    return record;
}

caches::StateRecord Core::tags() const {
    caches::StateRecord record = window_.state_record(now_ + 1);
    caches_.record_tags(record);
    pages_.record(record);
    return record;
}

Counts Core::counts() const {
    return {now_,           counters_,      spent_, overlapped_, caches_.counters(),
            pages_.walks(), pages_.misses()};
}

std::int64_t Core::leap(std::int64_t grid) {
    if (!repetition_ || !repetition_->period() || observer_ != nullptr || probe_) {
        return 0;
    }
    const std::size_t end = repetition_->period()->to.position;
    if (!stream_.inside(end) || !repetition_->holds(turn_of(end))) {
        repetition_->forget();
        return 0;
    }
    const Repetition::Period& period = *repetition_->period();
    std::int64_t times = stream_.turns_left(end) / period.turns();
    times -= times % (grid / std::gcd(grid, period.cycles()));
    const std::int64_t cycles = times * period.cycles();
    const Counts counted = grown(counts(), period.then, period.now, times);
    counters_ = counted.core;
    spent_ = counted.spent;
    overlapped_ = counted.overlapped;
    caches_.skip(cycles, counted.caches);
    pages_.set_counts(counted.walks, counted.misses);
    stream_.skip(end, times * period.turns());
    skipped_ += cycles;
    return cycles;
}

}  // namespace tilesim::arch::amx::core
