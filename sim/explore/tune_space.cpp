#include "sim/explore/tune_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "arch/amx/program/instruction.hpp"
#include "workloads/npu/output_stationary/mapping_search.hpp"
#include "workloads/pim/gemv/pim.hpp"

namespace tilesim::sim::explore {

using arch::base::ceil_div;
using arch::base::config::ConfigError;
using Json = nlohmann::ordered_json;
using workloads::AmxMapping;
using workloads::OutputStationaryMapping;
using workloads::PimMapping;

namespace {

constexpr double kNanosecondsPerSecond = 1e9;

// One setting for each key of the mapping; what the scenario says beyond them stays.
Settings settings_of(const Json& mapping) {
    Settings settings;
    for (const auto& [kind, keys] : mapping.items()) {
        for (const auto& [key, value] : keys.items()) {
            settings.emplace_back(fmt::format("mapping.{}.{}", kind, key),
                                  value.is_string() ? value.get<std::string>() : value.dump());
        }
    }
    return settings;
}

TuneCandidate candidate_of(const OutputStationaryMapping& map,
                           const workloads::GemmBounds& bounds) {
    TuneCandidate candidate;
    candidate.name = fmt::format("{} x {} x {}, k_mt {}{}", map.m_ct, map.k_ct, map.n_ct, map.k_mt,
                                 map.c_buffers == 2 ? ", C double" : "");
    candidate.mapping = {{"output_stationary",
                          {{"m_ct", map.m_ct},
                           {"k_ct", map.k_ct},
                           {"n_ct", map.n_ct},
                           {"k_mt", map.k_mt},
                           {"c_buffers", map.c_buffers},
                           {"shim_bds", "overlapped"}}}};
    candidate.settings = settings_of(candidate.mapping);
    candidate.bounds = bounds;
    candidate.output_stationary = map;
    return candidate;
}

TuneSpace npu_space(const Scenario& scenario, const workloads::GemmProblem& gemm) {
    const CandidateSet set = candidates_of(gemm, *scenario.device.npu, scenario.device.memory);
    TuneSpace space{set.legal, {}};
    for (const Candidate& candidate : set.candidates) {
        space.candidates.push_back(candidate_of(candidate.mapping, candidate.bounds));
    }
    return space;
}

// A placement differs from another when this does: what does not fit is reduced by `place`.
using PlacementKey = std::array<std::int64_t, 3>;

// Its commands counted without refresh, so that no simulation is faster.
double pim_bound_ns(const Scenario& scenario, const workloads::GemvProblem& gemv,
                    const workloads::PimPlacement& placement) {
    const std::int64_t cycles = workloads::closed_form_cycles(
        gemv, placement, scenario.device.memory, *scenario.device.pim);
    const auto clock = static_cast<double>(scenario.device.memory.clock.count());
    return static_cast<double>(cycles) / clock * kNanosecondsPerSecond +
           system::reduction_ns(scenario.device.soc, gemv, placement);
}

void add_placement(TuneSpace& space, std::set<PlacementKey>& seen, const Scenario& scenario,
                   const workloads::GemvProblem& gemv, const PimMapping& mapping) {
    workloads::PimPlacement placement;
    try {
        placement = workloads::place(gemv, mapping, scenario.device.memory, *scenario.device.pim);
    } catch (const ConfigError&) {
        return;  // does not fit
    }
    const PlacementKey key{placement.mapping.input_registers, placement.degree, mapping.split_k};
    if (!seen.insert(key).second) {
        return;
    }
    ++space.legal;
    TuneCandidate candidate;
    candidate.name = fmt::format("{} input registers, degree {}, K in {}", key[0], key[1], key[2]);
    candidate.mapping = {
        {"pimnast", {{"input_registers", key[0]}, {"cr_degree", key[1]}, {"split_k", key[2]}}}};
    candidate.settings = {{"mapping", candidate.mapping.dump()}};
    candidate.bounds.compute_ns = pim_bound_ns(scenario, gemv, placement);
    space.candidates.push_back(std::move(candidate));
}

TuneSpace pim_space(const Scenario& scenario, const workloads::GemvProblem& gemv) {
    TuneSpace space;
    const arch::pim::PimConfig& pim = *scenario.device.pim;
    std::set<PlacementKey> seen;
    for (std::int64_t split = 1; split <= scenario.device.memory.channels; split *= 2) {
        for (std::int64_t inputs = 1; inputs < pim.registers; ++inputs) {
            // More row blocks in a pass than registers for their outputs do not fit.
            for (std::int64_t degree = 1; degree <= pim.registers; ++degree) {
                add_placement(space, seen, scenario, gemv,
                              {PimMapping::Placement::Balanced, inputs, degree, split});
            }
        }
    }
    if (!scenario.run.functional) {
        ++space.legal;
        TuneCandidate columns;
        columns.name = "column-major";
        columns.mapping = {{"column_major", Json::object()}};
        columns.settings = {{"mapping", columns.mapping.dump()}};
        // Every bank multiplies a word an interval at best.
        const double banks =
            static_cast<double>(scenario.device.memory.channels * scenario.device.memory.banks());
        const double lanes =
            static_cast<double>(pim.register_bits / arch::base::bits_of(gemv.weights));
        columns.bounds.compute_ns =
            gemv.macs() / (banks * lanes) * static_cast<double>(pim.command_interval.count()) /
            static_cast<double>(scenario.device.memory.clock.count()) * kNanosecondsPerSecond;
        space.candidates.push_back(std::move(columns));
    }
    return space;
}

// Tiles of a product along each extent.
struct TileCounts {
    std::int64_t m = 0, k = 0, n = 0;
};

// What the multiplier and the load ports need at least, the rows of A as they are, the work shared
// out evenly.
workloads::GemmBounds amx_bounds(const Scenario& scenario, const workloads::GemmProblem& gemm,
                                 const AmxMapping& map, const TileCounts& tiles) {
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
                            static_cast<double>(scenario.device.amx->clock.count()) /
                            static_cast<double>(map.threads);
    const auto repeat = static_cast<double>(map.repeat);
    workloads::GemmBounds bounds;
    bounds.compute_ns = static_cast<double>(gemm.m * tiles.n * tiles.k) * repeat * cycle_ns;
    bounds.stream_ns = static_cast<double>(lines) * repeat * cycle_ns /
                       static_cast<double>(scenario.device.amx->access.load_lines);
    return bounds;
}

void add_amx(TuneSpace& space, const Scenario& scenario, const workloads::GemmProblem& gemm,
             const AmxMapping& map, const TileCounts& tiles) {
    if (!workloads::problems_of(gemm, map, scenario.device.amx->cores).empty()) {
        return;
    }
    ++space.legal;
    TuneCandidate candidate;
    candidate.name =
        fmt::format("{} x {} {}, B {}{}{}", map.m_acc, map.n_acc, name_of(map.order),
                    name_of(map.b_layout), map.nc > 0 ? fmt::format(", nc {}", map.nc) : "",
                    map.kc > 0 ? fmt::format(", kc {}", map.kc) : "");
    candidate.mapping = {{"amx",
                          {{"m_acc", map.m_acc},
                           {"n_acc", map.n_acc},
                           {"order", name_of(map.order)},
                           {"b_layout", name_of(map.b_layout)},
                           {"nc", map.nc},
                           {"kc", map.kc}}}};
    candidate.settings = settings_of(candidate.mapping);
    candidate.bounds = amx_bounds(scenario, gemm, map, tiles);
    space.candidates.push_back(std::move(candidate));
}

// Sparse weights stay sparse; otherwise B may be packed, re-laid as a whole or as stored.
std::vector<AmxMapping::BLayout> layouts_of(const AmxMapping& given) {
    using Layout = AmxMapping::BLayout;
    return given.b_layout == Layout::Sparse
               ? std::vector{Layout::Sparse}
               : std::vector{Layout::Packed, Layout::Vnni, Layout::RowMajor};
}

// Every layout of B and every cache block of N and K.
void add_amx_blocks(TuneSpace& space, const Scenario& scenario, const workloads::GemmProblem& gemm,
                    AmxMapping map, const TileCounts& tiles) {
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
                add_amx(space, scenario, gemm, map, tiles);
            }
        }
    }
}

