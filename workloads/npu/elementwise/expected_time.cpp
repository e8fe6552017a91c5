#include "workloads/npu/elementwise/expected_time.hpp"

#include <algorithm>

#include "arch/base/units.hpp"
#include "workloads/npu/elementwise/bounds.hpp"

namespace tilesim::workloads::npu::elementwise {

using arch::npu::NpuConfig;

double expected_ns(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                   const NpuConfig& config, const MemoryPath& path) {
    const GemmBounds bounds = bounds_of(problem, map, config, path);
    const RowBytes row = row_bytes(problem);
    const std::int64_t columns = map.columns_of(config);
    const auto& costs = config.command_processor;
    const double task_ns = ns_of(costs.task_cycles(), costs.clock);
    const std::int64_t reads = (problem.has_b() ? 2 : 1) * map.cores;  // of a column
    const std::int64_t tasks = reads + map.cores;
    // A call takes and gives its buffers' locks.
    const auto calls = static_cast<double>(calls_of(problem, map, config));
    const std::int64_t locks = problem.keeps_b() || !problem.has_b() ? 4 : 6;
    const double core_ns =
        bounds.compute_ns +
        calls * ns_of(config.core.call_cycles + locks * config.core.lock_cycles, config.clock);

    const double of_column = calls * static_cast<double>(map.rows_per_call * map.cores);
    const double b =
        problem.keeps_b() ? 0 : static_cast<double>(row.b) / static_cast<double>(problem.heads);
    const Runs read{.bytes = of_column * (static_cast<double>(row.a) + b)};
    const Runs written{.bytes = of_column * static_cast<double>(row.c)};
    const double port_ns =
        std::max({path.column_ns(config.shim, {read}), path.fabric_ns(config.shim, {written}, 1),
                  path.answers_ns(config.shim, {read}, 0, reads)});
    const auto all = [columns](const Runs& runs) {
        return Runs{.bytes = runs.bytes * static_cast<double>(columns)};
    };
    const double shared_ns =
        std::max({path.fabric_ns(config.shim, {all(read)}, columns),
                  path.fabric_ns(config.shim, {all(written)}, columns),
                  path.answers_ns(config.shim, {all(read)}, bounds.dram_bytes, columns * reads)});
    const double first_and_last_ns = 2 * bounds.stream_ns / calls;
    return static_cast<double>(tasks) * task_ns +
           std::max(static_cast<double>(tasks * (columns - 1)) * task_ns +
                        std::max({core_ns, bounds.stream_ns, port_ns}),
                    shared_ns) +
           first_and_last_ns;
}

}  // namespace tilesim::workloads::npu::elementwise
