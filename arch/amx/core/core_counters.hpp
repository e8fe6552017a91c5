// What a core counts: cycles by what they went to, instructions, and how both grow where what has
// been counted repeats.
#pragma once

#include <array>
#include <cstdint>

#include "arch/amx/caches/private_caches.hpp"
#include "arch/base/stats.hpp"

namespace tilesim::arch::amx::core {

// Where a cycle went. While TMUL multiplies that is the answer; else what the oldest TDP in the
// window waits for; without one, what keeps the next from coming: where the window or a queue is
// full, what its oldest instruction waits for.
enum class CoreState : std::uint8_t {
    Multiply,
    StoreRead,  // TMUL gives a result to a tile store
    LoadL1,     // a tile, or a line of another load or store, on its way from the L1
    LoadL2,
    LoadL3,
    LoadMemory,
    FillBuffers,    // the same; misses of the L2 take the fill buffers others would need
    StoreConflict,  // a load waits for a store to its line
    Accumulator,    // C still in the multiplier, or TILEZERO
    Tiles,          // no physical tile free
    Window,         // reorder buffer, a scheduler or a queue full of what waits for none of these
    Ports,          // AVX-512 or scalar work
    Configure,      // LDTILECFG, TILERELEASE
    Drain,          // the last stores reach the L1
    Barrier,
    Finished
};
inline constexpr base::stats::StateTable<CoreState> kCoreStates{{
    {CoreState::Multiply, "multiply", "TMUL multiplies"},
    {CoreState::StoreRead, "store_read", "TMUL gives a result to a tile store"},
    {CoreState::LoadL1, "load_l1", "a TDP waits for a tile from the L1, or all for a line"},
    {CoreState::LoadL2, "load_l2", "a TDP waits for a tile from the L2, or all for a line"},
    {CoreState::LoadL3, "load_l3", "a TDP waits for a tile from the L3, or all for a line"},
    {CoreState::LoadMemory, "load_memory", "a TDP waits for a tile from DRAM, or all for a line"},
    {CoreState::FillBuffers, "fill_buffers",
     "a TDP waits for a tile, or all for a line, and others for the fill buffers that misses "
     "of the L2 take"},
    {CoreState::StoreConflict, "store_conflict",
     "a TDP waits for a tile, or all for a line, still in the store buffer"},
    {CoreState::Accumulator, "accumulator", "a TDP waits for C"},
    {CoreState::Tiles, "tiles", "no physical tile is free"},
    {CoreState::Window, "window", "the window, a scheduler or a queue is full of other work"},
    {CoreState::Ports, "ports", "AVX-512 or scalar instructions, no TDP in the window"},
    {CoreState::Configure, "configure", "LDTILECFG or TILERELEASE"},
    {CoreState::Drain, "drain", "the last instructions and stores complete"},
    {CoreState::Barrier, "barrier", "waits for other cores"},
    {CoreState::Finished, "finished", "done before the others"},
}};

struct CoreCounters {
    std::int64_t instructions = 0;
    std::int64_t dots = 0;
    std::int64_t dot_cycles = 0;  // of the multiplier, that they take
    std::int64_t b_cycles = 0;    // in which it brings in their B, beside the products before
    std::int64_t tile_load_lines = 0;
    std::int64_t tile_loads = 0;
    std::int64_t tile_stores = 0;
};

// Everything a core has counted by a cycle.
struct Counts {
    std::int64_t cycle = 0;
    CoreCounters core;
    std::array<std::int64_t, kCoreStates.kStates> spent{};
    std::array<std::int64_t, kCoreStates.kStates> overlapped{};
    caches::CacheCounters caches;
    std::int64_t walks = 0;
    std::int64_t misses = 0;  // of the first TLB
};

// `counts`, and so many times what was counted between `then` and `now`. Cycles, and what is the
// most of something, stay.
Counts grown(Counts counts, const Counts& then, const Counts& now, std::int64_t times);

}  // namespace tilesim::arch::amx::core
