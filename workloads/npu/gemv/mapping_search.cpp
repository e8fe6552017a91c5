#include "workloads/npu/gemv/mapping_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "arch/base/config.hpp"
#include "workloads/npu/gemv/expected_time.hpp"
#include "workloads/npu/gemv/mapping_problems.hpp"

namespace tilesim::workloads::npu::gemv {

using arch::npu::NpuConfig;

namespace {

constexpr std::int64_t kFewestResults = 4;  // leave a core together: whole words of every type

}  // namespace

GemvMapping least_of(GemvMapping mapping) {
    mapping.rows_per_core = mapping.rows_per_core == 0 ? kFewestResults : mapping.rows_per_core;
    return mapping;
}

std::vector<GemvMapping> mappings_of(const MatrixVector& problem, const NpuConfig& config) {
    std::vector<GemvMapping> mappings;
    const auto try_rows = [&](GemvMapping map) {
        for (map.rows_per_call = 64; map.rows_per_call >= 1; map.rows_per_call /= 2) {
            map.rows_per_core = std::max(map.rows_per_call, kFewestResults);
            for (const bool one : {false, true}) {
                map.one_vector_stream = one;
                if (problems_of(problem, map, config).empty()) {
                    mappings.push_back(map);
                }
            }
        }
    };
    for (std::int64_t columns = ShimColumns::count(config); columns >= 1; --columns) {
        GemvMapping map;
        map.columns = columns;
        try_rows(map);
        for (map.rows = config.core_rows; map.rows >= 1; map.rows /= 2) {
            map.path = GemvMapping::Path::MemoryTile;
            try_rows(map);
        }
    }
    return mappings;
}

std::vector<GemvMapping> variants_of(const MatrixVector& problem, const GemvMapping& mapping,
                                     const NpuConfig& config) {
    std::vector<GemvMapping> variants;
    const auto add = [&](auto member, auto values) {
        for (const auto value : values) {
            GemvMapping map = mapping;
            map.*member = value;
            if (map.*member != mapping.*member && problems_of(problem, map, config).empty()) {
                variants.push_back(map);
            }
        }
    };
    using Map = GemvMapping;
    using Counts = std::initializer_list<std::int64_t>;
    add(&Map::order, std::initializer_list<Map::Order>{Map::Order::Apart, Map::Order::InTurn});
    add(&Map::vector, std::initializer_list<Map::Vector>{Map::Vector::Once, Map::Vector::EachCall});
    add(&Map::one_vector_stream, std::initializer_list<bool>{false, true});
    add(&Map::reach, Counts{0, 1, 2, 4, 8, 16});
    add(&Map::in_flight, Counts{0, 1, 2, 3});
    add(&Map::a_buffers, Counts{1, 2, 3, 4});
    add(&Map::x_buffers, Counts{1, 2});
    add(&Map::y_buffers, Counts{1, 2, 3});
    add(&Map::panels, Counts{1, 2, 3, 4});
    const std::int64_t rows = mapping.core_rows();
    add(&Map::rows_per_core, Counts{rows / 2, 2 * rows, 4 * rows});
    return variants;
}

std::vector<GemvMapping> promising_mappings(const MatrixVector& problem, const NpuConfig& config,
                                            const MemoryPath& path) {
    struct Expected {
        GemvMapping map;
        double ns = 0;
    };
    std::vector<Expected> best;  // of each number of columns
    for (const GemvMapping& map : mappings_of(problem, config)) {
        const double ns = expected_ns(problem, map, config, path);
        if (best.empty() || best.back().map.columns != map.columns) {
            best.push_back({map, ns});
        } else if (ns < best.back().ns) {  // the first of equals: fewest calls
            best.back() = {map, ns};
        }
    }
    if (best.empty()) {
        const auto problems = problems_of(problem, least_of({}), config);
        throw arch::base::config::ConfigError(fmt::format(
            "workload: no matrix-vector mapping fits this device: {}", fmt::join(problems, "; ")));
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const Expected& a, const Expected& b) { return a.ns < b.ns; });
    std::vector<GemvMapping> mappings;
    for (const Expected& each : best) {
        mappings.push_back(each.map);
    }
    return mappings;
}

}  // namespace tilesim::workloads::npu::gemv
