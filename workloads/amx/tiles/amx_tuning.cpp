#include "workloads/amx/tiles/amx_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/amx/program/tile_config.hpp"
#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/key_alternatives.hpp"
#include "workloads/amx/tiles/mapping_problems.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::amx::program::kMaxRows;
using arch::base::ceil_div;

namespace {

// Tiles of a product along each extent, and the bytes of A and B that some core has to read: of a
// convolution those of its filters.
struct TileCounts {
    std::int64_t m = 0, k = 0, n = 0;
    std::int64_t a_bytes = 0, b_bytes = 0;
};

// From DRAM, each once. How much of sparse weights is there is not known before they are drawn.
double bytes_from_dram(const AmxMapping& map, const TileCounts& tiles) {
    const bool cold = map.data_in == AmxMapping::DataIn::Memory && map.runs == 1;
    const bool sparse = map.b_layout == AmxMapping::BLayout::Sparse;
    return cold ? static_cast<double>(tiles.a_bytes + (sparse ? 0 : tiles.b_bytes)) : 0;
}

// What the multiplier, the load ports and DRAM need at least, the rows of A as they are, the work
// shared out evenly.
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
    const double cycle_ns =
        arch::base::ns_of(arch::base::Cycles{1}, a_case.device.get<AmxConfig>().clock) /
        static_cast<double>(map.threads);
    const auto repeat = static_cast<double>(map.repeat);
    GemmBounds bounds;
    bounds.compute_ns = static_cast<double>(gemm.m * tiles.n * tiles.k) * repeat * cycle_ns;
    bounds.stream_ns = static_cast<double>(lines) * repeat * cycle_ns /
                       static_cast<double>(a_case.device.get<AmxConfig>().access.load_lines);
    bounds.dram_bytes = bytes_from_dram(map, tiles);
    bounds.memory_ns = bounds.dram_bytes / a_case.device.memory.peak_bytes_per_second() *
                       arch::base::kNanosecondsPerSecond;
    return bounds;
}

void add_amx(std::vector<Candidate>& list, const Dataflow& dataflow, const Case& a_case,
             const GemmProblem& gemm, const AmxMapping& map, const TileCounts& tiles) {
    if (!problems_of(gemm, map, a_case.device.get<AmxConfig>().cores).empty()) {
        return;
    }
    Candidate candidate;
    candidate.name = fmt::format(
        "{} x {} {}, B {}{}{}{}{}", map.m_acc, map.n_acc, name_of(map.order), name_of(map.b_layout),
        map.nc > 0 ? fmt::format(", nc {}", map.nc) : "",
        map.kc > 0 ? fmt::format(", kc {}", map.kc) : "",
        map.decompress == AmxMapping::Decompress::Interleaved ? ", decompressed among products"
                                                              : "",
        map.threads > 1 ? fmt::format(", {} threads", map.threads) : "");
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
                    const GemmProblem& gemm, const AmxMapping& map, const TileCounts& tiles) {
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
                AmxMapping block = map;
                block.b_layout = layout;
                block.nc = nc;
                block.kc = kc;
                block.prefetch_next = map.prefetch_next && layout == AmxMapping::BLayout::Packed;
                block.prefetch_first = map.prefetch_first && block.prefetch_next;
                add_amx(list, dataflow, a_case, gemm, block, tiles);
            }
        }
    }
}

TileCounts tiles_of(const GemmProblem& gemm) {
    return {ceil_div(gemm.m, kMaxRows), ceil_div(gemm.k, k_tile_of(gemm)),
            ceil_div(gemm.n, kMaxRows), arch::base::bytes_of(gemm.m * gemm.k, gemm.a),
            arch::base::bytes_of(gemm.k * gemm.n, gemm.b)};
}

// The product that has all of a convolution's output positions and filter taps.
GemmProblem whole_gemm(const ConvolutionProblem& convolution) {
    GemmProblem gemm = gemm_of(convolution);
    gemm.m *= convolution.height;
    gemm.k = ceil_div(gemm.k, k_tile_of(gemm)) * k_tile_of(gemm) * convolution.kh * convolution.kw;
    return gemm;
}

TileCounts tiles_of(const ConvolutionProblem& convolution) {
    TileCounts tiles = tiles_of(whole_gemm(convolution));
    const GemmProblem tap = gemm_of(convolution);
    tiles.a_bytes = 0;
    tiles.b_bytes = arch::base::bytes_of(tap.k * convolution.kh * convolution.kw * tap.n, tap.b);
    return tiles;
}

}  // namespace

