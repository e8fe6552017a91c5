#include "workloads/npu/output_stationary/mapping_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/mapping_steps.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/mapping_problems.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::base::ceil_div;

namespace {

TileCandidate evaluated(const SearchContext& at, const OutputStationaryMapping& map) {
    const GemmBounds bounds = bounds_of(at.problem, map, at.config, at.path);
    return {map, bounds, expected_ns(at, map, bounds), least_ns(at, map, bounds)};
}

// With descriptors of an output tile, and of a row of blocks where that is expected to be faster: a
// product of a few rounds waits for its descriptors more than for anything a tile changes.
void add_reaches(std::vector<TileCandidate>& candidates, const SearchContext& at,
                 OutputStationaryMapping map) {
    const double tile_ns = candidates.emplace_back(evaluated(at, map)).expected_ns;
    map.reach = OutputStationaryMapping::Reach::BlockRow;
    if (problems_of(at.problem, map, at.config).empty()) {
        if (TileCandidate row = evaluated(at, map); row.expected_ns < tile_ns) {
            candidates.push_back(std::move(row));
        }
    }
}

// A mapping whose tile is open where it is 0: of all cores that may be used, for which every size
// is tried, or of a part of them.
struct Part {
    OutputStationaryMapping map;
    bool all = true;
};

// Core tiles of a block along K; on a part of the array doubles, and those of blocks that pad
// nothing.
std::vector<std::int64_t> blocks_of(const SearchContext& at, const OutputStationaryMapping& map,
                                    const Part& part) {
    if (part.map.k_mt > 0) {
        return part.map.k_mt % map.k_ct == 0 ? std::vector{part.map.k_mt / map.k_ct}
                                             : std::vector<std::int64_t>{};
    }
    const std::int64_t calls = ceil_div(at.problem.k, map.k_ct);
    std::vector<std::int64_t> blocks;
    for (const std::int64_t each : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
        const bool aligned = std::has_single_bit(static_cast<std::uint64_t>(each));
        if (part.all || aligned || calls % each == 0) {
            blocks.push_back(each);
        }
    }
    if (!part.all && calls > blocks.back()) {
        blocks.push_back(calls);
    }
    return blocks;
}

// Every block length along K, C single- and double-buffered, of one core tile.
void add_core_tile(std::vector<TileCandidate>& candidates, const SearchContext& at,
                   OutputStationaryMapping map, const Part& part) {
    const std::int64_t most_c = std::min<std::int64_t>(2, tiles_of(at, map));
    for (map.c_buffers = 1; map.c_buffers <= most_c; ++map.c_buffers) {
        for (const std::int64_t blocks : blocks_of(at, map, part)) {
            map.k_mt = map.k_ct * blocks;
            if (blocks > 1 && map.k_mt >= at.problem.k + map.k_ct && part.map.k_mt == 0) {
                break;  // padding alone
            }
            if (!problems_of(at.problem, map, at.config).empty()) {
                if (blocks == 1) {
                    return;  // what does not fit now fits with nothing more
                }
                continue;
            }
            add_reaches(candidates, at, map);
        }
    }
}

// Tiles that cover an extent.
struct Sizes {
    std::int64_t extent = 0;
    std::int64_t cores = 1;          // that share it
    std::int64_t apart = kTileStep;  // what is tried on all cores
    std::int64_t most = 0;
    std::vector<std::int64_t> steps;  // an mmul, and longer ones, which make aligned runs
};

// The least tiles of whole steps that cover the extent in so many rounds. A part of the array has
// one round or two, or half as many again, and their doubles. `given`: the only one, where not 0.
std::set<std::int64_t> sizes_of(const Sizes& of, bool all, std::int64_t given) {
    if (given > 0) {
        return {given};
    }
    std::set<std::int64_t> sizes;
    const auto add = [&](std::int64_t rounds) {
        for (const std::int64_t step : of.steps) {
            const std::int64_t size = covering_tile(of.extent, of.cores * rounds, step);
            if (size <= of.most) {
                sizes.insert(size);
            }
        }
    };
    if (all) {
        const std::int64_t largest =
            std::min(of.most, covering_tile(of.extent, of.cores, kTileStep));
        for (std::int64_t size = of.apart; size <= largest; size += of.apart) {
            add(ceil_div(of.extent, of.cores * size));
        }
        add(2);
        return sizes;
    }
    for (std::int64_t rounds = 1; rounds * of.cores <= of.extent; rounds *= 2) {
        add(rounds);
        add(rounds * 3);
    }
    return sizes;
}

void add_tiles(std::vector<TileCandidate>& candidates, const SearchContext& at, const Part& part,
               const arch::npu::MultiplyMode& mode) {
    const GemmProblem& problem = at.problem;
    const std::int64_t core_memory = at.config.core.memory.count();
    OutputStationaryMapping map = part.map;
    constexpr std::int64_t kMost = 512;
    constexpr std::int64_t kDeepest = 256;
    const auto along_runs = [](std::int64_t mmul) {
        return std::vector<std::int64_t>{mmul, kTileStep, 2 * kTileStep, 4 * kTileStep};
    };
    const auto all_m =
        sizes_of({problem.m, map.rows_of(at.config), kTileStep, kMost, {mode.r, kTileStep}},
                 part.all, part.map.m_ct);
    const auto all_n =
        sizes_of({problem.n, map.columns_of(at.config), kTileStep, kMost, along_runs(mode.t)},
                 part.all, part.map.n_ct);
    const std::int64_t deepest = std::min(kDeepest, covering_tile(problem.k, 1, kTileStep));
    const auto all_k =
        sizes_of({problem.k, 1, mode.s, deepest, along_runs(mode.s)}, part.all, part.map.k_ct);
    for (const std::int64_t m_ct : all_m) {
        map.m_ct = m_ct;
        for (const std::int64_t n_ct : all_n) {
            map.n_ct = n_ct;
            for (const std::int64_t k_ct : all_k) {
                map.k_ct = k_ct;
                const std::int64_t least =
                    map.a_buffers * map.m_ct * map.k_ct * bytes_of(problem.a) +
                    map.b_buffers * map.k_ct * map.n_ct * bytes_of(problem.b) +
                    map.m_ct * map.n_ct * bytes_of(problem.c);
                if (least > core_memory) {
                    break;
                }
                add_core_tile(candidates, at, map, part);
            }
        }
    }
}

// How many columns or rows of all to try; only those given, where that is not 0.
std::set<std::int64_t, std::greater<>> parts_or(std::int64_t given, std::int64_t all) {
    return given > 0 ? std::set<std::int64_t, std::greater<>>{given} : parts_of(all);
}

}  // namespace

