#include "arch/amx/amx_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "arch/base/config.hpp"

namespace tilesim::arch::amx {

using base::config::Node;
using base::config::Range;

namespace {

constexpr Range kLatency{0, 400};
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kNanosecond = 1'000'000;  // femtoseconds
constexpr std::int64_t kMicrosecond = 1000 * kNanosecond;

// Of a tile store whose rows do not start on a line.
constexpr std::int64_t kMostStoreLines = 2 * program::kMaxRows;

void read_window(Node node, WindowConfig& window) {
    node.optional("allocate", window.allocate, {1, 32}, "uops entering the window a cycle");
    node.optional("retire", window.retire, {1, 32}, "uops leaving the window a cycle");
    node.optional("reorder_buffer", window.reorder_buffer, {32, 1024}, "uops in the window");
    node.optional("scheduler", window.scheduler, {4, 1024}, "uops waiting for a compute port");
    node.optional("memory_scheduler", window.memory_scheduler, {4, 1024},
                  "uops waiting for a load or store port");
    node.optional("load_queue", window.load_queue, {4, 1024}, "load uops in the window");
    node.optional("store_buffer", window.store_buffer, {kMostStoreLines, 1024},
                  "stored lines not yet in the L1");
    if (window.scheduler > window.reorder_buffer) {
        node.error("scheduler", "must not exceed reorder_buffer");
    }
    node.done();
}

// An instruction of the unit that would never find room to enter is an error.
void check_uops(Node& node, const char* key, std::int64_t uops, program::Unit unit,
                const WindowConfig& window) {
    const bool loads = unit == program::Unit::Load;
    const bool memory = loads || unit == program::Unit::Store;
    if (const std::int64_t room = memory ? window.memory_scheduler : window.scheduler;
        uops > room) {
        node.error(key, fmt::format("must not exceed window.{}, {}",
                                    memory ? "memory_scheduler" : "scheduler", room));
    }
    if (loads && uops > window.load_queue) {
        node.error(key, fmt::format("must not exceed window.load_queue, {}", window.load_queue));
    }
}

void read_tiles(Node node, TileConfigTiming& tiles) {
    node.optional("physical_tiles", tiles.physical_tiles, {9, 64},
                  "tile registers behind the eight names");
    node.optional("dot_in_place", tiles.dot_in_place,
                  "a TDP keeps C's physical tile instead of taking another");
    node.optional("dot_latency", tiles.dot_latency, kLatency,
                  "latency of a TDP beyond the cycles it takes the multiplier");
    node.optional("dot_row_percent", tiles.dot_row_percent, {0, 100},
                  "hundredths of a cycle a row takes the multiplier; all 16 take 16 cycles");
    node.optional("dot_least", tiles.dot_least, {1, 16}, "a TDP takes the multiplier at least");
    node.optional("dot_loads_b", tiles.dot_loads_b,
                  "a TDP whose B is not that of the one before starts as many cycles behind the "
                  "last such one as B has rows");
    node.optional("dot_forwards", tiles.dot_forwards,
                  "the next TDP of a tile takes C up without waiting for the latency");
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

void read_access(Node node, const WindowConfig& window, AccessConfig& access) {
    node.optional("load_lines", access.load_lines, {1, 8}, "lines loaded a cycle");
    node.optional("prefetch_port", access.prefetch_port,
                  "a load port beside those, which takes a prefetch a cycle");
    node.optional("tile_load_to_use", access.tile_load_to_use, kLatency,
                  "from the last line of a tile to the tile");
    node.optional("tile_load_uops", access.tile_load_uops, {1, 32}, "uops of a tile load");
    node.optional("nontemporal_line", access.nontemporal_line, {0, 64},
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
    node.optional("replay_percent", access.replay_percent, {0, 400},
                  "hundredths of a cycle in which a load that missed the L1, no tile load, keeps "
                  "others from the ports when its line comes and it is replayed");
    check_uops(node, "tile_load_uops", access.tile_load_uops, program::Unit::Load, window);
    check_uops(node, "tile_store_uops", access.tile_store_uops, program::Unit::Store, window);
    node.done();
}

void read_cache(Node node, CacheConfig& cache) {
    node.optional("size", cache.size, {4096, std::int64_t{1} << 30}, "capacity");
    node.optional("ways", cache.ways, {1, 32}, "lines of a set");
    node.optional("random_percent", cache.random_percent, {0, 100},
                  "lines that make room by chance; the others are the least recently used");
    if (cache.size.count() % (kLine * cache.ways) != 0) {
        node.error("size", "must be a whole number of sets of 64 B lines");
    }
    node.done();
}

void read_vector(Node node, VectorConfig& vector) {
    node.optional("second_port", vector.second_port, "512-bit arithmetic on port 5 as on port 0");
    node.optional("binding", vector.balanced_binding, {{"balanced", true}, {"alternate", false}},
                  "port of an instruction that may take either, at rename: the one with less to "
                  "do, or in turn");
    node.optional("port5_opens", vector.port5_opens, {0, 10'000},
                  "AVX-512 instructions without TDP or TILEZERO after which port 5 takes 512-bit "
                  "arithmetic");
    node.optional("port5_switch", vector.port5_switch, {0, 1000},
                  "ports 0 and 5 stand still when port 5 opens or closes");
    node.optional("scalar_ports", vector.scalar_ports, {1, 16}, "scalar uops a cycle");
    node.done();
}

void read_instruction(Node node, program::Unit unit, const WindowConfig& window,
                      OpcodeTiming& timing) {
    constexpr Range kSlots{0, 16};
    node.optional("latency", timing.latency, {0, 100},
                  "from the start, of a load from its line, to the result");
    node.optional("port5_latency", timing.port5_latency, {0, 100},
                  "on port 5, where it differs; 0: the same");
    node.optional("uops", timing.uops, {1, 16}, "entering the window");
    node.optional("port0", timing.port0, kSlots, "cycles of port 0");
    node.optional("port5", timing.port5, kSlots, "cycles of port 5");
    node.optional("either", timing.either, kSlots, "cycles of one of them, chosen at rename");
    check_uops(node, "uops", timing.uops, unit, window);
    node.done();
}

void read_instructions(Node node, const WindowConfig& window, InstructionTimings& timings) {
    for (std::size_t i = 0; i < program::kOpcodes; ++i) {
        const auto opcode = static_cast<program::Opcode>(i);
        if (has_timing(opcode)) {
            const program::OpcodeInfo& info = program::info_of(opcode);
            read_instruction(node.child(info.mnemonic, "on ports 0 and 5"), info.unit, window,
                             timings[i]);
        }
    }
    node.done();
}

// Entries and ways of a TLB: a cache of as many lines.
void read_tlb(Node node, CacheConfig& tlb) {
    std::int64_t entries = tlb.size.count() / kLine;
    node.optional("entries", entries, {4, 65536}, "pages it knows");
    node.optional("ways", tlb.ways, {1, 32}, "entries of a set");
    node.optional("random_percent", tlb.random_percent, {0, 100},
                  "entries that make room by chance; the others are the least recently used");
    if (entries % tlb.ways != 0) {
        node.error("entries", "must be a whole number of sets");
    }
    tlb.size = base::Bytes{entries * kLine};
    node.done();
}

void read_pages(Node node, PageConfig& pages) {
    node.optional("size", pages.size, {4096, std::int64_t{1} << 30}, "what a TLB's entry covers");
    node.optional("frames", pages.scattered, {{"contiguous", false}, {"scattered", true}},
                  "where 4 KiB frames lie in memory, which decides their sets and DRAM rows");
    read_tlb(node.child("first", "data TLB of loads and stores"), pages.first);
    read_tlb(node.child("second", "TLB behind it"), pages.second);
    node.optional("second_latency", pages.second_latency, {0, 100},
                  "more, for a page only the second TLB knows");
    node.optional("walk", pages.walk, kLatency, "more, for a page no TLB knows, beyond its loads");
    node.optional("walk_loads", pages.walk_loads, {0, 8},
                  "lines of page tables a walk loads through the caches");
    node.optional("walkers", pages.walkers, {1, 64}, "walks at a time");
    if ((pages.size.count() & (pages.size.count() - 1)) != 0) {
        node.error("size", fmt::format("must be a power of two, got {} B", pages.size.count()));
    }
    node.done();
}

void read_prefetchers(Node& node, PrivateCacheConfig& caches) {
    node.optional("l1_next_line", caches.l1_next_line, "prefetch the line after an L1 miss");
    node.optional("l1_stride", caches.l1_stride,
                  "prefetch a load instruction's next line after three equal strides");
    using AdjacentLine = PrivateCacheConfig::AdjacentLine;
    node.optional(
        "l2_adjacent_line", caches.l2_adjacent_line,
        {{"off", AdjacentLine::Off}, {"l2", AdjacentLine::IntoL2}, {"l3", AdjacentLine::IntoL3}},
        "prefetch the other line of 128 bytes on an L2 miss, and where to");
    node.optional("l2_streamer", caches.l2_streamer, {0, 63},
                  "lines fetched ahead of ascending L2 accesses within 4 KiB; 0: off");
    node.optional("l2_streamer_wakes", caches.l2_streamer_wakes, {1, 64},
                  "ascending lines before the streamer fetches the first");
}

void read_caches(Node node, PrivateCacheConfig& caches) {
    read_cache(node.child("l1", "first-level data cache"), caches.l1);
    read_cache(node.child("l2", "second-level cache"), caches.l2);
    node.optional("l1_latency", caches.l1_latency, {1, 100}, "load that hits the L1");
    node.optional("l2_latency", caches.l2_latency, {1, 200}, "load that hits the L2");
    node.optional("fill_buffers", caches.fill_buffers, {1, 64}, "lines on their way into the L1");
    node.optional("fill_width", caches.fill_width, {8, 64}, "L2 to L1, sustained");
    node.optional("half_percent", caches.half_percent, {0, 1600},
                  "hundredths of a cycle a line keeps its half (bit 0 of the line) of the L2 busy");
    node.optional("quarter_percent", caches.quarter_percent, {0, 1600},
                  "hundredths of a cycle a line keeps its quarter (bits 0 and 1) busy");
    node.optional("half_backlog", caches.half_backlog, {0, 1000},
                  "work a half may still have to do when it gives a line");
    node.optional("quarter_backlog", caches.quarter_backlog, {0, 1000},
                  "work a quarter may still have to do when it gives a line");
    node.optional("read_percent", caches.read_percent, {0, 400},
                  "hundredths of a cycle a fill takes of the L2's pipeline");
    node.optional("write_percent", caches.write_percent, {0, 1600},
                  "hundredths of a cycle a line written back takes of it");
    node.optional("write_half_percent", caches.write_half_percent, {0, 400},
                  "more, after one that agrees in bit 0 of the line");
    node.optional("fill_percent", caches.fill_percent, {0, 400},
                  "hundredths of a cycle a fill keeps loads from the L1");
    node.optional("l2_outstanding", caches.l2_outstanding, {1, 256},
                  "misses of the L2 under way, and victims the L3 has not answered");
    read_prefetchers(node, caches);
    node.optional("streaming_stores", caches.streaming_stores, {1, 64},
                  "lines of VMOVNTPS under way");
    node.optional("streaming_store", caches.streaming_store, {0, kMicrosecond},
                  "how long such a line holds a fill buffer");
    node.done();
}

void read_uncore(Node node, UncoreConfig& uncore) {
    constexpr std::int64_t kMega = 1'000'000;
    node.optional("clock", uncore.clock, {kMega, 10'000 * kMega}, "clock of mesh and L3");
    read_cache(node.child("l3", "shared cache, filled by what L2s evict"), uncore.l3);
    node.optional("lookup", uncore.lookup, {kNanosecond, kMicrosecond},
                  "from a core's miss to the L3's answer known");
    node.optional("answer", uncore.answer, {kNanosecond, kMicrosecond},
                  "from L3 or DRAM data to the core");
    node.optional("to_memory", uncore.to_memory, {kNanosecond, kMicrosecond},
                  "from an L3 miss to the memory");
    node.optional("port_width", uncore.port_width, {1, 256}, "from the mesh into one core");
    node.optional("slices", uncore.slices, {1, 256}, "of the L3; lines are hashed over them");
    node.optional("mesh_columns", uncore.mesh_columns, {1, 64},
                  "stops in a row of the mesh; a core and a slice share each");
    node.optional("link_width", uncore.link_width, {1, 256},
                  "of a link of the mesh each way, and of a slice's data");
    node.optional("from_core", uncore.from_core, {0, kMicrosecond},
                  "additional, for a line another core has");
    node.optional("clean_percent", uncore.clean_percent, {0, 100},
                  "clean lines leaving an L2 that the L3 takes although they were used only once");
    node.optional("clean_displaces", uncore.clean_displaces,
                  "such lines displace others; otherwise they take empty ways only");
    node.optional("snoop_filter", uncore.snoop_filter, {1024, 1 << 26},
                  "lines whose whereabouts and use it remembers");
    node.done();
}

void read_clocks(Node& node, AmxConfig& config) {
    constexpr std::int64_t kMega = 1'000'000;
    node.optional("clock", config.clock, {kMega, 10'000 * kMega}, "core clock, tiles in use");
    for (Node step : node.list("clock_by_cores", "core clock, tiles in use, by cores at work")) {
        ClockStep each;
        step.required("cores", each.cores, {1, 256}, "at most so many");
        step.required("clock", each.clock, {kMega, 10'000 * kMega}, "core clock");
        step.done();
        config.clock_by_cores.push_back(each);
    }
    const auto& steps = config.clock_by_cores;
    if (!std::is_sorted(steps.begin(), steps.end(),
                        [](const auto& a, const auto& b) { return a.cores < b.cores; })) {
        node.error("clock_by_cores", "numbers of cores must ascend");
    }
}

}  // namespace

bool has_timing(program::Opcode opcode) {
    const OpcodeTiming timing = default_timings()[static_cast<std::size_t>(opcode)];
    return timing.port0 + timing.port5 + timing.either > 0;
}

InstructionTimings default_timings() {
    using base::Cycles;
    using program::Opcode;
    InstructionTimings timings{};
    for (std::size_t i = 0; i < program::kOpcodes; ++i) {
        if (program::info_of(static_cast<Opcode>(i)).unit == program::Unit::Vector) {
            timings[i] = {.latency = Cycles{4}, .either = 1};
        }
    }
    const auto set = [&timings](Opcode opcode, const OpcodeTiming& timing) {
        timings[static_cast<std::size_t>(opcode)] = timing;
    };
    timings[static_cast<std::size_t>(Opcode::Loop)].uops = 2;
    for (const Opcode opcode : {Opcode::Vaddps, Opcode::Vsubps}) {
        set(opcode, {.latency = Cycles{4}, .port5_latency = Cycles{3}, .either = 1});
    }
    for (const Opcode opcode : {Opcode::Vpaddd, Opcode::Vpandd}) {
        set(opcode, {.either = 1});
    }
    for (const Opcode opcode : {Opcode::Vpslld, Opcode::Vpsrld}) {
        set(opcode, {.port0 = 1});
    }
    for (const Opcode opcode :
         {Opcode::Vpermd, Opcode::Vpmovzxwd, Opcode::Vpmovsxbd, Opcode::Kmovq}) {
        set(opcode, {.latency = Cycles{3}, .port5 = 1});
    }
    for (const Opcode opcode : {Opcode::Vpermt2b, Opcode::Vpermt2w}) {
        set(opcode, {.latency = Cycles{7}, .uops = 3, .port5 = 2});
    }
    for (const Opcode opcode : {Opcode::Vpexpandb, Opcode::VpmovsdbStore, Opcode::VpmovusdbStore}) {
        set(opcode, {.latency = Cycles{6}, .uops = 2, .port5 = 2});
    }
    set(Opcode::Vcvtneps2bf16, {.latency = Cycles{8}, .uops = 3, .port0 = 1, .port5 = 2});
    set(Opcode::Vcvtne2ps2bf16, {.latency = Cycles{8}, .uops = 4, .port0 = 2, .port5 = 2});
    return timings;
}

AmxConfig at_work(const AmxConfig& config, std::int64_t cores) {
    AmxConfig result = config;
    for (auto step = config.clock_by_cores.rbegin(); step != config.clock_by_cores.rend(); ++step) {
        result.clock = cores <= step->cores ? step->clock : result.clock;
    }
    return result;
}

AmxConfig read_amx_config(Node node) {
    AmxConfig config;
    read_clocks(node, config);
    node.optional("cores", config.cores, {1, 256}, "cores of the socket");
    node.optional("simulated_cores", config.simulated_cores, {0, 256},
                  "of more cores that execute the same program on data of their own about so many "
                  "are simulated, each for its share; 0: every one");
    node.optional("simulated_instructions", config.simulated_instructions,
                  {0, std::int64_t{1} << 40},
                  "where all cores together execute no more, every one is simulated");
    read_window(node.child("window", "out-of-order window"), config.window);
    read_tiles(node.child("tiles", "tile registers and TMUL"), config.tiles);
    read_access(node.child("access", "load and store pipelines"), config.window, config.access);
    read_vector(node.child("vector", "AVX-512 and scalar ports"), config.vector);
    read_instructions(node.child("instructions", "AVX-512 instructions"), config.window,
                      config.instructions);
    read_pages(node.child("pages", "pages and TLBs"), config.pages);
    read_caches(node.child("caches", "private caches"), config.caches);
    read_uncore(node.child("uncore", "mesh, L3, way to DRAM"), config.uncore);
    node.done();
    return config;
}

}  // namespace tilesim::arch::amx
