#include "workloads/npu/output_stationary/bounds.hpp"

#include <algorithm>

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                     const NpuConfig& config, const MemoryPath& path) {
    GemmBounds bounds;
    const GemmView view = view_of(problem, map);
    const ArrayShape shape = shape_of(view, config);
    const PaddedGemm size = padded(view, config);
    const core::KernelTiming timing(config.kernels);
    const program::Kernel kernel = multiply_kernel(problem, map);
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const std::int64_t rows = view.map.m_ct * shape.rows;
    const std::int64_t columns = view.map.n_ct * shape.columns;
    const auto calls =
        static_cast<double>(size.m / rows * (size.n / columns) * (size.k / map.k_ct));
    const auto call_cycles = static_cast<double>(timing.cycles(kernel).total().count());
    const auto call_macs = static_cast<double>(map.m_ct * map.k_ct * map.n_ct);
    bounds.kernel_macs_per_cycle = call_macs / call_cycles;
    bounds.peak_macs_per_cycle = timing.peak_macs(timing.mode_of(kernel));
    bounds.compute_ns = calls * call_cycles * cycle_ns;
    const BufferSizes sizes = buffer_sizes(view, config);
    const auto a_tile = static_cast<double>(sizes.a_core);
    const auto b_tile = static_cast<double>(sizes.b_core);
    // A shim's stream of A carries the tiles of as many rows of cores as share it.
    const double a_stream =
        a_tile * static_cast<double>(shape.a_rows_in(0, 0, shape.a_streams(0, view.map)).count);
    bounds.stream_ns = calls * std::max(a_stream, b_tile) /
                       static_cast<double>(config.stream.width.count()) * cycle_ns;
    const double c_bytes = static_cast<double>(size.m) * static_cast<double>(size.n) *
                           static_cast<double>(bytes_of(problem.c));
    const double read = calls * (a_tile * static_cast<double>(shape.rows) +
                                 b_tile * static_cast<double>(shape.columns));
    bounds.dram_bytes = read + c_bytes;
    bounds.memory_ns = path.least_ns(config.shim, {read, c_bytes, shape.columns});
    return bounds;
}

}  // namespace tilesim::workloads::npu::output_stationary
