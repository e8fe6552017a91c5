// Numbers of a core with a tile unit, its caches and the socket around it.
//
// Every member is a key of the device file's `amx` map, read by `read_amx_config`, where units,
// ranges and meanings stand. The member initialisers are a core without what only measurements
// tell: pages cost nothing, banks never collide, nothing is fetched ahead. The device files say all
// that; the evidence stands there and in docs/amx.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "arch/amx/program/tile_config.hpp"
#include "arch/base/units.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::amx {

// The bounded out-of-order window, in uops.
struct WindowConfig {
    std::int64_t allocate = 6;  // a cycle
    std::int64_t retire = 8;    // a cycle
    std::int64_t reorder_buffer = 512;
    std::int64_t scheduler = 97;         // not yet issued, all but memory
    std::int64_t memory_scheduler = 70;  // loads and stores not yet issued
    std::int64_t load_queue = 192;
    std::int64_t store_buffer = 112;  // lines
};

// Tile registers and the multiplier behind them.
struct TileConfigTiming {
    std::int64_t physical_tiles = 16;  // renaming pool
    bool dot_in_place = false;     // a TDP writes the tile it reads; otherwise it takes a new one
    base::Cycles dot_latency{36};  // beyond the cycles it takes the multiplier
    std::int64_t dot_row_percent = 100;  // of a cycle a row takes it; all 16 take 16 cycles
    base::Cycles dot_least{1};           // a TDP takes it so long at least
    bool dot_loads_b = false;            // TDPs with a B of their own start B's rows apart at least
    bool dot_forwards = false;           // the next TDP of a tile need not wait for the latency
    bool early_retire = true;            // a TDP retires when it starts
    bool store_reads_tmul = true;        // storing a TDP result takes the multiplier
    base::Cycles zero_latency{16};
    base::Cycles load_config{204};
    base::Cycles store_config{19};
    base::Cycles release{13};

    // A TDP takes the multiplier.
    std::int64_t dot_cycles(std::int64_t rows) const {
        const std::int64_t fewer = program::kMaxRows - rows;
        return std::max(dot_least.count(), program::kMaxRows - fewer * dot_row_percent / 100);
    }
};

// Load and store pipelines.
struct AccessConfig {
    std::int64_t load_lines = 2;        // lines a cycle
    bool prefetch_port = false;         // one more, which no line of 64 bytes can take
    base::Cycles tile_load_to_use{33};  // from a tile's last line to the tile
    std::int64_t tile_load_uops = 4;
    base::Cycles nontemporal_line{2};  // TILELOADDT1: a line every so many cycles
    base::Cycles nontemporal_gap{1};   // more, between one TILELOADDT1 and the next
    base::Cycles nontemporal_to_use{13};
    bool nontemporal_fills_l1 = false;
    std::int64_t tile_store_uops = 16;
    base::Cycles tile_load_after_store{14};  // from commit to a tile load of the line
    base::Cycles forward_latency{5};         // store buffer to an AVX-512 load
    base::Cycles vector_load_to_use{2};      // from the line to the register
    std::int64_t replay_percent = 0;         // of a cycle: a load that missed, no tile load
};

struct VectorConfig {
    bool second_port = true;         // 512-bit arithmetic on port 5
    bool balanced_binding = true;    // at rename to the port that has less to do; else in turn
    std::int64_t port5_opens = 100;  // AVX-512 instructions after TDP or TILEZERO
    base::Cycles port5_switch{10};   // port 5 stands still when it opens or closes
    std::int64_t scalar_ports = 5;
};

// Ports 0 and 5: what an instruction does on them, and how long its result takes.
struct OpcodeTiming {
    base::Cycles latency{1};        // from the start, of loads from the line, to the result
    base::Cycles port5_latency{0};  // on port 5, where it differs; 0: the same
    std::int64_t uops = 1;          // entering the window
    std::int64_t port0 = 0;         // cycles of each port it takes
    std::int64_t port5 = 0;
    std::int64_t either = 0;  // of one of them, chosen at rename
};
using InstructionTimings = std::array<OpcodeTiming, program::kOpcodes>;
InstructionTimings default_timings();
// Whether a device file says what it takes: of all that `default_timings` send to ports 0 and 5.
bool has_timing(program::Opcode opcode);

