#include "workloads/amx/tiles/amx_gemm.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_kernel.hpp"
#include "workloads/amx/tiles/amx_layout.hpp"
#include "workloads/amx/tiles/amx_preparation.hpp"
#include "workloads/amx/tiles/amx_regions.hpp"
#include "workloads/amx/tiles/amx_shares.hpp"
#include "workloads/amx/tiles/amx_sparse.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::kTileBytes;
using arch::amx::program::Opcode;
using arch::amx::program::Program;
using arch::base::ceil_div;

namespace {

Opcode dot_of(const GemmProblem& gemm, const AmxMapping& map) {
    if (gemm.a != DataType::Int8) {
        return Opcode::Tdpbf16ps;
    }
    if (map.a_signed) {
        return map.b_signed ? Opcode::Tdpbssd : Opcode::Tdpbsud;
    }
    return map.b_signed ? Opcode::Tdpbusd : Opcode::Tdpbuud;
}

PostOperations post_of(const GemmProblem& gemm, const AmxMapping& map, const LoweredAmx& lowered) {
    PostOperations post;
    post.from_int32 = gemm.a == DataType::Int8;
    post.any = has_post_operations(gemm);
    post.relu = map.relu;
    post.to = gemm.c;
    post.scale = lowered.scale;
    post.bias = lowered.bias;
    return post;
}

TileProblem problem_of(const GemmProblem& gemm, const AmxMapping& map, const LoweredAmx& l,
                       std::int64_t k_tiles) {
    TileProblem p;
    p.m = gemm.m;
    p.n = gemm.n;
    p.k_tiles = k_tiles;
    p.a = l.a;
    p.a_row = l.a_row;
    p.a_m = map.a_packed ? k_tiles * kTileBytes : kMaxRows * l.a_row;
    p.a_k = map.a_packed ? kTileBytes : kRowBytes;
    p.b = l.b;
    p.b_row = l.b_row;
    const bool vnni = map.b_layout == AmxMapping::BLayout::Vnni;
    p.b_n = vnni ? kRowBytes : k_tiles * kTileBytes;
    p.b_k = vnni ? kMaxRows * l.b_row : kTileBytes;
    p.b_block = p.b_n;
    if (map.prefetch_next && !decompresses(gemm, map)) {
        p.next = {{p.b + map.n_acc * p.b_n, p.b_n, p.b_k, kTileBytes / kRowBytes}};
    }
    p.c = l.c;
    p.c_row = l.c_row;
    p.c_m = kMaxRows * l.c_row;
    p.c_n = kMaxRows * bytes_of(gemm.c);
    p.dot = dot_of(gemm, map);
    if (gemm.a == DataType::F32) {  // the six products that matter of three parts each
        p.pairs.clear();
        for (std::int64_t i = 0; i < 3; ++i) {
            for (std::int64_t j = 0; i + j < 3; ++j) {
                p.pairs.push_back({i * l.a_part, j * l.b_part});
            }
        }
    }
    return p;
}

Runs runs_of_a(const TileProblem& p, const AmxMapping& map) {
    const std::int64_t tiles = ceil_div(p.m, kMaxRows);
    if (!p.taps.empty()) {
        std::int64_t bytes = (p.row_groups - 1) * p.a_group + tiles * p.a_m;
        for (const TileProblem::Tap& tap : p.taps) {  // rows and columns that only later taps reach
            bytes += (tap.count - 1) * tap.a_stride;
        }
        return {p.a, bytes};
    }
    if (map.a_packed) {
        return {p.a, p.k_tiles * kTileBytes, p.a_m, tiles};
    }
    return {p.a, p.k_tiles * kRowBytes, p.a_row, tiles * kMaxRows};
}

Runs runs_of_b(const TileProblem& p, std::int64_t taps) {
    const std::int64_t columns = ceil_div(p.n, kMaxRows);
    if (p.b_row == kRowBytes) {
        return {p.b, p.k_tiles * kTileBytes, p.b_n / taps, columns * taps};
    }
    return {p.b, columns * kRowBytes, p.b_row, p.k_tiles * kMaxRows};
}

Runs runs_of_c(const TileProblem& p) {
    const std::int64_t tiles = ceil_div(p.m, kMaxRows);
    if (!p.taps.empty()) {
        return {p.c, std::max(p.row_groups * p.c_group, tiles * p.c_m)};
    }
    return {p.c, ceil_div(p.n, kMaxRows) * p.c_n, p.c_row, tiles * kMaxRows};
}

// The thread's operands: what it reads, and with C what its caches start with.
void note_regions(LoweredAmx& l, const TileProblem& p, const AmxMapping& map, std::int64_t t,
                  std::int64_t taps) {
    const auto start_with = [&](const Runs& runs) {
        if (map.data_in == AmxMapping::DataIn::Memory) {  // what lies between is there anyway
            l.warm.push_back(runs.around(t));
        } else {
            add_runs(l.warm, t, runs);
        }
    };
    const auto read_parts = [&](Runs runs, std::int64_t apart) {
        const std::int64_t parts = p.pairs.size() > 1 ? 3 : 1;
        for (std::int64_t part = 0; part < parts; ++part, runs.address += apart) {
            add_runs(l.reads, t, runs);
            start_with(runs);
        }
    };
    start_with(runs_of_c(p));
    for (const AmxRegion& read : l.reads) {  // a re-layout's, noted with it
        if (read.thread == t) {
            l.warm.push_back(read);
        }
    }
    read_parts(runs_of_a(p, map), l.a_part);
    if (!p.prepare_columns) {
        read_parts(runs_of_b(p, taps), l.b_part);
    }
}

void write_programs(LoweredAmx& l, const TileProblem& whole, const GemmProblem& gemm,
                    const AmxMapping& map, Pages& pages, std::int64_t taps) {
    for (std::int64_t t = 0; t < map.threads; ++t) {
        TileProblem p = whole;
        p.post = post_of(gemm, map, l);
        take_share(p, gemm, map, t, l);
        if (p.m == 0 || p.n == 0 || p.row_groups == 0) {  // more threads than blocks
            l.programs.emplace_back();
            continue;
        }
        prepare_b(p, gemm, map, l, pages, t);
        note_regions(l, p, map, t, taps);
        if (p.post.any) {
            const std::int64_t bytes = 2 * map.m_acc * map.n_acc * kTileBytes;
            p.post.temporary = pages.take("temporary" + std::to_string(t), bytes);
            l.warm.push_back({t, p.post.temporary, bytes});
            l.warm.push_back({t, l.scale, kResultBytes});
            l.warm.push_back({t, p.post.bias, ceil_div(p.n, kMaxRows) * kRowBytes});
        }
        Program program;
        generate(program, p, map, [&] {
            if (l.c_copy > 0) {
                add_copies(program, gemm, map, l, t);
            }
        });
        l.programs.push_back(std::move(program));
    }
    for (Program& program : l.programs) {
        program.buffers = pages.buffers();
        if (!l.line_masks.empty()) {
            program.tables = {l.lines};
        }
    }
}

std::int64_t c_row_of(const GemmProblem& gemm, const AmxMapping& map, std::int64_t n) {
    return n * bytes_of(gemm.c) + map.c_padding;
}

}  // namespace

