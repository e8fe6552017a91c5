#include "workloads/amx/tiles/block_shapes.hpp"

#include <algorithm>
#include <tuple>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::amx::program::kMaxRows;
using arch::base::ceil_div;

namespace {

// Tiles that a block of the shape loads for each of its products.
double loads_of(const BlockShape& shape) {
    return static_cast<double>(shape.m_acc + shape.n_acc) /
           static_cast<double>(shape.m_acc * shape.n_acc);
}

// Cycles that the loads of one product take: a tile from the L2 is 16 lines at 48 B/cycle. B's
// tiles are still in the L1 as the next block of rows comes to them where that block's tiles of A
// fit in beside them: two lines a cycle, had no others to be put there.
double load_cycles(const BlockShape& shape, std::int64_t k_tiles, bool more_rows,
                   const AmxConfig& socket) {
    constexpr double kTileFromL2 = 16 / 0.75;
    constexpr double kTileFromL1 = 12;
    constexpr std::int64_t kTileBytes = 1024;
    const std::int64_t bytes = (shape.m_acc + shape.n_acc) * k_tiles * kTileBytes;
    const bool stays = more_rows && bytes <= socket.caches.l1.size.count();
    return kTileFromL2 / static_cast<double>(shape.n_acc) +
           (stays ? kTileFromL1 : kTileFromL2) / static_cast<double>(shape.m_acc);
}

// Cycles of ports or of stores in which AVX-512 makes a tile of compressed B; 0: it is not.
double decompression_cycles(const GemmProblem& gemm) {
    constexpr double kTileOfBf16 = 72;
    constexpr double kTileOfInt8 = 16;  // a line a cycle
    if (!decompresses(gemm, AmxMapping{})) {
        return 0;
    }
    return gemm.b == DataType::Int4 ? kTileOfInt8 : kTileOfBf16;
}

// Cycles of a k tile on the busiest core: TMUL's while lines come from far away, or those of the
// loads, beneath which a quarter of these lines come. Lines of the first block are as far as DRAM;
// of the others A and B were prefetched. C's, which nothing prefetches, are read, too, before they
// are written: the fewer k tiles there are, the more of them for each. Compressed B is decompressed
// once for each block of rows, in front of its products; where one block has all, among them.
double expected_cycles(const GemmProblem& gemm, const BlockShape& shape, const AmxConfig& socket) {
    constexpr double kProduct = 16;
    constexpr double kFarLine = 8;
    constexpr double kPrefetchedLine = 3;
    constexpr double kExposed = 0.75;
    constexpr double kLine = 64;
    AmxMapping map;
    map.m_acc = shape.m_acc;
    map.n_acc = shape.n_acc;
    map.partition = AmxMapping::Partition::MN;
    map.threads = threads_for(gemm, shape, socket.cores);
    const BusiestShare share = busiest_share(gemm, map, shares_of_n(gemm, map));
    const auto lines = [](std::int64_t all, std::int64_t tiles) {
        const auto first = static_cast<double>(std::min(all, tiles * kMaxRows));
        return kFarLine * first + kPrefetchedLine * (static_cast<double>(all) - first);
    };
    const std::int64_t parts = gemm.a == DataType::F32 ? 3 : 1;  // six products of them
    const std::int64_t k_tiles = ceil_div(gemm.k, k_tile_of(gemm));
    const auto products = static_cast<double>(share.m / kMaxRows * (share.n / kMaxRows));
    const std::int64_t rows = gemm.m < kMaxRows ? gemm.m : share.m;  // few ones are not padded
    const double c_lines = static_cast<double>(rows * share.n * bytes_of(gemm.c)) / kLine;
    const double decompression = decompression_cycles(gemm) *
                                 static_cast<double>(share.n / kMaxRows) *
                                 static_cast<double>(ceil_div(share.m, shape.m_acc * kMaxRows));
    const bool among_products = gemm.m <= shape.m_acc * kMaxRows;
    const double computes = (parts > 1 ? 6 : 1) * products * kProduct;
    const double share_of_bytes = decompression > 0 ? 0.5 : 1;  // of a line of B
    const double far = static_cast<double>(parts) * (lines(rows, shape.m_acc) +
                                                     share_of_bytes * lines(share.n, shape.n_acc)) +
                       kFarLine * c_lines / static_cast<double>(k_tiles);
    const double loads =
        load_cycles(shape, parts * k_tiles, share.m > shape.m_acc * kMaxRows, socket);
    const double multiplies =
        std::max(computes + far, static_cast<double>(parts) * products * loads + kExposed * far);
    return among_products ? std::max(multiplies, decompression + kExposed * far)
                          : multiplies + decompression;
}

}  // namespace

bool fits(const BlockShape& shape, const GemmProblem& gemm) {
    return shape.m_acc <= ceil_div(gemm.m, kMaxRows) && shape.n_acc <= ceil_div(gemm.n, kMaxRows);
}

std::int64_t threads_for(const GemmProblem& gemm, const BlockShape& shape, std::int64_t cores) {
    return std::min(
        cores, ceil_div(gemm.m, shape.m_acc * kMaxRows) * ceil_div(gemm.n, shape.n_acc * kMaxRows));
}

std::vector<BlockShape> shapes_by_expectation(const GemmProblem& gemm, const AmxConfig& socket) {
    std::vector<BlockShape> shapes{{2, 2}, {1, 4}, {4, 1}, {1, 3}, {3, 1}, {1, 2}, {2, 1}, {1, 1}};
    std::erase_if(shapes, [&](const BlockShape& shape) { return !fits(shape, gemm); });
    // Three or four tiles of columns are one block where a core has more rows of A than columns of
    // B: A is passed over once. Compressed B would be decompressed the more often.
    const std::int64_t columns = ceil_div(gemm.n, kMaxRows);
    const bool one_pass = decompression_cycles(gemm) == 0 && (columns == 3 || columns == 4) &&
                          gemm.m / socket.cores > gemm.n;
    const auto order = [&](const BlockShape& shape) {
        const bool passes = one_pass && shape != BlockShape{1, columns};
        return std::tuple{passes, expected_cycles(gemm, shape, socket), loads_of(shape)};
    };
    std::stable_sort(shapes.begin(), shapes.end(),
                     [&](const BlockShape& a, const BlockShape& b) { return order(a) < order(b); });
    return shapes;
}

}  // namespace tilesim::workloads::amx::tiles
