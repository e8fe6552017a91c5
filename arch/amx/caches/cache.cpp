#include "arch/amx/caches/cache.hpp"

#include <algorithm>
#include <bit>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::caches {

namespace {

constexpr std::size_t kGuesses = 1 << 16;
constexpr std::uint64_t kNoLine = std::uint64_t{1} << 32U;  // beyond every age

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

Cache::Cache(const CacheConfig& config)
    : sets_(config.size.count() / (kLineBytes * config.ways)),
      ways_(config.ways),
      power_of_two_((sets_ & (sets_ - 1)) == 0),
      random_percent_(config.random_percent),
      tags_(index(sets_ * ways_), 0),
      used_(index(sets_ * ways_), 0),
      dirty_(index(sets_ * ways_), 0),
      guess_(std::min(std::bit_ceil(4 * tags_.size()), kGuesses), 0),
      guess_mask_(guess_.size() - 1) {}

std::int64_t Cache::search(Line line) const {
    SIM_DCHECK(line >= 0 && line < UINT32_MAX, "line {} is beyond the tags", line);
    const std::uint32_t tag = tag_of(line);
    const std::int64_t first = set_of(line) * ways_;
    const std::uint32_t* tags = &tags_[index(first)];
    std::uint32_t found = 0;  // 1 + way: a sum of one, which the compiler makes vectors of
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(ways_); ++i) {
        found += tags[i] == tag ? i + 1 : 0;
    }
    return found == 0 ? -1 : first + found - 1;
}

bool Cache::dirty(Line line) const {
    const std::int64_t at = find(line);
    return at >= 0 && dirty_[index(at)] != 0;
}

bool Cache::write(Line line) {
    const std::int64_t at = find(line);
    if (at < 0) {
        return false;
    }
    used_[index(at)] = ++clock_;
    dirty_[index(at)] = 1;
    return true;
}

std::uint64_t Cache::next_random() {
    random_state_ ^= random_state_ << 13U;
    random_state_ ^= random_state_ >> 7U;
    random_state_ ^= random_state_ << 17U;
    return random_state_;
}

bool Cache::by_chance() {
    constexpr std::uint64_t kPercent = 100;
    return random_percent_ > 0 &&
           next_random() % kPercent < static_cast<std::uint64_t>(random_percent_);
}

Cache::Victim Cache::install(Line line, bool dirty) {
    if (const std::int64_t at = find(line); at >= 0) {
        used_[index(at)] = ++clock_;
        dirty_[index(at)] = static_cast<std::uint8_t>(dirty_[index(at)] != 0 || dirty);
        return {};
    }
    const std::int64_t first = set_of(line) * ways_;
    // The first way without a line, else the one used longest ago. Ages, not times of use: the
    // clock starts again after 2^32 uses.
    std::int64_t way = first;
    std::uint64_t oldest = 0;
    for (std::int64_t i = first; i < first + ways_; ++i) {
        const std::uint64_t age = tags_[index(i)] == 0 ? kNoLine : clock_ - used_[index(i)];
        way = age > oldest ? i : way;
        oldest = std::max(age, oldest);
    }
    const bool empty = oldest == kNoLine;
    if (!empty && by_chance()) {
        way = first + static_cast<std::int64_t>(next_random() % static_cast<std::uint64_t>(ways_));
    }
    Victim victim;
    if (!empty) {
        victim = {static_cast<Line>(tags_[index(way)]) - 1, dirty_[index(way)] != 0};
    }
    tags_[index(way)] = tag_of(line);
    guess_[index(line) & guess_mask_] = static_cast<std::uint32_t>(way);
    used_[index(way)] = ++clock_;
    dirty_[index(way)] = static_cast<std::uint8_t>(dirty);
    return victim;
}

bool Cache::remove(Line line) {
    const std::int64_t at = find(line);
    if (at < 0) {
        return false;
    }
    tags_[index(at)] = 0;
    return dirty_[index(at)] != 0;
}

void Cache::clean(Line line) {
    if (const std::int64_t at = find(line); at >= 0) {
        dirty_[index(at)] = 0;
    }
}

}  // namespace tilesim::arch::amx::caches
