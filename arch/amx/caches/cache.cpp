#include "arch/amx/caches/cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/base/limit.hpp"

namespace tilesim::arch::amx::caches {

namespace {

constexpr std::size_t kFewLines = 1024;  // as many as a table of guesses is worth its place for
constexpr std::size_t kMarkBits = 32;

std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

Cache::Cache(const CacheConfig& config)
    : sets_(config.size.count() / (kLineBytes * config.ways)),
      ways_(config.ways),
      groups_((index(config.ways) + kGroup - 1) / kGroup),
      power_of_two_((sets_ & (sets_ - 1)) == 0),
      random_percent_(config.random_percent),
      every_way_(~std::uint32_t{0} >> (kMarkBits - index(ways_))),
      tags_(index(sets_) * groups_),
      state_(index(sets_)),
      many_(groups_ == 1 ? 0 : tags_.size() * kGroup),
      guess_(groups_ == 1 && tags_.size() * kGroup <= kFewLines
                 ? std::vector<Guess>(std::bit_ceil(4 * index(sets_ * ways_)))
                 : std::vector<Guess>{{0, kMany}}),
      guess_mask_(guess_.size() - 1) {
    SIM_CHECK(index(ways_) <= kMarkBits, "{} ways are more than there are marks", ways_);
}

bool Cache::tight() const {
    return displaced_ || std::any_of(state_.begin(), state_.end(), [this](const State& set) {
               return set.taken != 0 && !base::spares(ways_, std::popcount(set.taken));
           });
}

// The way that was used last but so many.
std::size_t Cache::way_at(std::size_t set, std::size_t place) const {
    return groups_ > 1 ? many_[first_of(set) * kGroup + place] ^ place
                       : (state_[set].order ^ kInOrder) >> 4 * place & 15U;
}

// A tag is a whole line's: the set follows from it. Which way a line is in tells nothing: random
// victims, for which it would, change the state they are drawn from.
void Cache::record(StateRecord& to) const {
    to.add(static_cast<std::int64_t>(random_state_));
    for (std::size_t set = 0; set < index(sets_); ++set) {
        const State& state = state_[set];
        if (state.taken == 0) {
            continue;
        }
        for (std::size_t place = 0; place < index(ways_); ++place) {
            const std::size_t way = way_at(set, place);
            if ((state.taken >> way & 1U) != 0) {
                const std::uint32_t tag = tags_[first_of(set) + way / kGroup].of[way % kGroup];
                to.add(static_cast<std::int64_t>(tag) << 1 | (state.dirty >> way & 1U));
            }
        }
    }
}

void Cache::use_of_many(std::size_t set, std::int64_t way) {
    std::uint8_t* const order = &many_[first_of(set) * kGroup];
    const auto name = static_cast<std::uint8_t>(way);
    std::uint8_t moved = name;
    std::uint8_t i = 0;
    for (; (order[i] ^ i) != name; ++i) {
        moved = std::exchange(order[i], moved ^ i) ^ i;
    }
    order[i] = moved ^ i;
}

// The way at the front of its set's order goes behind all others.
void Cache::put_last(std::size_t set) {
    const std::size_t last = index(ways_ - 1);
    if (groups_ > 1) {
        std::uint8_t* const order = &many_[first_of(set) * kGroup];
        const std::uint8_t way = order[0];
        for (std::size_t place = 0; place < last; ++place) {
            order[place] = static_cast<std::uint8_t>((order[place + 1] ^ (place + 1)) ^ place);
        }
        order[last] = static_cast<std::uint8_t>(way ^ last);
        return;
    }
    const std::uint64_t order = state_[set].order ^ kInOrder;
    const std::uint64_t others = ~(std::uint64_t{15} << 4 * last);
    state_[set].order = ((order >> 4U & others) | (order & 15U) << 4 * last) ^ kInOrder;
}

// The way that was used longest ago, or any; it is the one used last now.
std::int64_t Cache::displaced_way(std::size_t set) {
    displaced_ = true;
    const std::size_t last = index(ways_ - 1);
    if (by_chance()) {
        const auto way =
            static_cast<std::int64_t>(next_random() % static_cast<std::uint64_t>(ways_));
        use(set, way);
        return way;
    }
    if (groups_ > 1) {
        const auto way = many_[first_of(set) * kGroup + last] ^ static_cast<std::int64_t>(last);
        use_of_many(set, way);
        return way;
    }
    // All move one place back. What that leaves in places without a way is never looked at.
    const std::uint64_t order = state_[set].order ^ kInOrder;
    const std::uint64_t way = order >> 4 * last & 15U;
    state_[set].order = (order << 4U | way) ^ kInOrder;
    return static_cast<std::int64_t>(way);
}

bool Cache::dirty(Line line) const {
    const std::size_t set = set_of(line);
    const std::int64_t way = find(line, set);
    return way >= 0 && (state_[set].dirty >> way & 1U) != 0;
}

bool Cache::write(Line line) {
    const std::size_t set = set_of(line);
    const std::int64_t way = find(line, set);
    if (way < 0) {
        return false;
    }
    use(set, way);
    state_[set].dirty |= 1U << way;
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
    const std::size_t set = set_of(line);
    if (const std::int64_t way = find(line, set); way >= 0) {
        use(set, way);
        state_[set].dirty |= (dirty ? 1U : 0U) << way;
        return {};
    }
    return install_absent(line, dirty);
}

Cache::Victim Cache::install_next_to_go(Line line) {
    if (contains(line)) {
        return {};
    }
    const Victim victim = install_absent(line, false);
    put_last(set_of(line));
    return victim;
}

// The first way without a line, else the one used longest ago or any.
Cache::Victim Cache::install_absent(Line line, bool dirty) {
    SIM_DCHECK(!contains(line), "line {} is there already", line);
    const std::size_t set = set_of(line);
    State& state = state_[set];
    std::int64_t way = 0;
    const std::uint32_t empty = every_way_ & ~state.taken;
    if (empty != 0) {
        way = std::countr_zero(empty);
        use(set, way);
    } else {
        way = displaced_way(set);
    }
    std::uint32_t& tag = tag_at(set, way);
    const std::uint32_t mark = 1U << way;
    const Victim victim =
        empty != 0 ? Victim{} : Victim{static_cast<Line>(tag) - 1, (state.dirty & mark) != 0};
    tag = tag_of(line);
    state.taken |= mark;
    state.dirty = dirty ? state.dirty | mark : state.dirty & ~mark;
    if (guess_mask_ != 0) {
        note(line, way);
        forget(victim.line);
    }
    return victim;
}

// The line is there now.
void Cache::note(Line line, std::int64_t way) {
    Guess& guess = guess_[index(line) & guess_mask_];
    guess.way = static_cast<std::uint8_t>(way);
    if (guess.lines < kMany) {
        ++guess.lines;
    }
}

// No longer.
void Cache::forget(Line line) {
    if (line == kNone) {
        return;
    }
    Guess& guess = guess_[index(line) & guess_mask_];
    if (guess.lines < kMany) {
        --guess.lines;
    }
}

void Cache::remove(Line line) {
    const std::size_t set = set_of(line);
    const std::int64_t way = find(line, set);
    if (way < 0) {
        return;
    }
    tag_at(set, way) = 0;
    if (guess_mask_ != 0) {
        forget(line);
    }
    state_[set].taken &= ~(1U << way);
}

void Cache::clean(Line line) {
    const std::size_t set = set_of(line);
    if (const std::int64_t way = find(line, set); way >= 0) {
        state_[set].dirty &= ~(1U << way);
    }
}

}  // namespace tilesim::arch::amx::caches