TuneSpace amx_space(const Scenario& scenario, const workloads::GemmProblem& gemm) {
    using Order = AmxMapping::Order;
    AmxMapping given;
    if (const auto* map = std::get_if<AmxMapping>(&scenario.mapping)) {
        given = *map;
    }
    constexpr std::int64_t kTileRows = 16;
    constexpr std::int64_t kTileRowBits = 512;
    const std::int64_t tile_k =
        kTileRowBits / std::min<std::int64_t>(16, arch::base::bits_of(gemm.a));
    const TileCounts tiles{ceil_div(gemm.m, kTileRows), ceil_div(gemm.k, tile_k),
                           ceil_div(gemm.n, kTileRows)};
    TuneSpace space;
    AmxMapping map = given;
    for (map.m_acc = 1; map.m_acc < arch::amx::program::kTiles; ++map.m_acc) {
        for (map.n_acc = 1; map.n_acc < arch::amx::program::kTiles; ++map.n_acc) {
            for (const Order order : {Order::Interleaved, Order::Preloaded, Order::Switched,
                                      Order::Reference, Order::KInnermost}) {
                map.order = order;
                add_amx_blocks(space, scenario, gemm, map, tiles);
            }
        }
    }
    // Many have equal bounds: those that load least come first.
    std::stable_sort(space.candidates.begin(), space.candidates.end(),
                     [](const TuneCandidate& a, const TuneCandidate& b) {
                         return a.bounds.stream_ns < b.bounds.stream_ns;
                     });
    return space;
}

}  // namespace

