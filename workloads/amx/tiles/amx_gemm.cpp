#include "workloads/amx/tiles/amx_gemm.hpp"

#include <algorithm>
#include <bit>

#include "arch/amx/caches/private_caches.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_kernel.hpp"
#include "workloads/amx/tiles/amx_relayout.hpp"
#include "workloads/amx/tiles/amx_sparse.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;
using arch::amx::program::Buffer;
using arch::amx::program::Instruction;
using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::kTileBytes;
using arch::amx::program::Opcode;
using arch::amx::program::Program;
using arch::base::ceil_div;

namespace {

constexpr std::int64_t kFirstAddress = 1 << 20;
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kResultBytes = 4;

// Hands out pages, in order.
class Pages {
  public:
    std::int64_t take(const std::string& name, std::int64_t bytes) {
        const std::int64_t address = next_;
        next_ += ceil_div(bytes, kPage) * kPage;
        buffers_.push_back({name, address, bytes});
        return address;
    }
    const std::vector<Buffer>& buffers() const { return buffers_; }

  private:
    std::int64_t next_ = kFirstAddress;
    std::vector<Buffer> buffers_;
};

std::int64_t parts_of(DataType type) {
    return type == DataType::F32 ? 3 : 1;  // f32 operands are three bf16
}
std::int64_t stored_bytes(DataType type) {
    return type == DataType::Int8 ? 1 : 2;
}

Opcode dot_of(const GemmProblem& gemm, const AmxMapping& map) {
    if (gemm.a != DataType::Int8) {
        return Opcode::Tdpbf16ps;
    }
    if (map.a_signed) {
        return map.b_signed ? Opcode::Tdpbssd : Opcode::Tdpbsud;
    }
    return map.b_signed ? Opcode::Tdpbusd : Opcode::Tdpbuud;
}

bool relaid(const GemmProblem& gemm, const AmxMapping& map) {
    return map.b_layout == AmxMapping::BLayout::RowMajor || decompresses(gemm, map);
}

PostOperations post_of(const GemmProblem& gemm, const AmxMapping& map, const LoweredAmx& lowered) {
    PostOperations post;
    post.from_int32 = gemm.a == DataType::Int8;
    const DataType plain = post.from_int32 ? DataType::Int32 : DataType::F32;
    post.any = gemm.c != plain;
    post.relu = map.relu;
    post.to = gemm.c;
    post.scale = lowered.scale;
    post.bias = lowered.bias;
    return post;
}

// Where everything lies; `taps`: products of B's tiles a column of tiles.
void place(LoweredAmx& l, Pages& layout, const GemmProblem& gemm, const AmxMapping& map,
           std::int64_t a_bytes, std::int64_t k_tiles) {
    const std::int64_t columns = l.n / kMaxRows;
    l.b_part = columns * k_tiles * kTileBytes;
    l.a_part = ceil_div(a_bytes, kPage) * kPage;
    l.a = layout.take("a", l.a_part * parts_of(gemm.a));
    if (!relaid(gemm, map)) {
        l.b = layout.take("b", l.b_part * parts_of(gemm.b));
    } else if (map.b_layout == AmxMapping::BLayout::Sparse) {
        std::int64_t bytes = 0;
        for (const std::uint64_t mask : l.line_masks) {
            bytes += std::popcount(mask);
        }
        l.raw = layout.take("b_values", std::max<std::int64_t>(bytes, 1));
        l.lines = {"lines", {l.raw}};
        for (const std::uint64_t mask : l.line_masks) {
            l.lines.starts.push_back(l.lines.starts.back() + std::popcount(mask));
        }
        l.masks = layout.take("b_masks", columns * k_tiles * kMaxRows * kMaskBytes);
    } else if (decompresses(gemm, map)) {
        l.raw = layout.take("b", columns * k_tiles * kNarrowTileBytes);
        l.nibbles = gemm.b == DataType::Int4 ? layout.take("nibbles", kNibbleMaskBytes) : 0;
    } else {
        l.raw_row = l.n * stored_bytes(gemm.b);
        l.raw = layout.take("b", l.k * l.raw_row);
    }
    const std::int64_t c_bytes = l.m * l.c_row;
    const bool copies = map.partition == AmxMapping::Partition::K && map.threads > 1;
    l.c_copy = copies ? ceil_div(c_bytes, kPage) * kPage : 0;
    l.c = layout.take("c", copies ? l.c_copy * map.threads : c_bytes);
    l.scale = layout.take("scale", kResultBytes);
    l.bias = layout.take("bias", l.n * kResultBytes);
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

// Blocks [first, last) of `blocks` that thread `t` of `threads` computes.
std::pair<std::int64_t, std::int64_t> share(std::int64_t blocks, std::int64_t t,
                                            std::int64_t threads) {
    return {blocks * t / threads, blocks * (t + 1) / threads};
}

void take_rows_or_columns(TileProblem& p, const AmxMapping& map, bool by_m, std::int64_t t,
                          std::int64_t threads);

// Cuts the problem down to what a thread computes.
void take_share(TileProblem& p, const GemmProblem& gemm, const AmxMapping& map, std::int64_t t,
                const LoweredAmx& l) {
    if (map.threads == 1) {
        return;
    }
    if (map.partition == AmxMapping::Partition::K) {
        const auto [first, last] = share(p.k_tiles, t, map.threads);
        p.a += first * p.a_k;
        p.b += first * p.b_k;
        for (TileProblem::Next& next : p.next) {
            next.base += first * next.k;
        }
        p.c += t * l.c_copy;
        p.k_tiles = last - first;
        return;
    }
    if (map.partition == AmxMapping::Partition::MN) {
        const std::int64_t across = shares_of_n(gemm, map);
        const std::int64_t down = map.threads / across;
        if (t >= down * across) {  // the grid leaves it without work
            p.n = 0;
            return;
        }
        take_rows_or_columns(p, map, true, t / across, down);
        take_rows_or_columns(p, map, false, t % across, across);
        return;
    }
    take_rows_or_columns(p, map, map.partition == AmxMapping::Partition::M, t, map.threads);
}

void take_rows_or_columns(TileProblem& p, const AmxMapping& map, bool by_m, std::int64_t t,
                          std::int64_t threads) {
    if (by_m && p.row_groups > 1) {  // a convolution's output rows
        const auto [first, last] = share(p.row_groups, t, threads);
        p.a += first * p.a_group;
        p.c += first * p.c_group;
        p.row_groups = last - first;
        return;
    }
    std::int64_t& size = by_m ? p.m : p.n;
    const std::int64_t width = (by_m ? map.m_acc : map.n_acc) * kMaxRows;
    const auto [first, last] = share(ceil_div(size, width), t, threads);
    const std::int64_t start = std::min(first * width, size);
    size = std::min(last * width, size) - start;
    const std::int64_t tiles = start / kMaxRows;
    if (by_m) {
        p.a += tiles * p.a_m;
        p.c += tiles * p.c_m;
    } else {
        p.b += tiles * p.b_n;
        for (TileProblem::Next& next : p.next) {
            next.base += tiles * next.n;
        }
        p.c += tiles * p.c_n;
        p.post.bias += start * kResultBytes;
    }
}

// After a partition of k: every thread adds its rows of all copies of C into the first.
void reduce(Program& program, const AmxMapping& map, const LoweredAmx& l, std::int64_t t,
            Opcode add) {
    Instruction barrier;
    barrier.opcode = Opcode::Barrier;
    program.emit(barrier);
    const auto [first, last] = share(l.m * l.c_row / kRowBytes, t, map.threads);
    const int i = program.open_loop("line", last - first);
    const std::int64_t own = l.c + first * kRowBytes;
    const auto line = [&](std::int64_t copy) {
        return Address{}.plus(own + copy * l.c_copy).per(i, kRowBytes);
    };
    const auto emit = [&](Opcode opcode, std::int8_t reg, const Address& address) {
        Instruction instruction;
        instruction.opcode = opcode;
        instruction.destination = reg;
        instruction.source_a = 0;
        instruction.source_b = 1;
        instruction.address = address;
        program.emit(instruction);
    };
    emit(Opcode::Vmovups, 0, line(0));
    for (std::int64_t copy = 1; copy < map.threads; ++copy) {
        emit(Opcode::Vmovups, 1, line(copy));
        emit(add, 0, {});
    }
    emit(Opcode::VmovupsStore, 0, line(0));
    program.close_loop();
}

// k steps of a ring that goes round a whole number of times.
std::int64_t ring_slots(std::int64_t k_tiles, std::int64_t steps_ahead) {
    std::int64_t slots = steps_ahead + 1;
    while (k_tiles % slots != 0) {
        ++slots;
    }
    return slots;
}

// Re-layout or decompression into a panel of the thread's own.
void prepare(TileProblem& p, const GemmProblem& gemm, const AmxMapping& map, LoweredAmx& l,
             Pages& layout, std::int64_t t) {
    if (!relaid(gemm, map)) {
        return;
    }
    RelayoutProblem relayout;
    relayout.k_tiles = p.k_tiles;
    relayout.element_bytes = stored_bytes(gemm.b);
    const std::int64_t tiles = (p.b - l.b) / p.b_n;  // the thread's first column of tiles
    const bool whole = map.outer == AmxMapping::Outer::M;
    const std::int64_t columns = whole ? ceil_div(p.n, kMaxRows) : map.n_acc;
    const bool compressed = decompresses(gemm, map);
    const bool sparse = map.b_layout == AmxMapping::BLayout::Sparse;
    const bool narrow = compressed && !sparse;
    if (compressed) {
        relayout.weights = sparse                     ? Weights::Sparse
                           : gemm.b == DataType::Int4 ? Weights::Int4
                                                      : Weights::Int8;
    }
    relayout.raw =
        l.raw + tiles * (narrow ? p.k_tiles * kNarrowTileBytes : kMaxRows * relayout.element_bytes);
    relayout.raw_row = l.raw_row;
    relayout.first_line = tiles * p.k_tiles * kMaxRows;
    relayout.masks = l.masks + relayout.first_line * kMaskBytes;
    const bool among = map.decompress == AmxMapping::Decompress::Interleaved;
    if (among) {
        p.steps_ahead = std::min(map.decompress_steps, p.k_tiles - 1);
        p.slots = ring_slots(p.k_tiles, p.steps_ahead);
        p.slot_bytes = map.n_acc * kTileBytes;
    }
    const std::int64_t panel = among ? p.slots * p.slot_bytes : columns * p.k_tiles * kTileBytes;
    p.b = relayout.packed = layout.take("panel" + std::to_string(t), panel);
    p.b_block = whole ? p.b_n : 0;
    relayout.packed_block = p.b_block;
    l.warm.push_back({t, p.b, panel});
    if (l.nibbles != 0) {
        l.warm.push_back({t, l.nibbles, kNibbleMaskBytes});
        p.constants = [mask = l.nibbles](Program& program) { nibble_constants(program, mask); };
    }
    const std::int64_t lines = ceil_div(p.n, kMaxRows) * p.k_tiles * kMaxRows;
    const auto start = [&l, &relayout](std::int64_t line) {
        return l.lines.starts[static_cast<std::size_t>(relayout.first_line + line)];
    };
    if (sparse) {
        l.reads.push_back({t, relayout.masks, lines * kMaskBytes});
        l.reads.push_back({t, start(0), start(lines) - start(0)});
    } else if (narrow) {
        l.reads.push_back({t, relayout.raw, lines / kMaxRows * kNarrowTileBytes});
    } else {
        l.reads.push_back({t, l.raw, l.k * l.raw_row});
    }
    p.prepare_columns = [relayout, compressed](Program& program, const Address& first,
                                               std::int64_t count) {
        (compressed ? decompress : relay)(program, relayout, first, count);
    };
    if (among) {
        p.b_n = kTileBytes;
        p.b_k = 0;
        p.decompress_line = [relayout](Program& program, const Address& across, const Address& k,
                                       std::int64_t line, const Address& to) {
            decompress_line(program, relayout, across, k, line, to);
        };
    }
    if (map.prefetch_next && compressed) {  // what is to be decompressed next
        const auto next = [&p, &map](std::int64_t first, std::int64_t tile) {
            const std::int64_t column = p.k_tiles * tile;
            p.next.push_back({first + map.n_acc * column, column, tile,
                              ceil_div(tile, std::int64_t{kRowBytes})});
        };
        if (sparse) {  // by the tiles' mean length: a pointer that moves evenly
            next(start(0), ceil_div((start(lines) - start(0)) * kMaxRows, lines));
            next(relayout.masks, kMaxRows * kMaskBytes);
        } else {
            next(relayout.raw, kNarrowTileBytes);
        }
    }
}

// The thread's operands: what it reads, and with C what its caches start with.
void note_regions(LoweredAmx& l, const TileProblem& p, std::int64_t t, std::int64_t taps) {
    const std::int64_t columns = ceil_div(p.n, kMaxRows);
    const std::int64_t pages = static_cast<std::int64_t>(p.pairs.size() > 1 ? 3 : 1);
    std::int64_t a_bytes = (p.row_groups - 1) * p.a_group + ceil_div(p.m, kMaxRows) * p.a_m;
    for (const TileProblem::Tap& tap : p.taps) {  // rows and columns that only later taps reach
        a_bytes += (tap.count - 1) * tap.a_stride;
    }
    for (std::int64_t part = 0; part < pages; ++part) {
        l.reads.push_back({t, p.a + part * l.a_part, a_bytes});
    }
    if (p.prepare_columns) {
        // What the re-layout reads was noted with it.
    } else if (p.b_row == kRowBytes) {
        for (std::int64_t part = 0; part < pages; ++part) {
            l.reads.push_back({t, p.b + part * l.b_part, columns * taps * p.k_tiles * kTileBytes});
        }
    } else {
        l.reads.push_back({t, p.b, p.k_tiles * p.b_k});
    }
    l.warm.push_back({t, p.c, std::max(p.row_groups * p.c_group, ceil_div(p.m, kMaxRows) * p.c_m)});
    for (const AmxRegion& read : l.reads) {
        if (read.thread == t) {
            l.warm.push_back(read);
        }
    }
}

void write_programs(LoweredAmx& l, const TileProblem& whole, const GemmProblem& gemm,
                    const AmxMapping& map, Pages& layout, std::int64_t taps) {
    for (std::int64_t t = 0; t < map.threads; ++t) {
        TileProblem p = whole;
        p.post = post_of(gemm, map, l);
        take_share(p, gemm, map, t, l);
        if (p.m == 0 || p.n == 0 || p.row_groups == 0) {  // more threads than blocks
            l.programs.emplace_back();
            continue;
        }
        prepare(p, gemm, map, l, layout, t);
        note_regions(l, p, t, taps);
        if (p.post.any) {
            const std::int64_t bytes = 2 * map.m_acc * map.n_acc * kTileBytes;
            p.post.temporary = layout.take("temporary" + std::to_string(t), bytes);
            l.warm.push_back({t, p.post.temporary, bytes});
            l.warm.push_back({t, l.scale, kResultBytes});
            l.warm.push_back({t, p.post.bias, ceil_div(p.n, kMaxRows) * kRowBytes});
        }
        Program program;
        generate(program, p, map, [&] {
            if (l.c_copy > 0) {
                reduce(program, map, l, t,
                       gemm.a == DataType::Int8 ? Opcode::Vpaddd : Opcode::Vaddps);
            }
        });
        l.programs.push_back(std::move(program));
    }
    for (Program& program : l.programs) {
        program.buffers = layout.buffers();
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
    Pages layout;
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
    place(l, layout, gemm, map, map.a_packed ? l.m * k_tiles * kRowBytes : l.m * l.a_row, k_tiles);
    const bool pads = map.remainder == AmxMapping::Remainder::Pad;
    const double done = static_cast<double>(pads ? l.m : gemm.m) *
                        static_cast<double>(pads ? l.n : gemm.n) * static_cast<double>(l.k);
    l.padding_waste = 1.0 - gemm.macs() / done;
    write_programs(l, problem_of(gemm, map, l, k_tiles), gemm, map, layout, 1);
    return l;
}

LoweredAmx lower(const ConvolutionProblem& conv, const AmxMapping& map) {
    LoweredAmx l;
    Pages layout;
    const bool joined = map.output_rows == AmxMapping::OutputRows::Joined;
    const std::int64_t groups = joined ? 1 : conv.height;
    GemmProblem gemm = gemm_of(conv);
    gemm.m = joined ? conv.joined_rows() : conv.width;
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
    place(l, layout, gemm, map, conv.input_height() * row + beyond, k_tiles * taps);
    l.c_copy = 0;
    l.c = layout.take("output", groups * l.m * l.c_row);
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
    write_programs(l, p, shared_shape(conv, map), map, layout, taps);
    return l;
}

}  // namespace tilesim::workloads::amx::tiles
