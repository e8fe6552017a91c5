// Brings the caches of a processor into the state a program's text asks for.
//
// Flushed lines are flushed one by one. A line that is to be in a level is read, or written, and
// then driven out of the levels above it by reads of memory of the preparer's own: twice, since an
// L3 may take a clean line only when it leaves an L2 for the second time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::validation::amx::harness {

class CacheState {
  public:
    CacheState();
    // In the order in which the preparations stand.
    void prepare(const arch::amx::program::Program& program);

  private:
    void touch(const arch::amx::program::Buffer& buffer, bool write);
    void displace(std::size_t bytes);

    std::vector<std::uint64_t> other_;  // memory no program works on
    std::uint64_t sum_ = 0;             // of what was read, so that it is
};

}  // namespace tilesim::validation::amx::harness
