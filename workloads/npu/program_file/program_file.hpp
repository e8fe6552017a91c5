// A hand-written program with what its buffers hold before and must hold after.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/npu/tile/tile_memory.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu::program_file {

// Numbers of switch ports as trace units choose them: words that the switch puts out have a bit
// more, a core's channels lie behind its own stream.
constexpr std::int64_t kPutOut = 0x20;
constexpr std::int64_t kFirstDmaPortOfCore = 1;
constexpr std::int64_t kNoDma = 0x1F;  // no channel has it

// What a tile's trace unit watches: the numbers of the events of its eight slots, or their names,
// where the design states these, and the switch ports behind PORT_RUNNING_0 to 7.
struct TraceSlots {
    arch::npu::program::TileCoordinate tile;
    std::int64_t unit = 0;  // 0 core, 1 its memory, 2 shim, 3 memory tile, as packets name them
    std::array<std::int64_t, 8> events{};
    std::array<std::string, 8> names{};
    std::array<std::optional<std::int64_t>, 8> ports{};
};

struct ProgramWorkload {
    // A buffer in DRAM or in a tile's memory: index into Program::external_buffers or ::buffers.
    struct BufferName {
        bool external = true;
        std::int64_t index = 0;
    };
    // What a buffer holds at start, in 32-bit words. `words` are followed by zeros.
    struct Fill {
        enum class Values { Zeros, Counting, Random, Words } values = Values::Counting;
        BufferName buffer;
        std::vector<std::int64_t> words;
    };
    // The buffer begins with the words of another, each raised by `plus`, or with those listed.
    struct Expectation {
        BufferName buffer;
        std::optional<BufferName> equals;
        std::int64_t plus = 0;
        std::vector<std::int64_t> words;
    };
    arch::npu::program::Program program;
    std::vector<Fill> fills;
    std::vector<Expectation> expectations;
    std::vector<std::string> notes;                  // what reading it assumed
    std::vector<std::string> functional_notes = {};  // and of what bytes a functional run lacks
    std::vector<TraceSlots> trace_slots;             // of a design that sets trace units up
    std::string source_text;  // of a file beside the scenario, for the provenance
};

// The keys `fill` and `expect`, for a program that has been read.
void read_contents(arch::base::config::Node& root, ProgramWorkload& workload);

// These keys, as they are read back; empty where the workload has neither.
std::string print_contents(const ProgramWorkload& workload);

ProgramWorkload read_program_workload(arch::base::config::Node& root);

// The bytes of a system: DRAM's and the tiles' memories.
struct ProgramBytes {
    arch::memory::port::BackingStore& store;
    arch::npu::tile::TileMemory& tiles;
};
void fill_buffers(const ProgramWorkload& workload, std::uint64_t seed, ProgramBytes bytes);
workloads::ProductCheck check_buffers(const ProgramWorkload& workload, ProgramBytes bytes);

}  // namespace tilesim::workloads::npu::program_file