std::vector<TileCandidate> candidates_of(const SearchContext& at,
                                         const OutputStationaryMapping& given) {
    std::vector<TileCandidate> candidates;
    const arch::npu::core::KernelTiming timing(at.config.kernels);
    const auto* mode = timing.find_mode(at.problem.a, at.problem.b, at.problem.c);
    if (mode == nullptr || at.config.memory_rows == 0) {
        return candidates;
    }
    add_tiles(candidates, at, {given, true}, *mode);
    double least_ns = std::numeric_limits<double>::infinity();
    for (const TileCandidate& each : candidates) {
        least_ns = std::min(least_ns, each.expected_ns);
    }
    // A part of the array has fewer transfers to start, which is most of a small product. One whose
    // cores at their peak take longer than all of them are expected to take, is none.
    Part part{given, false};
    const std::int64_t all = ShimColumns::count(at.config);
    const double peak_ns = at.problem.macs() / static_cast<double>(timing.peak_macs(*mode)) *
                           arch::base::ns_of(arch::base::Cycles{1}, at.config.clock);
    for (const std::int64_t columns : parts_or(given.columns, all)) {
        for (const std::int64_t rows : parts_or(given.rows, at.config.core_rows)) {
            part.map.columns = columns;
            part.map.rows = rows;
            const bool whole =
                columns == given.columns_of(at.config) && rows == given.rows_of(at.config);
            if (!whole && ns_of(at.config.command_processor.dispatch) +
                                  peak_ns / static_cast<double>(columns * rows) <
                              least_ns) {
                add_tiles(candidates, at, part, *mode);
            }
        }
    }
    return candidates;
}

