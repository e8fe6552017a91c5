// Tags of one set-associative cache: which lines are there, which are dirty, which goes next.
//
// Models:  true set indexing by line number, least recently used or random replacement.
// Ignores: data, timing, coherence.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/amx/amx_config.hpp"

namespace tilesim::arch::amx {

inline constexpr std::int64_t kLineBytes = 64;
using Line = std::int64_t;  // address / 64

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
    bool touch(Line line);
    // As `touch`, and marks it dirty.
    bool write(Line line);
    // Puts the line in; what had to leave. A line that is there stays.
    Victim install(Line line, bool dirty);
    // Takes the line out; true when it was dirty.
    bool remove(Line line);
    void clean(Line line);

  private:
    std::int64_t set_of(Line line) const;
    std::int64_t find(Line line) const;  // index of the way, or -1

    std::int64_t sets_;
    std::int64_t ways_;
    bool power_of_two_;
    bool random_;
    std::uint64_t random_state_ = 0x9E3779B97F4A7C15ULL;
    std::uint32_t clock_ = 0;
    std::vector<std::uint32_t> tags_;  // line + 1; 0: empty. 32 bits reach 256 GiB
    std::vector<std::uint32_t> used_;  // time of last use
    std::vector<std::uint8_t> dirty_;
    // Where a line was put last, by its low bits: finds most hits without looking at every way.
    std::vector<std::uint32_t> guess_;
};

}  // namespace tilesim::arch::amx
