#include "workloads/npu/elementwise/bounds.hpp"

#include <algorithm>

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"

namespace tilesim::workloads::npu::elementwise {

using namespace arch::npu;

GemmBounds bounds_of(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                     const NpuConfig& config, const MemoryPath& path) {
    const auto stream_bytes = static_cast<double>(config.stream.width.count());
    const RowBytes row = row_bytes(problem);
    const core::KernelTiming timing(config.kernels);
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const auto calls = static_cast<double>(calls_of(problem, map, config));
    const auto call =
        static_cast<double>(timing.cycles(kernel_of(problem, map.rows_per_call)).total().count());
    const auto rows = static_cast<double>(map.rows_per_call);
    const double b =
        problem.keeps_b() ? 0 : static_cast<double>(row.b) / static_cast<double>(problem.heads);
    GemmBounds bounds;
    bounds.compute_ns = calls * call * cycle_ns;
    bounds.stream_ns = calls * rows * static_cast<double>(std::max(row.a, row.c)) / stream_bytes *
                       cycle_ns;  // of B there is no more than of A or C
    const double all_rows = calls * rows * static_cast<double>(map.cores_of(config));
    const double read = all_rows * (static_cast<double>(row.a) + b);
    const double written = all_rows * static_cast<double>(row.c);
    bounds.dram_bytes = read + written;
    bounds.memory_ns = path.least_ns(config.shim, {read, written, map.columns_of(config)});
    return bounds;
}

}  // namespace tilesim::workloads::npu::elementwise
