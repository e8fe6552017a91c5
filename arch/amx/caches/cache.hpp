// Tags of one set-associative cache: which lines are there, which are dirty, which goes next.
//
// Models:  true set indexing by line number; victims least recently used, some of them random.
// Ignores: data, timing, coherence.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/amx/caches/state_record.hpp"
#include "arch/amx/caches/zeroed.hpp"

namespace tilesim::arch::amx::caches {

inline constexpr std::int64_t kLineBytes = 64;
using Line = std::int64_t;  // address / 64

inline constexpr Line kLinesPerPage = 64;

constexpr Line line_at(std::int64_t address) {
    return address >> 6;  // by kLineBytes, and no sign to mind
}

class Cache {
  public:
    explicit Cache(const CacheConfig& config);

    struct Victim {
        Line line = kNone;  // kNone: the set had room
        bool dirty = false;
    };
    static constexpr Line kNone = -1;

    bool contains(Line line) const { return find(line, set_of(line)) >= 0; }
    bool dirty(Line line) const;
    std::int64_t sets() const { return sets_; }
    // A way of the line's set is empty.
    bool has_room(Line line) const { return state_[set_of(line)].taken != every_way_; }
    // The lines of every set, the one used last first.
    void record(StateRecord& to) const;
    // Whether its size or its ways have told so far: a line has displaced another, or a way more
    // in a tenth of all would have been needed in some set.
    bool tight() const;

    // Whether it is the one of its set used last: `touch` then changes nothing. Sets of few ways.
    bool latest(Line line) const {
        const std::size_t set = set_of(line);
        return groups_ == 1 && tags_[set].of[(state_[set].order ^ kInOrder) & 15U] == tag_of(line);
    }

    // The host may fetch what `touch` or `install` of the line will look at.
    void expect(Line line) const {
        const std::size_t set = set_of(line);
        __builtin_prefetch(&tags_[first_of(set)]);
        __builtin_prefetch(&state_[set]);
    }

    // True when the line is there; it becomes the most recent of its set.
    bool touch(Line line) {
        const std::size_t set = set_of(line);
        const std::int64_t way = find(line, set);
        if (way < 0) {
            return false;
        }
        use(set, way);
        return true;
    }
    // Touches line_of(0), line_of(1), ... below `count` until one is not there; how many were.
    template <class LineOf>
    std::int64_t touch_run(std::int64_t count, LineOf line_of) {
        std::int64_t touched = 0;
        if (groups_ > 1 || !power_of_two_) {
            while (touched < count && touch(line_of(touched))) {
                ++touched;
            }
            return touched;
        }
        // As `touch`, with what stays the same in registers.
        const Tags* const tags = tags_.data();
        State* const states = state_.data();
        const Guess* const guesses = guess_.data();
        const auto guess_mask = guess_mask_;
        const auto set_mask = static_cast<std::size_t>(sets_ - 1);
        for (; touched < count; ++touched) {
            const Line line = line_of(touched);
            const std::size_t set = static_cast<std::size_t>(line) & set_mask;
            std::int64_t way = guesses[static_cast<std::size_t>(line) & guess_mask].way;
            if (tags[set].of[static_cast<std::size_t>(way)] != tag_of(line)) {
                way = search(tag_of(line), set);
            }
            if (way < 0) {
                break;
            }
            states[set].order = with_first(states[set].order ^ kInOrder, way) ^ kInOrder;
        }
        return touched;
    }
    // As `touch`, and marks it dirty.
    bool write(Line line);
    // Puts the line in; what had to leave. A line that is there stays.
    Victim install(Line line, bool dirty);
    // As `install` of a line that is not there.
    Victim install_absent(Line line, bool dirty);
    // As `install` of a clean line, which goes before all others of its set. One that is there
    // stays.
    Victim install_next_to_go(Line line);
    // Takes the line out.
    void remove(Line line);
    void clean(Line line);

  private:
    // Ways are kept in groups of 16, whose tags fill a line of the host's cache.
    static constexpr std::size_t kGroup = 16;
    static constexpr std::uint64_t kOnes = 0x1111'1111'1111'1111;     // in every four bits
    static constexpr std::uint64_t kInOrder = 0xFEDC'BA98'7654'3210;  // way 0 first
    struct State {                                                    // of a set
        // Of one group: its ways, the one used last first, four bits each, the first rightmost,
        // what differs from kInOrder.
        std::uint64_t order = 0;
        std::uint32_t dirty = 0;  // a bit a way
        std::uint32_t taken = 0;  // holds a line
    };
    static constexpr std::uint8_t kMany = UINT8_MAX;
    // Finds most lines, and most that are not there, without looking at every way.
    struct Guess {
        std::uint8_t way = 0;    // where one with these low bits was put last
        std::uint8_t lines = 0;  // how many of them there are; kMany and more stay kMany
    };
    struct alignas(kLineBytes) Tags {
        std::array<std::uint32_t, kGroup> of{};
    };