TuneSpace tune_space(const Scenario& scenario) {
    TuneSpace space;
    const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload);
    const auto* gemv = std::get_if<workloads::GemvProblem>(&scenario.workload);
    if (gemm != nullptr && scenario.device.npu) {
        space = npu_space(scenario, *gemm);
    } else if (gemm != nullptr && scenario.device.amx) {
        space = amx_space(scenario, *gemm);
    } else if (scenario.device.pim && (gemv != nullptr || gemm != nullptr)) {
        space = pim_space(scenario, gemv != nullptr ? *gemv : system::vector_of(*gemm));
        for (TuneCandidate& each : space.candidates) {  // a gemv for every row of A
            each.bounds.compute_ns *= gemm != nullptr ? static_cast<double>(gemm->m) : 1.0;
        }
    } else {
        throw ConfigError(
            "tune: only a gemm on an NPU, on AMX cores or in memory, and a gemv in memory have "
            "mappings to search");
    }
    if (space.candidates.empty()) {
        throw ConfigError("tune: no mapping of this workload fits the device");
    }
    return space;
}

Excerpt excerpt_of(const Scenario& scenario, const TuneCandidate& candidate) {
    Excerpt excerpt;
    if (!candidate.output_stationary) {
        return excerpt;
    }
    constexpr std::int64_t kRounds = 8;  // the first and the last are a quarter at most
    const auto& gemm = std::get<workloads::GemmProblem>(scenario.workload);
    const OutputStationaryMapping& map = *candidate.output_stationary;
    const arch::npu::NpuConfig& npu = *scenario.device.npu;
    const std::int64_t rows = map.m_ct * npu.core_rows;
    const std::int64_t columns = map.n_ct * npu.columns;
    const std::int64_t taken = ceil_div(kRounds, ceil_div(gemm.n, columns));
    const std::int64_t all = ceil_div(gemm.m, rows);
    if (taken < all) {
        excerpt.settings = {{"workload.gemm.M", std::to_string(taken * rows)}};
        constexpr double kFemtosecondsPerNanosecond = 1e6;
        excerpt.fixed_ns = static_cast<double>(npu.command_processor.dispatch.count()) /
                           kFemtosecondsPerNanosecond;
        excerpt.scale = static_cast<double>(all) / static_cast<double>(taken);
    }
    return excerpt;
}

std::vector<TuneCandidate> shorter_blocks(const Scenario& scenario,
                                          const TuneCandidate& candidate) {
    std::vector<TuneCandidate> shorter;
    const auto& gemm = std::get<workloads::GemmProblem>(scenario.workload);
    OutputStationaryMapping map = *candidate.output_stationary;
    for (map.k_mt = map.k_ct; map.k_mt < candidate.output_stationary->k_mt; map.k_mt += map.k_ct) {
        shorter.push_back(candidate_of(
            map, workloads::bounds_of(gemm, map, *scenario.device.npu, scenario.device.memory)));
    }
    return shorter;
}

}  // namespace tilesim::sim::explore
