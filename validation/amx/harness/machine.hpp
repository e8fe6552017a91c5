// The host: has it AMX, may this process use it, how many core cycles does a function take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/amx/instruction.hpp"

namespace tilesim::validation::amx {

// Why tiles cannot be used here; empty when they can, and then the process has permission.
std::string why_no_tiles();

std::string host_name();  // model name and microcode of the first processor

// Keeps the process on one processor.
void pin(int processor);

// Maps every page the program names, at its own addresses, and its tile configurations behind
// them; unmaps them when it goes. Throws ConfigError when an address is taken.
class ProgramMemory {
  public:
    explicit ProgramMemory(const arch::amx::Program& program);
    ~ProgramMemory();
    ProgramMemory(const ProgramMemory&) = delete;
    ProgramMemory& operator=(const ProgramMemory&) = delete;
    std::int64_t configs() const { return configs_; }

  private:
    void* start_ = nullptr;
    std::size_t bytes_ = 0;
    std::int64_t configs_ = 0;
};

struct Sample {
    std::int64_t cycles = 0;  // of the core; of the time-stamp counter where `counted` is false
    std::int64_t tsc = 0;
    std::int64_t nanoseconds = 0;
    bool counted = false;
};

// Runs `code` once to warm up, then `repetitions` times.
std::vector<Sample> measure(const std::vector<std::uint8_t>& code, int repetitions);

}  // namespace tilesim::validation::amx
