// Numbers of a core with a tile unit, its caches and the socket around it.
//
// Every member is a key of the device file's `amx` map, read by `read_amx_config`, where units,
// ranges and meanings stand. The member initialisers are a Sapphire Rapids core; the evidence for
// each number stands in configs/devices/sapphire_rapids.yaml and docs/amx.md.
#pragma once

#include <cstdint>

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
    base::Cycles dot_latency{36};  // plus one cycle a row
    bool early_retire = true;      // a TDP retires when it starts
    bool store_reads_tmul = true;  // storing a TDP result takes the multiplier
    base::Cycles zero_latency{16};
    base::Cycles load_config{204};
    base::Cycles store_config{19};
    base::Cycles release{13};
};

// Load and store pipelines.
struct AccessConfig {
    std::int64_t load_lines = 2;        // lines a cycle
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
};

struct VectorConfig {
    bool second_port = true;         // 512-bit FMA on port 5
    base::Cycles port5_closed{100};  // after a TDP starts
    std::int64_t scalar_ports = 5;
};

struct CacheConfig {
    base::Bytes size{49152};
    std::int64_t ways = 12;
    bool random_replacement = false;  // otherwise least recently used
    bool scattered_pages = false;     // 4 KiB pages lie anywhere; otherwise as addresses do
};

struct PrivateCacheConfig {
    CacheConfig l1;
    base::Cycles l1_latency{5};
    std::int64_t fill_buffers = 16;
    CacheConfig l2{base::Bytes{2097152}, 16, false};
    base::Cycles l2_latency{14};
    base::BytesPerCycle fill_width{48};   // L2 to L1, sustained
    std::int64_t same_half_percent = 37;  // of a cycle: next fill from the same half of L2
    std::int64_t l2_outstanding = 48;
    bool l1_next_line = false;  // prefetchers
    bool l2_adjacent_line = false;
    std::int64_t l2_streamer = 0;  // lines ahead; 0: off
};

struct UncoreConfig {
    base::Hertz clock{1'800'000'000};
    CacheConfig l3{base::Bytes{110100480}, 15, false};
    base::Cycles lookup{65};             // core to L3 slice and its tags
    base::Cycles answer{60};             // slice, or DRAM's data, back to the core
    base::Cycles to_memory{20};          // slice to memory controller
    base::BytesPerCycle port_width{21};  // into one core
    std::int64_t streamer = 20;          // lines fetched ahead from DRAM into the L3; 0: off
    base::Cycles dirty_elsewhere{100};   // more, for a line another core has written
};

struct AmxConfig {
    base::Hertz clock{1'800'000'000};
    std::int64_t cores = 56;
    WindowConfig window;
    TileConfigTiming tiles;
    AccessConfig access;
    VectorConfig vector;
    PrivateCacheConfig caches;
    UncoreConfig uncore;
};

AmxConfig read_amx_config(base::config::Node node);

}  // namespace tilesim::arch::amx