    static std::uint32_t tag_of(Line line) { return static_cast<std::uint32_t>(line + 1); }
    std::size_t set_of(Line line) const {
        return power_of_two_ ? static_cast<std::size_t>(line & (sets_ - 1))
                             : static_cast<std::uint32_t>(line) % static_cast<std::uint32_t>(sets_);
    }
    std::size_t first_of(std::size_t set) const { return set * groups_; }
    std::uint32_t& tag_at(std::size_t set, std::int64_t way) {
        const auto i = static_cast<std::size_t>(way);
        return tags_[first_of(set) + i / kGroup].of[i % kGroup];
    }
    // The way, or -1.
    std::int64_t find(Line line, std::size_t set) const {
        const Guess guess = guess_[static_cast<std::size_t>(line) & guess_mask_];
        if (guess.lines == 0) {
            return -1;
        }
        const std::uint32_t tag = tag_of(line);
        return tags_[first_of(set)].of[guess.way] == tag ? guess.way : search(tag, set);
    }
    std::int64_t search(std::uint32_t tag, std::size_t set) const {
        for (std::size_t group = 0; group < groups_; ++group) {
            if (const std::uint32_t name = name_in(tags_[first_of(set) + group], tag); name != 0) {
                return static_cast<std::int64_t>(group * kGroup + name - 1);
            }
        }
        return -1;
    }
    // Of the way with the tag 1 + its place in the group; 0: there is none. Four at a time: g++ 12
    // makes sixteen comparisons of the plain loop.
    static std::uint32_t name_in(const Tags& tags, std::uint32_t tag) {
        using Four = std::uint32_t __attribute__((vector_size(16)));
        const auto named = [&tags, tag](std::uint32_t first) {
            const std::uint32_t* const of = &tags.of[first];
            const Four four{of[0], of[1], of[2], of[3]};
            const Four names{first + 1, first + 2, first + 3, first + 4};
            return (four == Four{tag, tag, tag, tag}) & names;
        };
        const Four found = (named(0) | named(4)) | (named(8) | named(12));
        const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(found);
        const std::uint64_t both = halves[0] | halves[1];  // one way at most has it
        return static_cast<std::uint32_t>(both | both >> 32U);
    }
    // The way goes to the front of its set's order.
    void use(std::size_t set, std::int64_t way) {
        if (groups_ > 1) {
            use_of_many(set, way);
            return;
        }
        std::uint64_t& order = state_[set].order;
        order = with_first(order ^ kInOrder, way) ^ kInOrder;
    }
    // The order with the way at its front.
    static std::uint64_t with_first(std::uint64_t order, std::int64_t way) {
        const auto name = static_cast<std::uint64_t>(way);
        // Its place is the first zero, found from the right, of what differs.
        const std::uint64_t differs = order ^ name * kOnes;
        const std::uint64_t zero = (differs - kOnes) & ~differs & kOnes << 3U;
        const std::uint64_t through = zero ^ (zero - 1);  // from the front to its place
        return (order & ~through) | (order & through >> 4U) << 4U | name;
    }
    std::size_t way_at(std::size_t set, std::size_t place) const;
    void use_of_many(std::size_t set, std::int64_t way);
    void put_last(std::size_t set);
    std::int64_t displaced_way(std::size_t set);
    void note(Line line, std::int64_t way);
    void forget(Line line);
    bool by_chance();
    std::uint64_t next_random();

    std::int64_t sets_;
    std::int64_t ways_;
    std::size_t groups_;  // of a set's ways
    bool power_of_two_;
    std::int64_t random_percent_;
    std::uint32_t every_way_;  // a bit each
    bool displaced_ = false;   // any line by another
    std::uint64_t random_state_ = 0x9E3779B97F4A7C15ULL;
    Zeroed<Tags> tags_;  // line + 1; 0: empty. 32 bits reach 256 GiB
    Zeroed<State> state_;
    // Of several groups: a set's ways as in `order`, a byte each, what differs from its place.
    Zeroed<std::uint8_t> many_;
    // Of a small cache, by a line's low bits. Of others one for all, a way that may be tried as
    // well as any.
    std::vector<Guess> guess_;
    std::size_t guess_mask_;
};

}  // namespace tilesim::arch::amx::caches
