#include "workloads/amx/tiles/amx_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/amx/program/tile_config.hpp"
#include "arch/base/units.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::base::ceil_div;

namespace {

using arch::base::kNanosecondsPerSecond;

// Tiles of a product along each extent.
struct TileCounts {
    std::int64_t m = 0, k = 0, n = 0;
};

// What the multiplier and the load ports need at least, the rows of A as they are, the work shared
// out evenly.
GemmBounds amx_bounds(const Case& a_case, const GemmProblem& gemm, const AmxMapping& map,
                      const TileCounts& tiles) {
    using Order = AmxMapping::Order;
    const bool loads_a_per_column = map.order == Order::Reference || map.order == Order::KInnermost;
    const bool loads_b_per_row = map.order == Order::KInnermost;
    const std::int64_t columns = loads_a_per_column ? tiles.n : ceil_div(tiles.n, map.n_acc);
    const std::int64_t rows = loads_b_per_row ? tiles.m : ceil_div(tiles.m, map.m_acc);
    constexpr std::int64_t kTileLines = 16;
    const std::int64_t lines =
        map.data_in == AmxMapping::DataIn::Registers
            ? 0
            : gemm.m * tiles.k * columns + tiles.n * tiles.k * kTileLines * rows;
    const double cycle_ns = kNanosecondsPerSecond /
                            static_cast<double>(a_case.device.get<AmxConfig>().clock.count()) /
                            static_cast<double>(map.threads);
    const auto repeat = static_cast<double>(map.repeat);
    GemmBounds bounds;
    bounds.compute_ns = static_cast<double>(gemm.m * tiles.n * tiles.k) * repeat * cycle_ns;
    bounds.stream_ns = static_cast<double>(lines) * repeat * cycle_ns /
                       static_cast<double>(a_case.device.get<AmxConfig>().access.load_lines);
    return bounds;
}

void add_amx(std::vector<Candidate>& list, const Dataflow& dataflow, const Case& a_case,
             const GemmProblem& gemm, const AmxMapping& map, const TileCounts& tiles) {
    if (!problems_of(gemm, map, a_case.device.get<AmxConfig>().cores).empty()) {
        return;
    }
    Candidate candidate;
    candidate.name =
        fmt::format("{} x {} {}, B {}{}{}{}", map.m_acc, map.n_acc, name_of(map.order),
                    name_of(map.b_layout), map.nc > 0 ? fmt::format(", nc {}", map.nc) : "",
                    map.kc > 0 ? fmt::format(", kc {}", map.kc) : "",
                    map.decompress == AmxMapping::Decompress::Interleaved
                        ? ", decompressed among products"
                        : "");
    candidate.mapping = {dataflow, map};
    candidate.bounds = amx_bounds(a_case, gemm, map, tiles);
    list.push_back(std::move(candidate));
    if (decompresses(gemm, map) && map.decompress == AmxMapping::Decompress::Ahead) {
        AmxMapping among = map;
        among.decompress = AmxMapping::Decompress::Interleaved;
        among.prefetch_b = 0;
        add_amx(list, dataflow, a_case, gemm, among, tiles);
    }
}

// Sparse weights stay sparse; otherwise B may be packed, re-laid as a whole or as stored.
std::vector<AmxMapping::BLayout> layouts_of(const AmxMapping& given) {
    using Layout = AmxMapping::BLayout;
    return given.b_layout == Layout::Sparse
               ? std::vector{Layout::Sparse}
               : std::vector{Layout::Packed, Layout::Vnni, Layout::RowMajor};
}

// Every layout of B and every cache block of N and K.
void add_amx_blocks(std::vector<Candidate>& list, const Dataflow& dataflow, const Case& a_case,
                    const GemmProblem& gemm, AmxMapping map, const TileCounts& tiles) {
    const auto blocks = [](std::int64_t extent) {
        std::vector<std::int64_t> sizes{0};
        for (const std::int64_t size : {256, 512, 1024}) {
            if (size < extent) {
                sizes.push_back(size);
            }
        }
        return sizes;
    };
    for (const AmxMapping::BLayout layout : layouts_of(map)) {
        for (const std::int64_t nc : blocks(gemm.n)) {
            for (const std::int64_t kc : blocks(gemm.k)) {
                map.b_layout = layout;
                map.nc = nc;
                map.kc = kc;
                add_amx(list, dataflow, a_case, gemm, map, tiles);
            }
        }
    }
}

}  // namespace

AmxMapping whole_socket(const GemmProblem& gemm, std::int64_t m_acc, std::int64_t n_acc,
                        std::int64_t cores) {
    constexpr std::int64_t kTileRows = 16;
    // Of a cache block, in reduced elements: rows of 1 KiB, so that 32 of A stay in the L1.
    const std::int64_t depth = 1024 / (gemm.a == DataType::Int8 ? 1 : 2);
    constexpr std::int64_t kColumns = 256;  // so that a block of B takes a quarter of the L2
    AmxMapping map;
    map.m_acc = m_acc;
    map.n_acc = n_acc;
    map.data_in = AmxMapping::DataIn::Memory;
    map.partition = AmxMapping::Partition::MN;
    map.threads =
        std::min(cores, ceil_div(gemm.m, m_acc * kTileRows) * ceil_div(gemm.n, n_acc * kTileRows));
    const std::int64_t across = shares_of_n(gemm, map);
    const bool plain =
        gemm.a == DataType::Int8 ? gemm.c == DataType::Int32 : gemm.c == DataType::F32;
    const bool compressed = decompresses(gemm, map);
    const bool blocks = plain && !compressed && gemm.k >= 2 * depth;
    map.kc = blocks ? depth : 0;
    map.nc = gemm.n / across > kColumns ? kColumns : 0;
    map.prefetch_next = map.b_layout == AmxMapping::BLayout::Packed && gemm.a != DataType::F32;
    constexpr std::int64_t kMostDepth = 64;  // of a k tile
    if (compressed && gemm.m <= m_acc * kTileRows && gemm.k > kMostDepth) {
        map.decompress = AmxMapping::Decompress::Interleaved;
    }
    return map;
}

std::vector<Candidate> candidates_of(const Dataflow& dataflow, const Case& a_case, const AmxMapping& given) {
    const auto& gemm = a_case.problem.get<GemmProblem>();
    using Order = AmxMapping::Order;
    constexpr std::int64_t kTileRows = 16;
    constexpr std::int64_t kTileRowBits = 512;
    const std::int64_t tile_k =
        kTileRowBits / std::min<std::int64_t>(16, arch::base::bits_of(gemm.a));
    const TileCounts tiles{ceil_div(gemm.m, kTileRows), ceil_div(gemm.k, tile_k),
                           ceil_div(gemm.n, kTileRows)};
    std::vector<Candidate> list;
    AmxMapping map = given;
    for (map.m_acc = 1; map.m_acc < arch::amx::program::kTiles; ++map.m_acc) {
        for (map.n_acc = 1; map.n_acc < arch::amx::program::kTiles; ++map.n_acc) {
            for (const Order order : {Order::Interleaved, Order::Preloaded, Order::Switched,
                                      Order::Reference, Order::KInnermost}) {
                map.order = order;
                add_amx_blocks(list, dataflow, a_case, gemm, map, tiles);
            }
        }
    }
    // Many have equal bounds: those that load least are expected to be faster.
    for (Candidate& each : list) {
        each.expected_ns = each.bounds.compute_ns + each.bounds.stream_ns;
    }
    return list;
}

}  // namespace tilesim::workloads::amx::tiles
