// The host: has it AMX, may this process use it, how many core cycles does a function take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "validation/amx/harness/assembler.hpp"

namespace tilesim::validation::amx::harness {

// Why tiles cannot be used here; empty when they can, and then the process has permission.
std::string why_no_tiles();

std::string host_name();  // model name and microcode of the first processor

// Maps every page that the programs of one run name, at their own addresses, and behind them what
// their code needs besides: constants and the word they count barriers in. Fills the masks of
// address tables; all else is zero. Unmaps everything when it goes. Throws ConfigError when an
// address is taken, or a mask lies in no buffer.
class ProgramMemory {
  public:
    explicit ProgramMemory(const std::vector<arch::amx::program::Program>& programs);
    ~ProgramMemory();
    ProgramMemory(const ProgramMemory&) = delete;
    ProgramMemory& operator=(const ProgramMemory&) = delete;
    const Placement& placement(std::size_t program) const { return placements_[program]; }

  private:
    void fill_masks(const arch::amx::program::Program& program, std::int64_t first,
                    std::int64_t last);

    void* start_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<Placement> placements_;
};

struct Sample {
    std::int64_t cycles = 0;  // of the core; of the time-stamp counter where `counted` is false
    std::int64_t tsc = 0;
    std::int64_t nanoseconds = 0;
    bool counted = false;
};

using Code = std::vector<std::uint8_t>;

// Runs each code on a thread of its own, pinned to the processor of the same index, all started
// together: once to warm up, then `repetitions` times. A sample is the slowest thread's. Throws
// ConfigError when a processor cannot be used.
std::vector<Sample> measure(const std::vector<Code>& codes, const std::vector<int>& processors,
                            int repetitions);

}  // namespace tilesim::validation::amx::harness
