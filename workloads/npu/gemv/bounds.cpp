#include "workloads/npu/gemv/bounds.hpp"

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/gemv/gemv_shape.hpp"

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;

GemmBounds bounds_of(const MatrixVector& problem, const GemvMapping& map, const NpuConfig& config,
                     const MemoryPath& path) {
    const auto stream_bytes = static_cast<double>(config.stream.width.count());
    const GemvShape shape = shape_of(problem, map, config);
    const core::KernelTiming timing(config.kernels);
    const auto call = static_cast<double>(
        timing.cycles(matvec_kernel(problem, shape.call_rows, shape.k)).total().count());
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const auto steps = static_cast<double>(shape.steps);
    GemmBounds bounds;
    bounds.kernel_macs_per_cycle = static_cast<double>(shape.call_rows * shape.k) / call;
    bounds.peak_macs_per_cycle = static_cast<double>(config.kernels.vector_macs);
    bounds.compute_ns = steps * static_cast<double>(shape.calls()) * call * cycle_ns;
    bounds.stream_ns = steps * static_cast<double>(shape.column_rows() * shape.row_bytes) /
                       stream_bytes * cycle_ns;
    const auto rows = static_cast<double>(shape.padded_m());
    const double read = rows * static_cast<double>(shape.row_bytes);
    const double written = rows * static_cast<double>(bytes_of(1, problem.y));
    bounds.dram_bytes = read + written;
    bounds.memory_ns = path.least_ns(config.shim, {read, written, map.columns_of(config)});
    return bounds;
}

}  // namespace tilesim::workloads::npu::gemv