LoweredAmx lower(const GemmProblem& gemm, const AmxMapping& map, std::uint64_t seed) {
    LoweredAmx l;
    Pages pages;
    l.k_tile = kRowBytes / stored_bytes(gemm.a);
    const std::int64_t k_tiles = ceil_div(gemm.k, l.k_tile);
    l.m = ceil_div(gemm.m, kMaxRows) * kMaxRows;
    l.n = ceil_div(gemm.n, kMaxRows) * kMaxRows;
    l.k = k_tiles * l.k_tile;
    l.a_row = map.a_packed ? kRowBytes : k_tiles * kRowBytes + map.a_padding;
    l.b_row = map.b_layout == AmxMapping::BLayout::Vnni ? l.n * kResultBytes : kRowBytes;
    l.c_row = c_row_of(gemm, map, l.n);
    if (map.b_layout == AmxMapping::BLayout::Sparse) {
        l.line_masks = random_line_masks(gemm, map.density_percent, seed + 1);
    }
    place(l, pages, gemm, map, map.a_packed ? l.m * k_tiles * kRowBytes : l.m * l.a_row, k_tiles);
    const bool pads = map.remainder == AmxMapping::Remainder::Pad;
    const double done = static_cast<double>(pads ? l.m : gemm.m) *
                        static_cast<double>(pads ? l.n : gemm.n) * static_cast<double>(l.k);
    l.padding_waste = 1.0 - gemm.macs() / done;
    write_programs(l, problem_of(gemm, map, l, k_tiles), gemm, map, pages, 1);
    return l;
}

LoweredAmx lower(const ConvolutionProblem& conv, const AmxMapping& map) {
    LoweredAmx l;
    Pages pages;
    const bool joined = map.output_rows == AmxMapping::OutputRows::Joined;
    const std::int64_t groups = joined ? 1 : conv.height;
    const GemmProblem gemm = tap_shape(conv, map);
    l.k_tile = kRowBytes / stored_bytes(gemm.a);
    const std::int64_t k_tiles = ceil_div(gemm.k, l.k_tile);
    const std::int64_t pixel = k_tiles * kRowBytes;
    const std::int64_t taps = conv.kh * conv.kw;
    const std::int64_t row = conv.input_width() * pixel + map.a_padding;
    l.m = ceil_div(gemm.m, kMaxRows) * kMaxRows;
    l.n = ceil_div(gemm.n, kMaxRows) * kMaxRows;
    l.k = k_tiles * l.k_tile;
    l.a_row = conv.stride * pixel;
    l.b_row = kRowBytes;
    l.c_row = c_row_of(gemm, map, l.n);
    l.c_group = (joined ? conv.input_width() : l.m) * l.c_row;
    // Tiles that reach beyond the right edge read on: the last row needs room.
    const std::int64_t beyond = (joined ? kMaxRows : l.m) * l.a_row;
    place(l, pages, gemm, map, conv.input_height() * row + beyond, k_tiles * taps);
    l.c_copy = 0;
    l.c = pages.take("output", groups * l.m * l.c_row);
    TileProblem p = problem_of(gemm, map, l, k_tiles);
    p.row_groups = groups;
    p.a_group = conv.stride * row;
    p.c_group = l.c_group;
    p.b_n = p.b_block = taps * k_tiles * kTileBytes;
    for (TileProblem::Next& next : p.next) {
        next.base = p.b + map.n_acc * p.b_n;
        next.n = p.b_n;
    }
    p.taps = {{"kh", conv.kh, row, conv.kw * k_tiles * kTileBytes},
              {"kw", conv.kw, pixel, k_tiles * kTileBytes}};
    l.padding_waste =
        1.0 - conv.macs() / (static_cast<double>(groups * l.m) * static_cast<double>(l.n) *
                             static_cast<double>(l.k * taps));
    write_programs(l, p, shared_shape(conv, map), shared_mapping(conv, map), pages, taps);
    return l;
}

}  // namespace tilesim::workloads::amx::tiles
