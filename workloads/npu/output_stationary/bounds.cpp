#include "workloads/npu/output_stationary/bounds.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "arch/npu/core/kernel_timing.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kStreamBytesPerCycle = 4.0;

program::Kernel multiply_kernel(const GemmProblem& problem, const OutputStationaryMapping& map) {
    return {"multiply",
            program::KernelKind::Multiply,
            map.m_ct,
            map.k_ct,
            map.n_ct,
            problem.a,
            problem.b,
            problem.c,
            problem.b_column_major,
            std::nullopt};
}

// Sizes `lower` would pad to, without lowering.
LoweredGemm sizes_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                     const NpuConfig& config) {
    const auto padded = [](std::int64_t x, std::int64_t to) {
        return arch::base::ceil_div(x, to) * to;
    };
    LoweredGemm sizes;
    const std::int64_t rows = map.m_ct * map.rows_of(config);
    const std::int64_t columns = map.n_ct * map.columns_of(config);
    sizes.shape = shape_of(problem, map, config);
    sizes.m = padded(problem.m, rows);
    sizes.k = padded(problem.k, map.k_mt);
    sizes.n = padded(problem.n, columns);
    sizes.output_tiles = sizes.m / rows * (sizes.n / columns);
    sizes.calls_per_tile = sizes.k / map.k_ct;
    return sizes;
}

}  // namespace

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                     const LoweredGemm& lowered, const NpuConfig& config,
                     const arch::memory::device::MemoryConfig& memory) {
    GemmBounds bounds;
    const core::KernelTiming timing(config.kernels);
    const program::Kernel kernel = multiply_kernel(problem, map);
    const double cycle_ns = kNanosecondsPerSecond / static_cast<double>(config.clock.count());
    const auto calls = static_cast<double>(lowered.output_tiles * lowered.calls_per_tile);
    const auto call_cycles = static_cast<double>(timing.cycles(kernel).total().count());
    const auto call_macs = static_cast<double>(map.m_ct * map.k_ct * map.n_ct);
    bounds.kernel_macs_per_cycle = call_macs / call_cycles;
    bounds.peak_macs_per_cycle = timing.peak_macs(timing.mode_of(kernel));
    bounds.compute_ns = calls * call_cycles * cycle_ns;
    const auto a_tile = static_cast<double>(map.m_ct * map.k_ct * bytes_of(problem.a));
    const auto b_tile = static_cast<double>(map.k_ct * map.n_ct * bytes_of(problem.b));
    // A shim's stream of A carries the tiles of as many rows of cores as share it.
    const ArrayShape& shape = lowered.shape;
    const double a_stream =
        a_tile * static_cast<double>(shape.a_rows_in(0, 0, shape.a_streams(0, map)).count);
    bounds.stream_ns = calls * std::max(a_stream, b_tile) / kStreamBytesPerCycle * cycle_ns;
    const auto rows = static_cast<double>(shape.rows);
    const auto columns = static_cast<double>(shape.columns);
    const double c_bytes = static_cast<double>(lowered.m) * static_cast<double>(lowered.n) *
                           static_cast<double>(bytes_of(problem.c));
    bounds.dram_bytes = calls * (a_tile * rows + b_tile * columns) + c_bytes;
    bounds.memory_ns = bounds.dram_bytes / memory.peak_bytes_per_second() * kNanosecondsPerSecond;
    return bounds;
}

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                     const NpuConfig& config, const arch::memory::device::MemoryConfig& memory) {
    return bounds_of(problem, map, sizes_of(problem, map, config), config, memory);
}

OutputStationaryMapping choose_mapping(const GemmProblem& problem, const NpuConfig& config,
                                       const arch::memory::device::MemoryConfig& memory) {
    const MultiplyMode* mode =
        core::KernelTiming(config.kernels).find_mode(problem.a, problem.b, problem.c);
    std::optional<OutputStationaryMapping> best;
    // The binding bound first; at equal bounds the sum of all, then fewer and larger transfers.
    std::tuple<double, double, std::int64_t> best_cost;
    constexpr std::int64_t kMostTile = 192;
    for (std::int64_t m = 16; mode != nullptr && m <= kMostTile; m += 16) {
        for (std::int64_t n = 16; n <= kMostTile; n += 16) {
            for (std::int64_t k = mode->s; k <= kMostTile; k += mode->s) {
                for (const std::int64_t blocks : {8, 4, 2, 1}) {
                    OutputStationaryMapping map;
                    map.m_ct = m;
                    map.k_ct = k;
                    map.n_ct = n;
                    map.k_mt = k * blocks;
                    if (!problems_of(problem, map, config).empty()) {
                        continue;
                    }
                    const GemmBounds bounds = bounds_of(problem, map, config, memory);
                    const std::tuple cost{bounds.tightest_ns(),
                                          bounds.compute_ns + bounds.stream_ns + bounds.memory_ns,
                                          -map.k_mt * map.n_ct * map.m_ct};
                    if (!best || cost < best_cost) {
                        best = map;
                        best_cost = cost;
                    }
                    break;  // the longest runs along K that fit
                }
            }
        }
    }
    if (!best) {
        throw arch::base::config::ConfigError(
            "workload.gemm: no output-stationary mapping fits this device and these types");
    }
    return *best;
}

}  // namespace tilesim::workloads::npu::output_stationary
