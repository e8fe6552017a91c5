// What carries a line at a time: a link of the mesh, or the data port of an L3 slice.
//
// Time is counted in slots, as long as a line takes. Lines get the first slot that is free from
// the one they ask for on, also one that was left free before slots taken already.
#pragma once

#include <array>
#include <cstdint>

namespace tilesim::arch::amx::socket {

class Lane {
  public:
    // Takes the first free slot from `slot` on and says which; nobody asks for slots before `now`
    // any more.
    std::int64_t take(std::int64_t slot, std::int64_t now);

  private:
    // More than the lines all cores can have under way.
    static constexpr std::uint64_t kWords = 128;
    static constexpr std::uint64_t kWordBits = 64;

    void forget(std::uint64_t now);
    std::uint64_t full_from(std::uint64_t word) const;

    std::array<std::uint64_t, kWords / kWordBits> full_{};  // a bit a word without a free slot
    std::array<std::uint64_t, kWords> taken_{};             // a bit a slot, in turn
    // In words since the start: the oldest, and the last that has a slot taken.
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
};

}  // namespace tilesim::arch::amx::socket
