// The host: has it AMX, may this process use it, how many core cycles does a function take.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "validation/amx/harness/assembler.hpp"

namespace tilesim::validation::amx::harness {

// Why tiles cannot be used here; empty when they can, and then the process has permission.
std::string why_no_tiles();
// Why AVX-512 cannot be used here; empty when it can.
std::string why_no_avx512();
// Why the program cannot run here, which has AVX-512; empty when it can.
std::string why_not_here(const arch::amx::program::Program& program);

std::string host_name();  // model name and microcode of the first processor

// Maps every page that the programs of one run name, at their own addresses, and behind them what
// their code needs besides: constants and the word they count barriers in, in pages of 2 MiB where
// the system has them to give. Fills the masks of address tables; all else is random numbers that
// are finite in every type. Unmaps everything when it goes. Throws ConfigError when an
// address is taken, or a mask lies in no buffer.
class ProgramMemory {
  public:
    explicit ProgramMemory(const std::vector<arch::amx::program::Program>& programs,
                           bool large_pages = true);
    ~ProgramMemory();
    ProgramMemory(const ProgramMemory&) = delete;
    ProgramMemory& operator=(const ProgramMemory&) = delete;
    const Placement& placement(std::size_t program) const { return placements_[program]; }

  private:
    void fill_at_random(const std::vector<arch::amx::program::Program>& programs);
    void fill_masks(const arch::amx::program::Program& program, std::int64_t first,
                    std::int64_t last);

    void* start_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<Placement> placements_;
};

// Events of chapter 20 beside the cycles; -1 where the system counts none.
struct Event {
    const char* name;
    std::uint64_t code;  // event, umask
};
inline constexpr std::array<Event, 5> kEvents{{{"amx_busy", 0x02B7},
                                               {"fb_full", 0x0248},
                                               {"l1_miss", 0x08D1},
                                               {"l2_miss", 0x10D1},
                                               {"store_blocks", 0x8203}}};

struct Sample {
    std::int64_t cycles = 0;  // of the core: counted, or by a chain of multiplications behind it
    std::int64_t tsc = 0;
    std::int64_t nanoseconds = 0;
    std::array<std::int64_t, kEvents.size()> events{};
};

using Code = std::vector<std::uint8_t>;

// Runs each code on a thread of its own, pinned to the processor of the same index, all started
// together. Where a program says what the caches hold, that is brought about before each
// repetition, and the last of its runs counts; else there is one run to warm up in front of all. A
// sample is the slowest thread's. Throws ConfigError when a processor cannot be used.
std::vector<Sample> measure(const std::vector<Code>& codes, const std::vector<int>& processors,
                            int repetitions,
                            const std::vector<arch::amx::program::Program>& programs = {});

}  // namespace tilesim::validation::amx::harness
