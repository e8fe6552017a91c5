// Tags of one set-associative cache: which lines are there, which are dirty, which goes next.
//
// Models:  true set indexing by line number; victims least recently used, some of them random.
// Ignores: data, timing, coherence.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/amx/amx_config.hpp"

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

    bool contains(Line line) const { return find(line) >= 0; }
    bool dirty(Line line) const;
    std::int64_t sets() const { return sets_; }

    // True when the line is there; it becomes the most recent of its set.
    bool touch(Line line) {
        const std::int64_t at = find(line);
        if (at < 0) {
            return false;
        }
        used_[static_cast<std::size_t>(at)] = ++clock_;
        return true;
    }
    // Touches line_of(0), line_of(1), ... below `count` until one is not there; how many were.
    template <class LineOf>
    std::int64_t touch_run(std::int64_t count, LineOf line_of) {
        std::uint32_t* const used = used_.data();
        std::uint32_t clock = clock_;  // a copy, so that it stays in a register
        std::int64_t touched = 0;
        for (; touched < count; ++touched) {
            const std::int64_t at = find(line_of(touched));
            if (at < 0) {
                break;
            }
            used[at] = ++clock;
        }
        clock_ = clock;
        return touched;
    }
    // As `touch`, and marks it dirty.
    bool write(Line line);
    // Puts the line in; what had to leave. A line that is there stays.
    Victim install(Line line, bool dirty);
    // Takes the line out; true when it was dirty.
    bool remove(Line line);
    void clean(Line line);

  private:
    static std::uint32_t tag_of(Line line) { return static_cast<std::uint32_t>(line + 1); }
    std::int64_t set_of(Line line) const {
        return power_of_two_ ? (line & (sets_ - 1)) : line % sets_;
    }
    // Index of the way, or -1.
    std::int64_t find(Line line) const {
        const std::uint32_t guess = guess_[static_cast<std::size_t>(line) & guess_mask_];
        return tags_[guess] == tag_of(line) ? guess : search(line);
    }
    std::int64_t search(Line line) const;
    bool by_chance();
    std::uint64_t next_random();

    std::int64_t sets_;
    std::int64_t ways_;
    bool power_of_two_;
    std::int64_t random_percent_;
    std::uint64_t random_state_ = 0x9E3779B97F4A7C15ULL;
    std::uint32_t clock_ = 0U - 1000U;  // of uses; starts again soon, so that every run meets it
    std::vector<std::uint32_t> tags_;   // line + 1; 0: empty. 32 bits reach 256 GiB
    std::vector<std::uint32_t> used_;   // time of last use
    std::vector<std::uint8_t> dirty_;
    // Where a line was put last, by its low bits: finds most hits without looking at every way.
    std::vector<std::uint32_t> guess_;
    std::size_t guess_mask_;
};

}  // namespace tilesim::arch::amx::caches
