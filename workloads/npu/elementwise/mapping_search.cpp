#include "workloads/npu/elementwise/mapping_search.hpp"

#include <algorithm>
#include <numeric>

#include "arch/base/units.hpp"
#include "workloads/npu/elementwise/mapping_problems.hpp"

namespace tilesim::workloads::npu::elementwise {

using arch::base::ceil_div;
using arch::npu::NpuConfig;

namespace {

constexpr std::int64_t kMostRows = 4096;  // of a call
constexpr std::int64_t kMostElements = 16384;
constexpr std::int64_t kFewestElements = 256;

// What a call works on where one, two, four and more of them share `all` of a core evenly, in whole
// units: the most first, no more than `most`, no fewer than `fewest` where there are more. So a
// size just above another is not padded by nearly a whole call.
std::vector<std::int64_t> even_pieces(std::int64_t all, std::int64_t unit, std::int64_t most,
                                      std::int64_t fewest) {
    std::vector<std::int64_t> pieces;
    for (std::int64_t calls = 1;; calls *= 2) {
        const std::int64_t piece = ceil_div(ceil_div(all, calls), unit) * unit;
        if (calls > 1 && piece < fewest) {
            return pieces;
        }
        if (piece <= most) {
            pieces.push_back(piece);
        }
        if (piece == unit) {
            return pieces;
        }
    }
}

// Elements of whole vectors, and of whole words.
std::int64_t element_unit(const NpuConfig& config) {
    return std::lcm(elements_of_whole_words(),
                    std::max<std::int64_t>(1, config.kernels.vector_lanes));
}

// Those with so many buffers that can be.
void add_mappings(const ElementwiseProblem& problem, const NpuConfig& config,
                  ElementwiseMapping map, std::vector<ElementwiseMapping>& mappings) {
    const auto add = [&] {
        if (problems_of(problem, map, config).empty()) {
            mappings.push_back(map);
        }
    };
    const RowBytes row = row_bytes(problem);
    const std::int64_t fewest_rows = std::max(
        {rows_of_whole_words(row.a), rows_of_whole_words(row.b), rows_of_whole_words(row.c)});
    for (map.columns = ShimColumns::count(config); map.columns >= 1; --map.columns) {
        for (map.cores = 1; map.cores <= config.shim_dma.channels; ++map.cores) {
            const auto of_a_core = [&](std::int64_t all) {
                return ceil_div(all, map.columns * map.cores);
            };
            for (const std::int64_t rows :
                 even_pieces(of_a_core(problem.m), fewest_rows, kMostRows, fewest_rows)) {
                map.rows_per_call = rows;
                add();
            }
            map.rows_per_call = 1;
            if (!problem.by_elements()) {
                continue;
            }
            for (const std::int64_t elements :
                 even_pieces(of_a_core(problem.m * problem.n), element_unit(config), kMostElements,
                             kFewestElements)) {
                map.elements_per_call = elements;
                if (elements != problem.n) {  // a whole row, as above
                    add();
                }
            }
            map.elements_per_call = 0;
        }
    }
}

}  // namespace

std::vector<ElementwiseMapping> mappings_of(const ElementwiseProblem& problem,
                                            const NpuConfig& config) {
    std::vector<ElementwiseMapping> mappings;
    ElementwiseMapping map;
    // With one of each, moving waits for working: only where there is no room for more.
    for (; map.buffers >= kFewestBuffers && mappings.empty(); --map.buffers) {
        add_mappings(problem, config, map, mappings);
    }
    return mappings;
}

std::vector<ElementwiseMapping> variants_of(const ElementwiseProblem& problem,
                                            const ElementwiseMapping& mapping,
                                            const NpuConfig& config) {
    std::vector<ElementwiseMapping> variants;
    ElementwiseMapping map = mapping;
    for (map.buffers = kFewestBuffers; map.buffers <= kMostBuffers; ++map.buffers) {
        if (map.buffers != mapping.buffers && problems_of(problem, map, config).empty()) {
            variants.push_back(map);
        }
    }
    return variants;
}

}  // namespace tilesim::workloads::npu::elementwise
