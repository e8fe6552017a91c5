#include "arch/amx/caches/private_caches.hpp"

#include <algorithm>

#include "arch/base/check.hpp"
#include "arch/base/clock.hpp"

namespace tilesim::arch::amx::caches {

namespace {

// From the L2's answer to a prefetch or a line written back to the fill buffer's next use.
constexpr std::int64_t kAnswerTaken = 2;

}  // namespace

PrivateCaches::PrivateCaches(const PrivateCacheConfig& config, base::Hertz clock,
                             base::Femtoseconds victim_answer)
    : config_(config),
      l1_(config.l1),
      l2_(config.l2),
      buffers_(config.fill_buffers),
      line_units_(kLineBytes * kPathUnits / config.fill_width.count()),
      stream_cycles_(base::Clock{clock}.first_cycle_from(config.streaming_store).count()),
      victim_cycles_(base::Clock{clock}.first_cycle_from(victim_answer).count()),
      superqueue_(config.l2_outstanding),
      streams_(config.l2_streamer_wakes) {}

// PREFETCHT1 and T2 go to the L2 even where the L1 has the line.
PrivateCaches::Outcome PrivateCaches::prefetch(Line line, bool into_l1, std::int64_t now) {
    if (into_l1) {
        return l1_.contains(line) ? Outcome::Hit : take_buffer(line, now, false);
    }
    if (buffers_.full()) {
        return Outcome::NoBuffer;
    }
    if (!l2_.touch(line) && !request(UncoreRequest::Kind::Read, line, now)) {
        return Outcome::NoBuffer;
    }
    buffers_.take_wait(now + config_.l2_latency.count() + kAnswerTaken);
    return Outcome::Waiting;
}

void PrivateCaches::train(std::size_t instruction, Line line, std::int64_t now) {
    if (!config_.l1_stride) {
        return;
    }
    const Line next = strides_.access(instruction, line);
    if (next != Cache::kNone && !buffers_.full() && !l1_.contains(next)) {
        take_buffer(next, now, false);
    }
}

PrivateCaches::Outcome PrivateCaches::stream(Line line, std::int64_t now) {
    if (buffers_.full() || streams_under_way_ == config_.streaming_stores) {
        return Outcome::NoBuffer;
    }
    buffers_.take_wait(now + stream_cycles_).own = true;
    ++streams_under_way_;
    ++counters_.streams;
    give_up(line);
    send(UncoreRequest::Kind::Stream, line, now);
    return Outcome::Waiting;
}

bool PrivateCaches::ask_uncore(FillBuffer& buffer, std::int64_t now) {
    buffers_.set_missed(buffer);
    buffer.asked = request(buffer.own ? UncoreRequest::Kind::Own : UncoreRequest::Kind::Read,
                           buffer.line, now);
    if (!buffer.asked) {
        ++unasked_;
        return false;
    }
    ++counters_.l2_misses;
    take_quarter(buffer.line, now * kPathUnits);
    return true;
}

bool PrivateCaches::request(UncoreRequest::Kind kind, Line line, std::int64_t now) {
    if (superqueue_.holds(line)) {
        return true;
    }
    if (!superqueue_.finds_place(now)) {
        return false;
    }
    superqueue_.take(line);
    counters_.most_misses = std::max(counters_.most_misses, superqueue_.taken());
    send(kind, line, now);
    return true;
}

// While the L2 is heavily loaded with missing demand requests its prefetchers fetch into the L3
// only (optimization manual, "Data Prefetch to the L2 and Last Level Cache"): while as many are
// under way as the L1 can have, or none of the L2's places is left and they have half of them. A
// line that finds no place beside others, prefetches and victims, is given up. `into_l3`: these
// always go there.
void PrivateCaches::fetch_ahead(Line first, Line end, bool into_l3, std::int64_t now) {
    const bool busy = into_l3 || buffers_.full();
    for (Line ahead = first; ahead < end; ++ahead) {
        if (l2_.contains(ahead) || superqueue_.holds(ahead)) {
            continue;
        }
        if (!busy && request(UncoreRequest::Kind::Read, ahead, now)) {
            continue;
        }
        if (busy || 2 * buffers_.missed() >= config_.l2_outstanding) {
            send(UncoreRequest::Kind::Prefetch, ahead, now);
        }
    }
}

void PrivateCaches::deliver(Line line, std::int64_t cycle, bool dirty) {
    cycle -= skipped_;
    const auto later = std::upper_bound(
        deliveries_.begin(), deliveries_.end(), cycle,
        [](std::int64_t time, const Delivery& delivery) { return time < delivery.cycle; });
    deliveries_.insert(later, {line, cycle, dirty});
}

void PrivateCaches::expect_deliveries(std::int64_t cycle) const {
    for (const Delivery& delivery : deliveries_) {
        if (delivery.cycle >= cycle) {
            return;
        }
        l2_.expect(delivery.line);
    }
}

void PrivateCaches::located(Line line, Level level) {
    if (FillBuffer* buffer = buffers_.find(line)) {
        buffer->level = level;
    }
}

[[gnu::flatten]] void PrivateCaches::receive(std::int64_t now) {
    std::size_t taken = 0;
    for (; taken < deliveries_.size() && deliveries_[taken].cycle <= now; ++taken) {
        const Line line = deliveries_[taken].line;
        superqueue_.give_back(line);
        const std::int64_t ready = std::max(now, quarter_free_[quarter_of(line)] / kPathUnits);
        take_quarter(line, now * kPathUnits);
        install_l2(line, deliveries_[taken].dirty, now);
        if (FillBuffer* buffer = buffers_.find(line)) {
            buffers_.set_ready(*buffer, ready);
        }
    }
    deliveries_.erase(deliveries_.begin(), deliveries_.begin() + static_cast<std::int64_t>(taken));
    superqueue_.forget_answered(now);
    superqueue_.forget_refusals();
    ++version_;  // a prefetch into the L2 alone may find room
    if (unasked_ > 0) {
        buffers_.each_unasked([this, now](FillBuffer& buffer) {
            --unasked_;
            ask(buffer, now);
        });
    }
}

void PrivateCaches::install_l2(Line line, bool dirty, std::int64_t now) {
    const Cache::Victim victim = l2_.install(line, dirty);
    if (victim.line != Cache::kNone) {
        take_quarter(victim.line, now * kPathUnits);
        superqueue_.take_for_victim(now + victim_cycles_);
        send(victim.dirty ? UncoreRequest::Kind::DirtyVictim : UncoreRequest::Kind::CleanVictim,
             victim.line, now);
    }
}

// When half and quarter of a line have little enough left to do that they give it, in kPathUnits.
std::int64_t PrivateCaches::given_at(Line line) const {
    return std::max(half_free_[half_of(line)] - config_.half_backlog.count() * kPathUnits,
                    quarter_free_[quarter_of(line)] - config_.quarter_backlog.count() * kPathUnits);
}

// Buffers that hold no line for the path end with their time.
void PrivateCaches::release(std::int64_t now) {
    while (FillBuffer* const buffer = buffers_.over(now)) {
        streams_under_way_ -= buffer->own ? 1 : 0;
        buffers_.give_back(*buffer);
        ++version_;
    }
}

[[gnu::flatten]] void PrivateCaches::fill_next(std::int64_t now, std::vector<Arrival>& arrivals) {
    // A line whose half or quarter is too busy lets others pass.
    const auto may_go = [this, now](const FillBuffer& buffer) {
        return buffer.level != Level::L2 || given_at(buffer.line) < (now + 1) * kPathUnits;
    };
    if (FillBuffer* const next = buffers_.ready(now, may_go)) {
        fill(*next, now, arrivals);
    }
}

void PrivateCaches::fill(FillBuffer& buffer, std::int64_t now, std::vector<Arrival>& arrivals) {
    const Line line = buffer.line;
    std::int64_t start = std::max(path_free_, now * kPathUnits);
    if (buffer.level == Level::L2) {
        start = std::max(start, given_at(line));
        take_half(line, start);
        take_quarter(line, start);
    } else {
        take_quarter(line, now * kPathUnits);
    }
    path_free_ = start + line_units_;
    pipe_free_ = std::max(pipe_free_, start) + config_.read_percent * kPercentUnits;
    const bool fills_l1 = buffer.fills_l1;
    arrive(buffer, arrivals);
    latest_fill_ = {Cache::kNone, line};
    if (fills_l1) {
        const Cache::Victim victim = l1_.install_absent(line, false);  // only fills bring lines in
        latest_fill_ = {line, victim.line};
        if (victim.dirty) {
            write_back(victim.line, now);
        }
    }
}

void PrivateCaches::take_half(Line line, std::int64_t start) {
    std::int64_t& free = half_free_[half_of(line)];
    free = std::max(free, start) + config_.half_percent * kPercentUnits;
}

void PrivateCaches::take_quarter(Line line, std::int64_t start) {
    std::int64_t& free = quarter_free_[quarter_of(line)];
    free = std::max(free, start) + config_.quarter_percent * kPercentUnits;
}

void PrivateCaches::write_back(Line line, std::int64_t now) {
    ++counters_.write_backs;
    const bool same_half = ((line ^ last_written_) & 1) == 0;
    last_written_ = line;
    pipe_free_ +=
        (config_.write_percent + (same_half ? config_.write_half_percent : 0)) * kPercentUnits;
    buffers_.take_wait((pipe_free_ + kPathUnits - 1) / kPathUnits + kAnswerTaken);
    install_l2(line, true, now);
    superqueue_.note_in_l2(line);
}

void PrivateCaches::arrive(FillBuffer& buffer, std::vector<Arrival>& arrivals) {
    if (buffer.waiter != FillBuffer::kNobody) {
        arrivals.push_back({buffer.waiter, buffer.level});
    }
    for (const std::uint32_t other : buffer.others) {
        arrivals.push_back({other, buffer.level});
    }
    buffers_.give_back(buffer);
    ++version_;
    ++counters_.fills;
}

void PrivateCaches::give_up(Line line) {
    l1_.remove(line);
    l2_.remove(line);
    ++given_up_;
}

void PrivateCaches::clean(Line line) {
    l1_.clean(line);
    l2_.clean(line);
}

void PrivateCaches::send(UncoreRequest::Kind kind, Line line, std::int64_t now) {
    outbox_.push_back({kind, line, now + skipped_});
    ++sent_;
}

void PrivateCaches::record(StateRecord& to) const {
    to.time_in_parts(path_free_, kPathUnits, 1);
    to.time_in_parts(pipe_free_, kPathUnits, 0);
    for (const std::int64_t free : half_free_) {
        to.time_in_parts(free, kPathUnits, 0);
    }
    for (const std::int64_t free : quarter_free_) {
        to.time_in_parts(free, kPathUnits, 0);
    }
    to.add(last_written_ & 1);
    superqueue_.record(to);
    buffers_.record(to);
}

void PrivateCaches::record_tags(StateRecord& to) const {
    l1_.record(to);
    l2_.record(to);
    streams_.record(to);
    strides_.record(to);
}

void PrivateCaches::skip(std::int64_t cycles, const CacheCounters& counted) {
    skipped_ += cycles;
    counters_ = counted;
}

void PrivateCaches::warm(Line line, Level level, bool dirty) {
    if (level <= Level::L2) {
        install_l2(line, dirty, 0);
        quarter_free_ = {};
        superqueue_.forget_victims();
    }
    if (level == Level::L1) {
        l1_.install(line, dirty);
    }
}

}  // namespace tilesim::arch::amx::caches