double steps_of(const GemmProblem& gemm, const AmxMapping& map) {
    constexpr double kLine = 64;
    const TileCounts tiles = tiles_of(gemm);
    // Every share of n reads the rows of A, every share of m the columns of B.
    const bool grid = map.partition == AmxMapping::Partition::MN;
    const std::int64_t across = grid ? shares_of_n(gemm, map) : 1;
    const std::int64_t down = grid ? map.threads / across : 1;
    const auto bytes = static_cast<double>(across * gemm.m * gemm.k * bytes_of(gemm.a) +
                                           down * arch::base::bytes_of(gemm.k * gemm.n, gemm.b) +
                                           gemm.m * gemm.n * bytes_of(gemm.c));
    return static_cast<double>(tiles.m * tiles.k * tiles.n) + bytes / kLine;
}

double steps_of(const ConvolutionProblem& convolution) {
    return steps_of(whole_gemm(convolution), AmxMapping{});
}

std::vector<Candidate> convolution_candidates(const Dataflow& dataflow, const Case& a_case) {
    const auto& convolution = a_case.problem.get<ConvolutionProblem>();
    const GemmProblem gemm = whole_gemm(convolution);
    const std::int64_t cores = a_case.device.get<AmxConfig>().cores;
    std::vector<Candidate> list;
    using Order = AmxMapping::Order;
    using Rows = AmxMapping::OutputRows;
    const auto add = [&](std::int64_t m_acc, std::int64_t n_acc, Order order, Rows rows) {
        AmxMapping map = a_case.mapping.empty() ? whole_socket(convolution, m_acc, n_acc, cores)
                                                : a_case.mapping.get<AmxMapping>();
        map.m_acc = m_acc;
        map.n_acc = n_acc;
        map.order = order;
        map.output_rows = rows;
        map.prefetch_next = map.prefetch_next && rows == Rows::Joined;
        if (a_case.mapping.empty()) {
            map.threads = threads_of(convolution, map, cores);
        }
        const std::size_t before = list.size();
        add_amx(list, dataflow, a_case, gemm, map, tiles_of(convolution));
        if (list.size() > before && rows == Rows::Joined) {
            list.back().name += ", output rows joined";
        }
    };
    for (std::int64_t m_acc = 1; m_acc < arch::amx::program::kTiles; ++m_acc) {
        for (std::int64_t n_acc = 1; n_acc < arch::amx::program::kTiles; ++n_acc) {
            for (const Order order : {Order::Interleaved, Order::Preloaded, Order::Switched,
                                      Order::Reference, Order::KInnermost}) {
                add(m_acc, n_acc, order, Rows::Apart);
                if (convolution.stride == 1) {
                    add(m_acc, n_acc, order, Rows::Joined);
                }
            }
        }
    }
    for (Candidate& each : list) {
        each.expected_ns = each.bounds.compute_ns + each.bounds.stream_ns;
    }
    return list;
}

std::vector<Candidate> candidates_of(const Dataflow& dataflow, const Case& a_case) {
    const auto& gemm = a_case.problem.get<GemmProblem>();
    using Order = AmxMapping::Order;
    const TileCounts tiles = tiles_of(gemm);
    std::vector<Candidate> list;
    for (std::int64_t m_acc = 1; m_acc < arch::amx::program::kTiles; ++m_acc) {
        for (std::int64_t n_acc = 1; n_acc < arch::amx::program::kTiles; ++n_acc) {
            AmxMapping map = a_case.mapping.empty()
                                 ? whole_socket(gemm, m_acc, n_acc, a_case.device.get<AmxConfig>())
                                 : a_case.mapping.get<AmxMapping>();
            map.m_acc = m_acc;
            map.n_acc = n_acc;
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

std::vector<Candidate> variants_of(const Dataflow& dataflow, const Case& a_case,
                                   const AmxMapping& mapping) {
    const auto& gemm = a_case.problem.get<GemmProblem>();
    std::vector<Candidate> list;
    for (const std::vector<AmxMapping>& key :
         alternatives_of(gemm, a_case.device.get<AmxConfig>(), a_case.device.memory, mapping)) {
        for (const AmxMapping& each : key) {
            add_amx(list, dataflow, a_case, gemm, each, tiles_of(gemm));
        }
    }
    return list;
}

}  // namespace tilesim::workloads::amx::tiles
