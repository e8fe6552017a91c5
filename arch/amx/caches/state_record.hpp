// What the parts of a core are in at a cycle, as a list of numbers: of two cores with equal lists
// the one does from then on what the other does.
//
// Times count from that cycle, instructions from the youngest in the window; what lies so far back
// that nothing depends on it any more is left out or counts as over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilesim::arch::amx::caches {

class StateRecord {
  public:
    // `next`: sequence of the instruction that enters next; the window is a ring of `ring` entries.
    StateRecord(std::int64_t now, std::uint64_t next, std::uint64_t ring)
        : now_(now), next_(next), ring_(ring) {}

    void add(std::int64_t number) { numbers_.push_back(number); }
    // A cycle that no longer matters once it has come.
    void time(std::int64_t cycle) {
        add(cycle == INT64_MAX ? -1 : std::max<std::int64_t>(0, cycle - now_));
    }
    // A cycle that still matters when it lies back.
    void past(std::int64_t cycle) { add(cycle == INT64_MAX ? INT64_MAX : cycle - now_); }
    // As `time`, in parts of a cycle, that matters for `after` cycles more.
    void time_in_parts(std::int64_t time, std::int64_t parts, std::int64_t after) {
        add(std::max(-after * parts, time - now_ * parts));
    }
    void sequence(std::uint64_t sequence) { add(static_cast<std::int64_t>(next_ - sequence)); }
    // The place of an instruction in the window's ring.
    void entry(std::uint32_t id) { add(static_cast<std::int64_t>((next_ - id) & (ring_ - 1))); }

    bool operator==(const StateRecord& other) const { return numbers_ == other.numbers_; }

  private:
    std::int64_t now_;
    std::uint64_t next_;
    std::uint64_t ring_;
    std::vector<std::int64_t> numbers_;
};

}  // namespace tilesim::arch::amx::caches
