#include "workloads/amx/tiles/amx_layout.hpp"

#include <algorithm>
#include <bit>

#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_relayout.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::kMaxRows;
using arch::amx::program::kTileBytes;
using arch::base::ceil_div;

namespace {

std::int64_t parts_of(DataType type) {
    return type == DataType::F32 ? 3 : 1;  // f32 operands are three bf16
}

// B that is re-laid at run time, as it is stored.
void place_raw(LoweredAmx& l, Pages& pages, const GemmProblem& gemm, const AmxMapping& map,
               std::int64_t tiles) {
    if (map.b_layout == AmxMapping::BLayout::Sparse) {
        l.lines = {"lines", {0}};
        for (const std::uint64_t mask : l.line_masks) {
            l.lines.starts.push_back(l.lines.starts.back() + std::popcount(mask));
        }
        l.raw = pages.take("b_values", std::max<std::int64_t>(l.lines.starts.back(), 1));
        for (std::int64_t& start : l.lines.starts) {
            start += l.raw;
        }
        l.masks = pages.take("b_masks", tiles * kMaxRows * kMaskBytes);
    } else if (decompresses(gemm, map)) {
        l.raw = pages.take("b", tiles * kNarrowTileBytes);
        l.nibbles = gemm.b == DataType::Int4 ? pages.take("nibbles", kNibbleMaskBytes) : 0;
    } else {
        l.raw_row = l.n * stored_bytes(gemm.b);
        l.raw = pages.take("b", l.k * l.raw_row);
    }
}

}  // namespace

std::int64_t Pages::take(const std::string& name, std::int64_t bytes) {
    const std::int64_t address = next_;
    next_ += ceil_div(bytes, kPage) * kPage;
    buffers_.push_back({name, address, bytes});
    return address;
}

std::int64_t stored_bytes(DataType type) {
    return type == DataType::Int8 ? 1 : 2;
}

bool relaid(const GemmProblem& gemm, const AmxMapping& map) {
    return map.b_layout == AmxMapping::BLayout::RowMajor || decompresses(gemm, map);
}

void place(LoweredAmx& l, Pages& pages, const GemmProblem& gemm, const AmxMapping& map,
           std::int64_t a_bytes, std::int64_t k_tiles) {
    const std::int64_t tiles = l.n / kMaxRows * k_tiles;
    l.b_part = tiles * kTileBytes;
    l.a_part = ceil_div(a_bytes, kPage) * kPage;
    l.a = pages.take("a", l.a_part * parts_of(gemm.a));
    if (relaid(gemm, map)) {
        place_raw(l, pages, gemm, map, tiles);
    } else {
        l.b = pages.take("b", l.b_part * parts_of(gemm.b));
    }
    const std::int64_t c_bytes = l.m * l.c_row;
    const bool copies = map.partition == AmxMapping::Partition::K && map.threads > 1;
    l.c_copy = copies ? ceil_div(c_bytes, kPage) * kPage : 0;
    l.c = pages.take("c", copies ? l.c_copy * map.threads : c_bytes);
    l.scale = pages.take("scale", kResultBytes);
    l.bias = pages.take("bias", l.n * kResultBytes);
}

}  // namespace tilesim::workloads::amx::tiles