namespace {

// Half or twice the columns or rows of cores, with tiles as they are and with tiles of twice or
// half the size, and blocks as they are and as long as K; k tiles of half and twice the size.
std::vector<OutputStationaryMapping> other_extents(const OutputStationaryMapping& mapping,
                                                   const SearchContext& at) {
    std::vector<OutputStationaryMapping> list;
    const std::int64_t columns = mapping.columns_of(at.config);
    const std::int64_t rows = mapping.rows_of(at.config);
    const std::int64_t whole_k = ceil_div(at.problem.k, mapping.k_ct) * mapping.k_ct;
    for (const std::int64_t k_mt : std::set{mapping.k_mt, whole_k}) {
        OutputStationaryMapping other = mapping;
        other.k_mt = k_mt;
        const auto add = [&](std::int64_t OutputStationaryMapping::*cores, std::int64_t count,
                             std::int64_t OutputStationaryMapping::*tile, std::int64_t size) {
            if (count == 0) {  // which would be all of them
                return;
            }
            OutputStationaryMapping each = other;
            each.*cores = count;
            for (const std::int64_t extent : std::set{each.*tile, size}) {
                each.*tile = extent;
                list.push_back(each);
            }
        };
        add(&OutputStationaryMapping::columns, columns / 2, &OutputStationaryMapping::n_ct,
            2 * mapping.n_ct);
        add(&OutputStationaryMapping::rows, rows / 2, &OutputStationaryMapping::m_ct,
            2 * mapping.m_ct);
        add(&OutputStationaryMapping::columns, 2 * columns, &OutputStationaryMapping::n_ct,
            mapping.n_ct / 2);
        add(&OutputStationaryMapping::rows, 2 * rows, &OutputStationaryMapping::m_ct,
            mapping.m_ct / 2);
    }
    // A block has whole tiles.
    const std::int64_t calls = ceil_div(at.problem.k, mapping.k_ct);
    for (const std::int64_t k_ct :
         {mapping.k_ct / 2, 2 * mapping.k_ct, covering_tile(at.problem.k, calls + 1),
          covering_tile(at.problem.k, std::max<std::int64_t>(1, calls - 1))}) {
        if (k_ct > 0 && k_ct != mapping.k_ct) {
            OutputStationaryMapping other = mapping;
            other.k_ct = k_ct;
            other.k_mt = ceil_div(mapping.k_mt, k_ct) * k_ct;
            list.push_back(other);
        }
    }
    return list;
}

}  // namespace

std::vector<TileCandidate> variants_of(const SearchContext& at,
                                       const OutputStationaryMapping& mapping) {
    std::vector<TileCandidate> variants;
    const auto add_fitting = [&](const OutputStationaryMapping& map) {
        const bool fits = problems_of(at.problem, map, at.config).empty();
        if (fits) {
            variants.push_back(evaluated(at, map));
        }
        return fits;
    };
    const auto add = [&](auto member, std::initializer_list<std::int64_t> values) {
        for (const std::int64_t value : values) {
            OutputStationaryMapping map = mapping;
            map.*member = value;
            if (map.*member != mapping.*member) {
                add_fitting(map);
            }
        }
    };
    using Map = OutputStationaryMapping;
    add(&Map::a_buffers, {1, 2, 3, 4});
    add(&Map::b_buffers, {1, 2, 3, 4});
    add(&Map::c_buffers, {1, std::min<std::int64_t>(2, tiles_of(at, mapping))});
    const Reaches reaches = reaches_of(at, mapping, static_cast<double>(tiles_of(at, mapping)));
    const auto ahead = static_cast<std::int64_t>(std::min(reaches.in_flight, reaches.count));
    for (const std::int64_t in_flight : {1, 2, 3}) {
        if (in_flight < ahead) {
            add(&Map::in_flight, {in_flight});
        }
    }
    if (mapping.in_flight > 0) {
        add(&Map::in_flight, {0});
    }
    if (at.config.shim_dma.channels >= 4) {  // a second stream of an operand has its own tasks
        add(&Map::shim_channels, {0, 2});
    }
    OutputStationaryMapping reach = mapping;
    reach.reach =
        mapping.reach == Map::Reach::BlockRow ? Map::Reach::OutputTile : Map::Reach::BlockRow;
    if (tiles_of(at, mapping) > 1) {
        add_fitting(reach);
    }
    for (OutputStationaryMapping other : other_extents(mapping, at)) {
        // A larger tile may leave no room for what the smaller one has beside it.
        if (!add_fitting(other)) {
            other.c_buffers = 1;
            other.a_buffers = std::min<std::int64_t>(2, other.a_buffers);
            other.b_buffers = std::min<std::int64_t>(2, other.b_buffers);
            add_fitting(other);
        }
    }
    // Neighbours of the tile, also between the steps of the search.
    for (const std::int64_t step : {-16, -8, 8, 16}) {
        add(&Map::m_ct, {mapping.m_ct + step});
        add(&Map::n_ct, {mapping.n_ct + step});
    }
    // And tiles of half and twice the size: fewer tasks, or a shorter way in and out.
    add(&Map::m_ct, {mapping.m_ct / 2, 2 * mapping.m_ct});
    add(&Map::n_ct, {mapping.n_ct / 2, 2 * mapping.n_ct});
    for (std::int64_t blocks = 1; blocks <= 16; ++blocks) {
        add(&Map::k_mt, {mapping.k_ct * blocks});
    }
    return variants;
}

}  // namespace tilesim::workloads::npu::output_stationary
