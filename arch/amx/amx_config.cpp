#include "arch/amx/amx_config.hpp"

#include "arch/base/config.hpp"

namespace tilesim::arch::amx {

using base::config::Node;
using base::config::Range;

namespace {

constexpr Range kLatency{0, 400};
constexpr std::int64_t kLine = 64;

void read_window(Node node, WindowConfig& window) {
    node.optional("allocate", window.allocate, {1, 32}, "uops entering the window a cycle");
    node.optional("retire", window.retire, {1, 32}, "uops leaving the window a cycle");
    node.optional("reorder_buffer", window.reorder_buffer, {32, 1024}, "uops in the window");
    node.optional("scheduler", window.scheduler, {4, 1024}, "uops waiting for a compute port");
    node.optional("memory_scheduler", window.memory_scheduler, {4, 1024},
                  "uops waiting for a load or store port");
    node.optional("load_queue", window.load_queue, {4, 1024}, "load uops in the window");
    node.optional("store_buffer", window.store_buffer, {16, 1024},
                  "stored lines not yet in the L1");
    if (window.scheduler > window.reorder_buffer) {
        node.error("scheduler", "must not exceed reorder_buffer");
    }
    node.done();
}

void read_tiles(Node node, TileConfigTiming& tiles) {
    node.optional("physical_tiles", tiles.physical_tiles, {9, 64},
                  "tile registers behind the eight names");
    node.optional("dot_in_place", tiles.dot_in_place,
                  "a TDP keeps C's physical tile instead of taking another");
    node.optional("dot_latency", tiles.dot_latency, kLatency,
                  "latency of a TDP beyond a cycle per row");
    node.optional("early_retire", tiles.early_retire,
                  "a TDP leaves the window when it starts: it cannot fault");
    node.optional("store_reads_tmul", tiles.store_reads_tmul,
                  "storing a TDP result takes the multiplier a cycle a row");
    node.optional("zero_latency", tiles.zero_latency, kLatency, "TILEZERO to its use");
    node.optional("load_config", tiles.load_config, kLatency, "LDTILECFG");
    node.optional("store_config", tiles.store_config, kLatency, "STTILECFG");
    node.optional("release", tiles.release, kLatency, "TILERELEASE");
    node.done();
}

void read_access(Node node, AccessConfig& access) {
    node.optional("load_lines", access.load_lines, {1, 8}, "lines loaded a cycle");
    node.optional("tile_load_to_use", access.tile_load_to_use, kLatency,
                  "from the last line of a tile to the tile");
    node.optional("tile_load_uops", access.tile_load_uops, {1, 32}, "uops of a tile load");
    node.optional("nontemporal_line", access.nontemporal_line, {1, 64},
                  "TILELOADDT1 takes a line every so many cycles");
    node.optional("nontemporal_gap", access.nontemporal_gap, kLatency,
                  "additional cycles between a TILELOADDT1 and the next");
    node.optional("nontemporal_to_use", access.nontemporal_to_use, kLatency,
                  "TILELOADDT1: from its last line to the tile");
    node.optional("nontemporal_fills_l1", access.nontemporal_fills_l1,
                  "TILELOADDT1 leaves its lines in the L1");
    node.optional("tile_store_uops", access.tile_store_uops, {1, 32}, "uops of a tile store");
    node.optional("tile_load_after_store", access.tile_load_after_store, kLatency,
                  "a tile load waits so long after a store of its line has reached the L1");
    node.optional("forward_latency", access.forward_latency, kLatency,
                  "store buffer to AVX-512 load");
    node.optional("vector_load_to_use", access.vector_load_to_use, kLatency,
                  "from a line to an AVX-512 register");
    node.done();
}

void read_cache(Node node, CacheConfig& cache) {
    node.optional("size", cache.size, {4096, std::int64_t{1} << 30}, "capacity");
    node.optional("ways", cache.ways, {1, 32}, "lines of a set");
    node.optional("replacement", cache.random_replacement, {{"lru", false}, {"random", true}},
                  "which line of a set makes room");
    node.optional("pages", cache.scattered_pages, {{"contiguous", false}, {"scattered", true}},
                  "where 4 KiB pages lie in memory, which decides their sets");
    if (cache.size.count() % (kLine * cache.ways) != 0) {
        node.error("size", "must be a whole number of sets of 64 B lines");
    }
    node.done();
}

void read_caches(Node node, PrivateCacheConfig& caches) {
    read_cache(node.child("l1", "first-level data cache"), caches.l1);
    read_cache(node.child("l2", "second-level cache"), caches.l2);
    node.optional("l1_latency", caches.l1_latency, {1, 100}, "load that hits the L1");
    node.optional("l2_latency", caches.l2_latency, {1, 200}, "load that hits the L2");
    node.optional("fill_buffers", caches.fill_buffers, {1, 64}, "lines on their way into the L1");
    node.optional("fill_width", caches.fill_width, {8, 64}, "L2 to L1, sustained");
    node.optional("same_half_percent", caches.same_half_percent, {0, 400},
                  "hundredths of a cycle lost when two fills in a row agree in address bit 6");
    node.optional("l2_outstanding", caches.l2_outstanding, {1, 256}, "misses of the L2 under way");
    node.optional("l1_next_line", caches.l1_next_line, "prefetch the line after an L1 miss");
    node.optional("l2_adjacent_line", caches.l2_adjacent_line,
                  "prefetch the other line of 128 bytes on an L2 miss");
    node.optional("l2_streamer", caches.l2_streamer, {0, 64},
                  "lines fetched ahead of ascending L2 accesses within 4 KiB; 0: off");
    node.done();
}

void read_uncore(Node node, UncoreConfig& uncore) {
    constexpr std::int64_t kMega = 1'000'000;
    node.optional("clock", uncore.clock, {kMega, 10'000 * kMega}, "clock of mesh and L3");
    read_cache(node.child("l3", "shared cache, filled by what L2s evict"), uncore.l3);
    node.optional("lookup", uncore.lookup, {1, 1000},
                  "from a core's miss to the L3's answer known");
    node.optional("answer", uncore.answer, {1, 1000}, "from L3 or DRAM data to the core");
    node.optional("to_memory", uncore.to_memory, {1, 1000}, "from an L3 miss to the memory");
    node.optional("port_width", uncore.port_width, {1, 256}, "from the mesh into one core");
    node.optional("streamer", uncore.streamer, {0, 63},
                  "lines fetched from DRAM into the L3 ahead of ascending misses; 0: off");
    node.optional("dirty_elsewhere", uncore.dirty_elsewhere, {0, 1000},
                  "additional, for a line another core has written");
    node.done();
}

}  // namespace

AmxConfig read_amx_config(Node node) {
    AmxConfig config;
    constexpr std::int64_t kMega = 1'000'000;
    node.optional("clock", config.clock, {kMega, 10'000 * kMega}, "core clock, tiles in use");
    node.optional("cores", config.cores, {1, 256}, "cores of the socket");
    read_window(node.child("window", "out-of-order window"), config.window);
    read_tiles(node.child("tiles", "tile registers and TMUL"), config.tiles);
    read_access(node.child("access", "load and store pipelines"), config.access);
    Node vector = node.child("vector", "AVX-512 and scalar ports");
    vector.optional("second_port", config.vector.second_port, "512-bit FMA on port 5 as on port 0");
    vector.optional("port5_closed", config.vector.port5_closed, {0, 1000},
                    "port 5 takes no 512-bit FMA so long after a TDP starts");
    vector.optional("scalar_ports", config.vector.scalar_ports, {1, 16}, "scalar uops a cycle");
    vector.done();
    read_caches(node.child("caches", "private caches"), config.caches);
    read_uncore(node.child("uncore", "mesh, L3, way to DRAM"), config.uncore);
    node.done();
    return config;
}

}  // namespace tilesim::arch::amx
