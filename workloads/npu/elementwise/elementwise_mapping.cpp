#include "workloads/npu/elementwise/elementwise_mapping.hpp"

#include <algorithm>

#include "arch/base/units.hpp"

namespace tilesim::workloads::npu::elementwise {

using arch::base::ceil_div;
using arch::npu::NpuConfig;

void read_keys(arch::base::config::Node& node, ElementwiseMapping& map) {
    node.optional("columns", map.columns, {0, 64}, "columns of cores used; 0: all");
    node.optional("cores", map.cores, {1, 8},
                  "of a column, each with channels of its shim of its own");
    node.optional("rows_per_call", map.rows_per_call, {1, 1 << 16},
                  "rows of the operands a kernel call works on; left out, as elements_per_call: "
                  "chosen, with whatever else is not stated");
    node.optional("elements_per_call", map.elements_per_call, {0, 1 << 20},
                  "elements a kernel call works on, whatever row they are of; 0: whole rows");
    node.optional("buffers", map.buffers, {kFewestBuffers, kMostBuffers},
                  "of each operand, per core");
    node.optional("cast_lanes", map.cast_lanes, {0, 1024},
                  "elements of an iteration of the loop that casts, one iteration after the other; "
                  "0: those of a vector instruction, iterations overlapping");
    node.done();
}

bool leaves_open(const arch::base::config::Node& node, const ElementwiseMapping&) {
    return !node.has("rows_per_call") && !node.has("elements_per_call");
}

ElementwiseProblem as_called(ElementwiseProblem problem, const ElementwiseMapping& map) {
    if (map.elements_per_call > 0) {
        problem.m = ceil_div(problem.m * problem.n, map.elements_per_call);
        problem.n = map.elements_per_call;
    }
    return problem;
}

std::int64_t calls_of(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                      const NpuConfig& config) {
    // Rows that share a row of B are one core's.
    const std::int64_t together = std::max(problem.heads, map.rows_per_call);
    return ceil_div(problem.m, together * map.cores_of(config)) * together / map.rows_per_call;
}

std::int64_t b_buffers(const ElementwiseProblem& problem, const ElementwiseMapping& map) {
    return problem.keeps_b() ? 1 : map.buffers;
}

std::vector<std::int64_t> core_buffers(const ElementwiseProblem& problem,
                                       const ElementwiseMapping& map) {
    const RowBytes row = row_bytes(problem);
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(map.buffers),
                                    map.rows_per_call * row.a);
    if (problem.has_b()) {
        bytes.insert(bytes.end(), static_cast<std::size_t>(b_buffers(problem, map)),
                     problem.keeps_b() ? row.b : map.rows_per_call * row.b);
    }
    bytes.insert(bytes.end(), static_cast<std::size_t>(map.buffers), map.rows_per_call * row.c);
    return bytes;
}

}  // namespace tilesim::workloads::npu::elementwise
