#include "workloads/amx/tiles/block_shapes.hpp"

#include <algorithm>
#include <tuple>

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::kMaxRows;
using arch::base::ceil_div;

namespace {

// Tiles that a block of the shape loads for each of its products.
double loads_of(const BlockShape& shape) {
    return static_cast<double>(shape.m_acc + shape.n_acc) /
           static_cast<double>(shape.m_acc * shape.n_acc);
}

// Cycles of a k tile on the busiest core: TMUL's while lines come from far away, or those of the
// L2's path, beneath which half of these lines come. Lines of the first block are as far as DRAM;
// of the others A and B were prefetched.
double expected_cycles(const GemmProblem& gemm, const BlockShape& shape, std::int64_t cores) {
    constexpr double kProduct = 16;
    constexpr double kTileFromL2 = 16 / 0.75;  // 16 lines at 48 B/cycle
    constexpr double kFarLine = 8;
    constexpr double kPrefetchedLine = 3;
    constexpr double kHidden = 0.5;
    AmxMapping map;
    map.m_acc = shape.m_acc;
    map.n_acc = shape.n_acc;
    map.partition = AmxMapping::Partition::MN;
    map.threads = threads_for(gemm, shape, cores);
    const BusiestShare share = busiest_share(gemm, map, shares_of_n(gemm, map));
    const auto lines = [](std::int64_t all, std::int64_t tiles) {
        const auto first = static_cast<double>(std::min(all, tiles * kMaxRows));
        return kFarLine * first + kPrefetchedLine * (static_cast<double>(all) - first);
    };
    const bool split = gemm.a == DataType::F32;  // of three parts, six of the products
    const double products = static_cast<double>(share.m / kMaxRows * (share.n / kMaxRows));
    const double far =
        (split ? 3 : 1) * (lines(share.m, shape.m_acc) + lines(share.n, shape.n_acc));
    return std::max((split ? 6 : 1) * products * kProduct + far,
                    (split ? 3 : 1) * products * loads_of(shape) * kTileFromL2 + kHidden * far);
}

}  // namespace

bool fits(const BlockShape& shape, const GemmProblem& gemm) {
    return shape.m_acc <= ceil_div(gemm.m, kMaxRows) && shape.n_acc <= ceil_div(gemm.n, kMaxRows);
}

std::int64_t threads_for(const GemmProblem& gemm, const BlockShape& shape, std::int64_t cores) {
    return std::min(
        cores, ceil_div(gemm.m, shape.m_acc * kMaxRows) * ceil_div(gemm.n, shape.n_acc * kMaxRows));
}

std::vector<BlockShape> shapes_by_expectation(const GemmProblem& gemm,
                                              const arch::amx::AmxConfig& socket) {
    std::vector<BlockShape> shapes{{2, 2}, {1, 4}, {4, 1}, {1, 3}, {3, 1}, {1, 2}, {2, 1}, {1, 1}};
    // Compressed B is decompressed for each block of rows, which no line's way hides: large blocks
    // first.
    if (decompresses(gemm, AmxMapping{})) {
        return shapes;
    }
    std::erase_if(shapes, [&](const BlockShape& shape) { return !fits(shape, gemm); });
    // Three or four tiles of columns are one block where a core has more rows of A than columns of
    // B: A is passed over once.
    const std::int64_t columns = ceil_div(gemm.n, kMaxRows);
    const bool one_pass = (columns == 3 || columns == 4) && gemm.m / socket.cores > gemm.n;
    const auto order = [&](const BlockShape& shape) {
        const bool passes = one_pass && shape != BlockShape{1, columns};
        return std::tuple{passes, expected_cycles(gemm, shape, socket.cores), loads_of(shape)};
    };
    std::stable_sort(shapes.begin(), shapes.end(),
                     [&](const BlockShape& a, const BlockShape& b) { return order(a) < order(b); });
    return shapes;
}

}  // namespace tilesim::workloads::amx::tiles
