// What a program's code reads beside its buffers: tile configurations, shuffle indices, and where
// the pieces of its address tables start; and the words in which it counts its barriers and outer
// loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::validation::amx::harness {

inline constexpr std::int64_t kLineBytes = 64;  // of the caches

class ConstantPool {
  public:
    explicit ConstantPool(const arch::amx::program::Program& program);

    // What must lie in memory; offsets below are into it. Starts at a cache line.
    const std::vector<std::byte>& image() const { return image_; }
    std::int64_t barrier_target() const { return 0; }  // 8 bytes, in a line of the code's own
    // 8 bytes, in the same line, for the counter of an outer loop.
    static constexpr std::int64_t kLoopCounters = 7;
    std::int64_t loop_counter(std::int64_t index) const { return 8 + index * 8; }
    std::int64_t config(std::int64_t index) const;
    // Indices with which VPERMT2B or VPERMT2W interleaves the lower or upper halves.
    std::int64_t shuffle(arch::amx::program::Opcode opcode, std::int64_t half) const;
    std::int64_t starts(int table) const;  // 8 bytes an entry

  private:
    std::vector<std::byte> image_;
    std::int64_t shuffles_ = 0;
    std::vector<std::int64_t> tables_;
};

}  // namespace tilesim::validation::amx::harness
