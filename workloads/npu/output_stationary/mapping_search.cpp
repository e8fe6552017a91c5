#include "workloads/npu/output_stationary/mapping_search.hpp"

#include <algorithm>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::npu::NpuConfig;

namespace {

constexpr std::int64_t kTileStep = 16;  // a multiple of two mmul blocks of every type
constexpr std::int64_t kMostTile = 256;
// Longer runs than two of the longest bursts gain nothing that is worth a candidate.
constexpr std::int64_t kLongRun = 1024;

std::int64_t run_bytes(const GemmProblem& problem, const OutputStationaryMapping& map) {
    const std::int64_t a = map.k_mt * bytes_of(problem.a);
    const std::int64_t b =
        (problem.b_column_major ? map.k_mt : map.n_ct) * bytes_of(problem.b);
    return std::min({a, b, kLongRun});
}

bool dominates(const TileCandidate& a, const TileCandidate& b) {
    return a.bounds.compute_ns <= b.bounds.compute_ns && a.bounds.stream_ns <= b.bounds.stream_ns &&
           a.bounds.dram_bytes <= b.bounds.dram_bytes && a.run_bytes >= b.run_bytes &&
           a.mapping.c_buffers >= b.mapping.c_buffers;
}

// Keeps `candidates` free of dominated ones.
void add(std::vector<TileCandidate>& candidates, const TileCandidate& candidate) {
    if (std::any_of(candidates.begin(), candidates.end(),
                    [&](const TileCandidate& other) { return dominates(other, candidate); })) {
        return;
    }
    std::erase_if(candidates, [&](const TileCandidate& other) { return dominates(candidate, other); });
    candidates.push_back(candidate);
}

// Every block length along K, C single- and double-buffered, of one core tile.
void add_core_tile(CandidateSet& set, const GemmProblem& problem, OutputStationaryMapping map,
                   const NpuConfig& config, const arch::memory::device::MemoryConfig& memory) {
    for (const std::int64_t c_buffers : {1, 2}) {
        map.c_buffers = c_buffers;
        for (const std::int64_t blocks : {1, 2, 3, 4, 6, 8, 12, 16}) {
            map.k_mt = map.k_ct * blocks;
            if (!problems_of(problem, map, config).empty()) {
                if (blocks == 1) {
                    return;  // what does not fit now fits with nothing more
                }
                continue;
            }
            ++set.legal;
            add(set.candidates,
                {map, bounds_of(problem, map, config, memory), run_bytes(problem, map)});
        }
    }
}

}  // namespace

CandidateSet candidates_of(const GemmProblem& problem, const NpuConfig& config,
                           const arch::memory::device::MemoryConfig& memory) {
    CandidateSet set;
    const auto* mode =
        arch::npu::core::KernelTiming(config.kernels).find_mode(problem.a, problem.b, problem.c);
    if (mode == nullptr) {
        return set;
    }
    const std::int64_t core_memory = config.core.memory.count();
    for (std::int64_t m = kTileStep; m <= kMostTile; m += kTileStep) {
        for (std::int64_t n = kTileStep; n <= kMostTile; n += kTileStep) {
            for (std::int64_t k = mode->s; k <= kMostTile; k += mode->s) {
                const std::int64_t least = 2 * m * k * bytes_of(problem.a) +
                                           2 * k * n * bytes_of(problem.b) +
                                           m * n * bytes_of(problem.c);
                if (least > core_memory) {
                    break;
                }
                OutputStationaryMapping map;
                map.m_ct = m;
                map.k_ct = k;
                map.n_ct = n;
                add_core_tile(set, problem, map, config, memory);
            }
        }
    }
    return set;
}

}  // namespace tilesim::workloads::npu::output_stationary
