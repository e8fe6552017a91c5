#include "workloads/amx/tiles/whole_socket.hpp"

#include <algorithm>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/block_shapes.hpp"
#include "workloads/amx/tiles/mapping_problems.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::amx::program::kMaxRows;
using arch::base::ceil_div;

std::int64_t k_tile_of(const GemmProblem& gemm) {
    constexpr std::int64_t kTileRowBits = 512;
    return kTileRowBits / std::min<std::int64_t>(16, arch::base::bits_of(gemm.a));  // f32: of parts
}

namespace {

// The largest of the fewest about equal parts of an extent that are no larger than `most`, in whole
// steps; 0: of one.
std::int64_t part_of(std::int64_t extent, std::int64_t most, std::int64_t step) {
    const std::int64_t steps = ceil_div(extent, step);
    const std::int64_t parts = ceil_div(steps, std::max<std::int64_t>(1, most / step));
    return parts > 1 ? ceil_div(steps, parts) * step : 0;
}

// A, which the first block of columns reads from memory: some tiles ahead, about as long as DRAM
// takes. Further ahead the first ones, which nothing has prefetched, wait behind those prefetched
// for later. A core's only block of rows: half as many, since its first ones are late anyhow.
void prefetch_first_rows(AmxMapping& map, std::int64_t parts, bool only_block) {
    constexpr std::int64_t kTiles = 4;
    map.prefetch_a = std::max<std::int64_t>(kTiles / (only_block ? 2 : 1) / parts, 1);
    map.prefetch_a_once = true;
    map.prefetch_l1 = false;
}

}  // namespace

AmxMapping whole_socket(const GemmProblem& gemm, std::int64_t m_acc, std::int64_t n_acc,
                        const AmxConfig& socket) {
    AmxMapping map;
    map.m_acc = m_acc;
    map.n_acc = n_acc;
    map.data_in = AmxMapping::DataIn::Memory;
    map.partition = AmxMapping::Partition::MN;
    map.threads = threads_for(gemm, {m_acc, n_acc}, socket.cores);
    const bool compressed = decompresses(gemm, map);
    const L1Use use = use_of_l1(gemm, map, socket);
    map.a_nontemporal = use.a_nontemporal;
    map.kc = part_of(gemm.k, use.k_tiles * k_tile_of(gemm), k_tile_of(gemm));
    if (!compressed && m_acc * n_acc + n_acc < arch::amx::program::kTiles) {
        map.order = AmxMapping::Order::Switched;
    }
    // Tiles of A in order of k, as B's: rows of a power of two of bytes share sets of the L1. Rows
    // of C an odd number of lines apart, for the same reason.
    map.a_packed = true;
    constexpr std::int64_t kLine = 64;
    const std::int64_t c_row = ceil_div(gemm.n, kMaxRows) * kMaxRows * bytes_of(gemm.c);
    map.c_padding = c_row % (2 * kLine) == 0 ? kLine : 0;
    map.prefetch_next = map.b_layout == AmxMapping::BLayout::Packed && gemm.a != DataType::F32;
    // Few rows multiply as fast as lines come: they would wait for those in front.
    map.prefetch_first = map.prefetch_next && gemm.m >= kMaxRows;
    prefetch_first_rows(map, gemm.a == DataType::F32 ? 3 : 1,
                        busiest_share(gemm, map, shares_of_n(gemm, map)).m <= m_acc * kMaxRows);
    if (gemm.m < kMaxRows) {  // one configuration does, and shorter tiles read fewer lines
        map.remainder = AmxMapping::Remainder::Smaller;
    }
    constexpr std::int64_t kMostDepth = 64;  // of a k tile
    if (compressed && gemm.m <= m_acc * kMaxRows && gemm.k > kMostDepth) {
        map.decompress = AmxMapping::Decompress::Interleaved;
        map.decompress_steps = gemm.b == DataType::Int4 ? 2 : 3;  // int4: two lines at a time
    }
    return map;
}

AmxMapping whole_socket(const GemmProblem& gemm, const AmxConfig& socket,
                        const arch::memory::device::MemoryConfig& memory) {
    const BlockShape shape = shapes_by_expectation(gemm, socket, memory).front();
    return whole_socket(gemm, shape.m_acc, shape.n_acc, socket);
}

std::int64_t threads_of(const ConvolutionProblem& convolution, const AmxMapping& map,
                        std::int64_t cores) {
    return std::min(cores, shared_shape(convolution, map).m / (map.m_acc * kMaxRows) *
                               ceil_div(convolution.filters, map.n_acc * kMaxRows));
}

AmxMapping whole_socket(const ConvolutionProblem& convolution, std::int64_t m_acc,
                        std::int64_t n_acc, std::int64_t cores) {
    AmxMapping map;
    map.m_acc = m_acc;
    map.n_acc = n_acc;
    map.data_in = AmxMapping::DataIn::Memory;
    map.partition = AmxMapping::Partition::MN;
    if (m_acc * n_acc + n_acc < arch::amx::program::kTiles) {
        map.order = AmxMapping::Order::Switched;
    }
    const std::int64_t apart = convolution.height * ceil_div(convolution.width, kMaxRows);
    if (convolution.stride == 1 && ceil_div(convolution.joined_rows(), kMaxRows) <= apart) {
        map.output_rows = AmxMapping::OutputRows::Joined;
        map.prefetch_next = convolution.a != DataType::F32;
    }
    map.threads = threads_of(convolution, map, cores);
    return map;
}

}  // namespace tilesim::workloads::amx::tiles
