#include "arch/amx/caches/private_caches.hpp"

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::caches {

namespace {

// The path between L2 and L1 moves a line in 64 / width cycles, which is no whole number: its time
// is kept in parts of a cycle that 48 B/cycle and hundredths both divide.
constexpr std::int64_t kPathUnits = 19'200;
constexpr std::int64_t kPercent = 100;

}  // namespace

PrivateCaches::PrivateCaches(const PrivateCacheConfig& config)
    : config_(config),
      l1_(config.l1),
      l2_(config.l2),
      buffers_(static_cast<std::size_t>(config.fill_buffers)) {}

PrivateCaches::FillBuffer* PrivateCaches::buffer_of(Line line) {
    if (busy_ > 0) {
        for (FillBuffer& buffer : buffers_) {
            if (buffer.busy && buffer.line == line) {
                return &buffer;
            }
        }
    }
    return nullptr;
}

Level PrivateCaches::level_of(Line line) const {
    for (const FillBuffer& buffer : buffers_) {
        if (buffer.busy && buffer.line == line) {
            return buffer.level;
        }
    }
    return Level::L1;
}

bool PrivateCaches::pending(Line line) const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [line](const Pending& p) { return p.line == line; });
}

PrivateCaches::Outcome PrivateCaches::load(Line line, std::int64_t now, std::uint32_t waiter,
                                           bool fills_l1) {
    if (l1_.touch(line)) {
        ++counters_.l1_hits;
        return Outcome::Hit;
    }
    FillBuffer* buffer = nullptr;
    const Outcome outcome = take_buffer(line, now, fills_l1, false, buffer);
    if (outcome == Outcome::Waiting) {
        ++counters_.l1_misses;
        buffer->waiters.push_back(waiter);
        if (config_.l1_next_line && !l1_.contains(line + 1)) {
            take_buffer(line + 1, now, true, false, buffer);
        }
    }
    return outcome;
}

PrivateCaches::Outcome PrivateCaches::own(Line line, std::int64_t now) {
    if (l1_.contains(line)) {
        return Outcome::Hit;
    }
    FillBuffer* buffer = nullptr;
    const Outcome outcome = take_buffer(line, now, true, true, buffer);
    counters_.ownerships += outcome == Outcome::Waiting ? 1 : 0;
    return outcome;
}

PrivateCaches::Outcome PrivateCaches::prefetch(Line line, bool into_l1, std::int64_t now) {
    if (l1_.contains(line) || (!into_l1 && l2_.contains(line))) {
        return Outcome::Hit;
    }
    if (!into_l1) {
        return request(line, false, now) ? Outcome::Waiting : Outcome::NoBuffer;
    }
    FillBuffer* buffer = nullptr;
    return take_buffer(line, now, true, false, buffer);
}

PrivateCaches::Outcome PrivateCaches::take_buffer(Line line, std::int64_t now, bool fills_l1,
                                                  bool own, FillBuffer*& taken) {
    taken = buffer_of(line);
    if (taken == nullptr) {
        if (busy_ == config_.fill_buffers) {
            ++counters_.no_buffer;
            return Outcome::NoBuffer;
        }
        taken = &*std::find_if(buffers_.begin(), buffers_.end(),
                               [](const FillBuffer& b) { return !b.busy; });
        ++busy_;
        taken->line = line;
        taken->busy = true;
        taken->fills_l1 = false;
        taken->own = own;
        taken->order = order_++;
        taken->waiters.clear();
        ask(*taken, now);
    }
    taken->fills_l1 = taken->fills_l1 || fills_l1;
    return Outcome::Waiting;
}

// The L2 answers `l2_latency` after the access; its misses go to the uncore.
void PrivateCaches::ask(FillBuffer& buffer, std::int64_t now) {
    buffer.asked = true;
    buffer.ready_at = kUnknownCycle;
    buffer.level = Level::L3;
    if (l2_.touch(buffer.line)) {
        ++counters_.l2_hits;
        buffer.level = Level::L2;
        buffer.ready_at = now + config_.l2_latency.count();
        prefetch_l2(buffer.line, false, now);
        return;
    }
    buffer.asked = request(buffer.line, buffer.own, now);
    if (!buffer.asked) {
        ++unasked_;
        return;
    }
    ++counters_.l2_misses;
    prefetch_l2(buffer.line, true, now);
}

bool PrivateCaches::request(Line line, bool own, std::int64_t now) {
    if (pending(line)) {
        return true;
    }
    if (static_cast<std::int64_t>(pending_.size()) >= config_.l2_outstanding) {
        return false;
    }
    pending_.push_back({line, Level::L3, own});
    outbox_.push_back({own ? UncoreRequest::Kind::Own : UncoreRequest::Kind::Read, line, now});
    return true;
}

void PrivateCaches::prefetch_l2(Line line, bool miss, std::int64_t now) {
    const auto fetch = [&](Line wanted) {
        if (!l2_.contains(wanted)) {
            request(wanted, false, now);
        }
    };
    if (config_.l2_adjacent_line && miss) {
        fetch(line ^ 1);
    }
    if (config_.l2_streamer == 0) {
        return;
    }
    const auto [first, end] = streams_.access(line, config_.l2_streamer);
    for (Line ahead = first; ahead < end; ++ahead) {
        fetch(ahead);
    }
}

