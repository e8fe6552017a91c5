#include "workloads/amx/tiles/amx_preparation.hpp"

#include <algorithm>
#include <string>

#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_regions.hpp"
#include "workloads/amx/tiles/amx_relayout.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;
using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::kTileBytes;
using arch::amx::program::Program;
using arch::base::ceil_div;

namespace {

Weights weights_of(const GemmProblem& gemm, const AmxMapping& map) {
    if (!decompresses(gemm, map)) {
        return Weights::Stored;
    }
    if (map.b_layout == AmxMapping::BLayout::Sparse) {
        return Weights::Sparse;
    }
    return gemm.b == DataType::Int4 ? Weights::Int4 : Weights::Int8;
}

bool narrow(Weights weights) {
    return weights == Weights::Int4 || weights == Weights::Int8;
}

bool among_products(const AmxMapping& map) {
    return map.decompress == AmxMapping::Decompress::Interleaved;
}

// What the thread re-lays, from its first column of tiles on.
RelayoutProblem source_of(const TileProblem& p, const GemmProblem& gemm, const AmxMapping& map,
                          const LoweredAmx& l) {
    RelayoutProblem relayout;
    relayout.k_tiles = p.k_tiles;
    relayout.element_bytes = stored_bytes(gemm.b);
    relayout.weights = weights_of(gemm, map);
    const std::int64_t tiles = (p.b - l.b) / p.b_n;
    relayout.raw = l.raw + tiles * (narrow(relayout.weights) ? p.k_tiles * kNarrowTileBytes
                                                             : kMaxRows * relayout.element_bytes);
    relayout.raw_row = l.raw_row;
    relayout.first_line = tiles * p.k_tiles * kMaxRows;
    relayout.masks = l.masks + relayout.first_line * kMaskBytes;
    return relayout;
}

// k steps of a ring whose last turn is the shortest there can be.
std::int64_t ring_slots(std::int64_t k_tiles, std::int64_t steps_ahead) {
    const auto last = [k_tiles](std::int64_t slots) { return slots + k_tiles % slots; };
    std::int64_t best = steps_ahead + 1;
    for (std::int64_t slots = best; slots <= std::min(2 * steps_ahead + 1, k_tiles); ++slots) {
        best = last(slots) <= last(best) ? slots : best;
    }
    return best;
}

// The panel: all columns of the thread, those of a block, or a ring of k steps of them.
void take_panel(TileProblem& p, RelayoutProblem& relayout, const AmxMapping& map, LoweredAmx& l,
                Pages& pages, std::int64_t t) {
    const bool whole = map.outer == AmxMapping::Outer::M;
    const std::int64_t columns = whole ? ceil_div(p.n, kMaxRows) : map.n_acc;
    std::int64_t bytes = columns * p.k_tiles * kTileBytes;
    if (among_products(map)) {
        p.steps_ahead = std::min(map.decompress_steps, p.k_tiles - 1);
        p.slots = ring_slots(p.k_tiles, p.steps_ahead);
        p.slot_bytes = map.n_acc * kTileBytes;
        bytes = p.last_slots() * p.slot_bytes;
    }
    p.b = relayout.packed = pages.take("panel" + std::to_string(t), bytes);
    p.b_block = relayout.packed_block = whole ? p.b_n : 0;
    l.warm.push_back({t, p.b, bytes});
}

// Bytes of sparse weights in front of line `line` of the thread's first column of tiles.
std::int64_t line_start(const LoweredAmx& l, const RelayoutProblem& relayout, std::int64_t line) {
    return l.lines.starts[static_cast<std::size_t>(relayout.first_line + line)];
}

void note_reads(LoweredAmx& l, const RelayoutProblem& relayout, std::int64_t lines,
                std::int64_t t) {
    if (relayout.weights == Weights::Sparse) {
        const std::int64_t first = line_start(l, relayout, 0);
        l.reads.push_back({t, relayout.masks, lines * kMaskBytes});
        l.reads.push_back({t, first, line_start(l, relayout, lines) - first});
    } else if (narrow(relayout.weights)) {
        l.reads.push_back({t, relayout.raw, lines / kMaxRows * kNarrowTileBytes});
    } else {
        const std::int64_t columns = lines / relayout.k_tiles;
        add_runs(l.reads, t, {relayout.raw, columns * relayout.element_bytes, l.raw_row, l.k});
    }
}

void add_code(TileProblem& p, const RelayoutProblem& relayout, const AmxMapping& map,
              std::int64_t nibbles) {
    if (nibbles != 0) {
        p.constants = [nibbles](Program& program) { nibble_constants(program, nibbles); };
    }
    p.prepare_columns = [relayout](Program& program, const Address& first, std::int64_t count) {
        (relayout.weights == Weights::Stored ? relay : decompress)(program, relayout, first, count);
    };
    if (among_products(map)) {
        p.b_n = kTileBytes;
        p.b_k = 0;
        p.decompress_line = [relayout](Program& program, const Address& across, const Address& k,
                                       std::int64_t line, const Address& to) {
            decompress_line(program, relayout, across, k, line, to);
        };
    }
}

// What is to be decompressed next.
void add_prefetches(TileProblem& p, const RelayoutProblem& relayout, const AmxMapping& map,
                    const LoweredAmx& l, std::int64_t lines) {
    const auto next = [&p, &map](std::int64_t first, std::int64_t tile) {
        const std::int64_t column = p.k_tiles * tile;
        p.next.push_back(
            {first + map.n_acc * column, column, tile, ceil_div(tile, std::int64_t{kRowBytes})});
    };
    if (relayout.weights == Weights::Sparse) {  // by the tiles' mean length: moves evenly
        const std::int64_t first = line_start(l, relayout, 0);
        next(first, ceil_div((line_start(l, relayout, lines) - first) * kMaxRows, lines));
        next(relayout.masks, kMaxRows * kMaskBytes);
    } else {
        next(relayout.raw, kNarrowTileBytes);
    }
}

}  // namespace

void prepare_b(TileProblem& p, const GemmProblem& gemm, const AmxMapping& map, LoweredAmx& l,
               Pages& pages, std::int64_t t) {
    if (!relaid(gemm, map)) {
        return;
    }
    RelayoutProblem relayout = source_of(p, gemm, map, l);
    take_panel(p, relayout, map, l, pages, t);
    if (l.nibbles != 0) {
        l.warm.push_back({t, l.nibbles, kNibbleMaskBytes});
    }
    const std::int64_t lines = ceil_div(p.n, kMaxRows) * p.k_tiles * kMaxRows;
    note_reads(l, relayout, lines, t);
    add_code(p, relayout, map, l.nibbles);
    if (map.prefetch_next && decompresses(gemm, map)) {
        add_prefetches(p, relayout, map, l, lines);
    }
}

}  // namespace tilesim::workloads::amx::tiles