struct CacheConfig {
    base::Bytes size{49152};
    std::int64_t ways = 12;
    std::int64_t random_percent = 0;  // of victims; the others are the least recently used
};

// Where pages lie, and who knows.
struct PageConfig {
    base::Bytes size{4096};  // what an entry of a TLB covers
    bool scattered = false;  // page frames lie anywhere; otherwise as addresses do
    CacheConfig first{base::Bytes{96 * 64}, 6};      // a line stands for an entry
    CacheConfig second{base::Bytes{2048 * 64}, 16};  //
    base::Cycles second_latency{0};
    base::Cycles walk{0};         // beyond its loads
    std::int64_t walk_loads = 0;  // lines of page tables: two where a host's lie below the guest's
    std::int64_t walkers = 4;     // walks at a time
};

struct PrivateCacheConfig {
    CacheConfig l1;
    base::Cycles l1_latency{5};
    std::int64_t fill_buffers = 16;
    CacheConfig l2{base::Bytes{2097152}, 16};
    base::Cycles l2_latency{16};
    base::BytesPerCycle fill_width{48};  // L2 to L1, sustained
    std::int64_t half_percent = 0;       // of a cycle: a line keeps its half of the L2 busy
    std::int64_t quarter_percent = 0;    // and its quarter
    base::Cycles half_backlog{0};        // of work a half may still have when it gives a line
    base::Cycles quarter_backlog{0};
    std::int64_t read_percent = 0;        // of a cycle of the L2's pipeline: a read
    std::int64_t write_percent = 0;       // a line written back from the L1
    std::int64_t write_half_percent = 0;  // more, after one of the same half
    std::int64_t fill_percent = 0;  // of a cycle in which the L1 takes a line and serves no load
    std::int64_t l2_outstanding = 48;
    bool l1_next_line = false;  // prefetchers
    bool l1_stride = false;
    enum class AdjacentLine : std::uint8_t { Off, IntoL2, IntoL3 };
    AdjacentLine l2_adjacent_line = AdjacentLine::Off;
    std::int64_t l2_streamer = 0;                    // lines ahead; 0: off
    std::int64_t l2_streamer_wakes = 9;              // ascending lines of 4 KiB before the first
    std::int64_t streaming_stores = 8;               // VMOVNTPS under way
    base::Femtoseconds streaming_store{21'600'000};  // until one gives its fill buffer back
};

struct UncoreConfig {
    base::Hertz clock{1'800'000'000};
    CacheConfig l3{base::Bytes{110100480}, 15};
    base::Femtoseconds lookup{16'000'000};     // core to L3 slice and its tags
    base::Femtoseconds answer{14'000'000};     // slice, or DRAM's data, back to the core
    base::Femtoseconds to_memory{30'000'000};  // slice to memory controller
    base::BytesPerCycle port_width{20};        // of the mesh, into one core
    std::int64_t slices = 64;                  // of the L3
    std::int64_t mesh_columns = 8;             // stops in a row, of a core and a slice each
    base::BytesPerCycle link_width{32};        // of a link each way, and of a slice
    base::Femtoseconds from_core{55'000'000};  // more, for a line another core has
    std::int64_t clean_percent = 100;          // of clean lines not used before, that the L3 takes
    bool clean_displaces = true;               // others; otherwise they take empty ways only
    std::int64_t snoop_filter = 4'194'304;     // lines it remembers
};

// The clock while at most so many cores work.
struct ClockStep {
    std::int64_t cores = 1;
    base::Hertz clock{1'800'000'000};
};

struct AmxConfig {
    base::Hertz clock{1'800'000'000};
    std::vector<ClockStep> clock_by_cores;  // ascending; with none, or beyond the last: `clock`
    std::int64_t cores = 56;
    std::int64_t simulated_cores = 8;               // of more with the same program; 0: every one
    std::int64_t simulated_instructions = 500'000;  // of all cores: with no more, every one
    WindowConfig window;
    TileConfigTiming tiles;
    AccessConfig access;
    VectorConfig vector;
    InstructionTimings instructions = default_timings();
    PageConfig pages;
    PrivateCacheConfig caches;
    UncoreConfig uncore;
};

// With the clock of so many cores at work.
AmxConfig at_work(const AmxConfig& config, std::int64_t cores);

AmxConfig read_amx_config(base::config::Node node);

}  // namespace tilesim::arch::amx
