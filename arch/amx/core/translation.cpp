#include "arch/amx/core/translation.hpp"

#include <algorithm>
#include <bit>

namespace tilesim::arch::amx::core {

namespace {

constexpr caches::Line kTables = (caches::Line{1} << 31) - (caches::Line{1} << 26);
constexpr caches::Line kOneTable = caches::Line{1} << 22;  // lines
constexpr std::int64_t kPagesALine = 8;

}  // namespace

Translation::Translation(const PageConfig& config, caches::PrivateCaches& caches)
    : config_(config),
      map_(config.scattered),
      caches_(caches),
      first_(config.first),
      second_(config.second),
      shift_(
          std::countr_zero(static_cast<std::uint64_t>(config.size.count() / caches::kLineBytes))) {}

bool Translation::walked(std::int64_t page, std::int64_t now) {
    const auto pending = [this, page] {
        return std::find_if(pending_.begin(), pending_.end(),
                            [page](const Walk& each) { return each.page == page; });
    };
    auto walk = pending();
    if (walk == pending_.end()) {
        if (first_.touch(page)) {
            return true;
        }
        start(page, now);
        walk = pending();
    }
    if (!walk->over(now)) {
        return false;
    }
    pending_.erase(walk);
    first_.install(page, false);
    return true;
}

void Translation::start(std::int64_t page, std::int64_t now) {
    ++misses_;
    Walk walk;
    walk.page = page;
    walk.id = next_id_++ & ~kWalks;
    walk.done_at = now + config_.second_latency.count();
    if (!second_.touch(page)) {
        ++walks_;
        second_.install(page, false);
        walk.stage = Stage::Queued;
        walk.unsent = config_.walk_loads;
        ++asking_;
        advance(walk, now);
        queued_ += walk.stage == Stage::Queued ? 1 : 0;
    }
    pending_.push_back(walk);
}

void Translation::advance(Walk& walk, std::int64_t now) {
    if (walk.stage == Stage::Queued && walker_free(now)) {
        walk.stage = Stage::Walking;
        walk.done_at = std::max(walk.done_at, now) + config_.walk.count();
    }
    if (walk.stage != Stage::Walking) {
        return;
    }
    while (walk.unsent > 0) {
        const caches::Line line = table_line(walk.page, walk.unsent);
        const auto outcome = caches_.load(line, now, kWalks | walk.id, true);
        if (outcome == caches::PrivateCaches::Outcome::NoBuffer) {
            return;
        }
        --walk.unsent;
        if (outcome == caches::PrivateCaches::Outcome::Waiting) {
            ++walk.waiting;
        } else {
            walk.done_at += caches_.l1_latency();
        }
    }
    walk.stage = Stage::Sent;
    --asking_;
}

void Translation::advance_all(std::int64_t now) {
    for (Walk& walk : pending_) {
        advance(walk, now);
    }
}

bool Translation::walker_free(std::int64_t now) const {
    return std::count_if(pending_.begin(), pending_.end(), [now](const Walk& each) {
               return each.has_walker() && !each.over(now);
           }) < config_.walkers;
}

// Loads of a walk follow one another: what each took is added up.
void Translation::arrive(std::uint32_t waiter, std::int64_t now) {
    for (Walk& walk : pending_) {
        if ((kWalks | walk.id) == waiter) {
            --walk.waiting;
            const std::int64_t rest = config_.walk.count() + config_.second_latency.count();
            walk.done_at = std::max(walk.done_at, now + rest);
        }
    }
}

std::int64_t Translation::next_event() const {
    std::int64_t next = caches::kUnknownCycle;
    for (const Walk& walk : pending_) {
        if (walk.told()) {
            next = std::min(next, walk.done_at);
        }
    }
    return next;
}

caches::Line Translation::table_line(std::int64_t page, std::int64_t level) {
    return kTables + level * kOneTable + page / kPagesALine;
}

void Translation::warm(caches::Line first, caches::Line end) {
    for (std::int64_t page = page_of(first); page <= page_of(end - 1); ++page) {
        second_.install(page, false);
        for (std::int64_t level = 1; level <= config_.walk_loads; ++level) {
            caches_.warm(table_line(page, level), caches::Level::L2, false);
        }
    }
}

void Translation::record(caches::StateRecord& to) const {
    first_.record(to);
    second_.record(to);
    to.add(latest_);
}

}  // namespace tilesim::arch::amx::core