void PrivateCaches::deliver(Line line, std::int64_t cycle) {
    const auto later = std::upper_bound(
        deliveries_.begin(), deliveries_.end(), cycle,
        [](std::int64_t time, const Delivery& delivery) { return time < delivery.cycle; });
    deliveries_.insert(later, {line, cycle});
}

void PrivateCaches::located(Line line, Level level) {
    for (Pending& entry : pending_) {
        entry.level = entry.line == line ? level : entry.level;
    }
    if (FillBuffer* buffer = buffer_of(line)) {
        buffer->level = level;
    }
}

void PrivateCaches::receive(std::int64_t now) {
    std::size_t taken = 0;
    for (; taken < deliveries_.size() && deliveries_[taken].cycle <= now; ++taken) {
        const Line line = deliveries_[taken].line;
        std::erase_if(pending_, [line](const Pending& p) { return p.line == line; });
        install_l2(line, false, now);
        if (FillBuffer* buffer = buffer_of(line)) {
            buffer->ready_at = now;
        }
    }
    deliveries_.erase(deliveries_.begin(), deliveries_.begin() + static_cast<std::int64_t>(taken));
    version_ += taken > 0 ? 1 : 0;  // a prefetch into the L2 alone may find room
    if (taken > 0 && unasked_ > 0) {
        for (FillBuffer& buffer : buffers_) {
            if (buffer.busy && !buffer.asked) {
                --unasked_;
                ask(buffer, now);
            }
        }
    }
}

void PrivateCaches::install_l2(Line line, bool dirty, std::int64_t now) {
    const Cache::Victim victim = l2_.install(line, dirty);
    if (victim.line != Cache::kNone) {
        outbox_.push_back(
            {victim.dirty ? UncoreRequest::Kind::DirtyVictim : UncoreRequest::Kind::CleanVictim,
             victim.line, now});
    }
}

// Of the lines that are ready, the one that has been so longest.
PrivateCaches::FillBuffer* PrivateCaches::next_fill(std::int64_t now) {
    FillBuffer* next = nullptr;
    for (FillBuffer& buffer : buffers_) {
        if (buffer.busy && buffer.ready_at <= now &&
            (next == nullptr || buffer.ready_at < next->ready_at ||
             (buffer.ready_at == next->ready_at && buffer.order < next->order))) {
            next = &buffer;
        }
    }
    return next;
}

void PrivateCaches::advance(std::int64_t now, std::vector<Arrival>& arrivals) {
    if (!deliveries_.empty()) {
        receive(now);
    }
    if (busy_ == 0 || path_free_ >= (now + 1) * kPathUnits) {
        return;
    }
    FillBuffer* fill = next_fill(now);
    if (fill == nullptr) {
        return;
    }
    const std::int64_t half = fill->line & 1;
    const bool back_to_back = path_free_ > now * kPathUnits - kPathUnits;
    const std::int64_t lost =
        half == last_half_ && back_to_back ? config_.same_half_percent * kPathUnits / kPercent : 0;
    const std::int64_t start = std::max(path_free_ + lost, now * kPathUnits);
    path_free_ = start;
    if (start >= (now + 1) * kPathUnits) {
        last_half_ = -1;  // the loss is paid; the line goes in a later cycle
        return;
    }
    last_half_ = half;
    path_free_ = start + kLineBytes * kPathUnits / config_.fill_width.count();
    arrive(*fill, arrivals);
    if (fill->fills_l1) {
        const Cache::Victim victim = l1_.install(fill->line, false);
        if (victim.dirty && !l2_.write(victim.line)) {
            install_l2(victim.line, true, now);
        }
    }
}

void PrivateCaches::arrive(FillBuffer& buffer, std::vector<Arrival>& arrivals) {
    for (const std::uint32_t waiter : buffer.waiters) {
        arrivals.push_back({waiter, buffer.level});
    }
    buffer.busy = false;
    --busy_;
    ++version_;
    ++counters_.fills;
}

std::int64_t PrivateCaches::next_event(std::int64_t now) const {
    std::int64_t next = deliveries_.empty() ? kUnknownCycle : deliveries_.front().cycle;
    if (busy_ > 0) {
        for (const FillBuffer& buffer : buffers_) {
            if (buffer.busy && buffer.ready_at != kUnknownCycle) {
                next = std::min(next, std::max(buffer.ready_at, path_free_ / kPathUnits));
            }
        }
    }
    return next == kUnknownCycle ? next : std::max(next, now + 1);
}

bool PrivateCaches::give_up(Line line) {
    const bool in_l1 = l1_.remove(line);
    const bool in_l2 = l2_.remove(line);
    return in_l1 || in_l2;
}

void PrivateCaches::warm(Line line, Level level, bool dirty) {
    if (level <= Level::L2) {
        install_l2(line, dirty, 0);
    }
    if (level == Level::L1) {
        l1_.install(line, dirty);
    }
}

}  // namespace tilesim::arch::amx::caches
