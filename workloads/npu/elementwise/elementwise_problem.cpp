#include "workloads/npu/elementwise/elementwise_problem.hpp"

#include <fmt/format.h>

#include <string>

namespace tilesim::workloads::npu::elementwise {

using namespace arch::npu;
using arch::base::kBitsPerByte;

void read_keys(arch::base::config::Node& node, ElementwiseProblem& problem) {
    const arch::base::config::Range size{1, 1 << 26};
    node.required("operation", problem.operation, program::kVectorOperations, "what is done");
    node.optional("rows", problem.m, size, "rows, each by itself where the operation goes by rows");
    node.required("elements", problem.n, size, "of a row");
    node.optional("a", problem.a, kDataTypes, "type of the operands");
    node.optional("c", problem.c, kDataTypes, "type of the result");
    node.optional("scale_block", problem.scale_block, {0, 1 << 16},
                  "dequantise: elements that share a scale factor; 0: none");
    node.optional("heads", problem.heads, {1, 1 << 16},
                  "rope: consecutive rows that are turned by the same angles");
    if (problem.heads > 1 && problem.operation != program::VectorOperation::Rope) {
        node.error("heads", fmt::format("only rope has rows that share their angles, not {}",
                                        name_of(problem.operation)));
    } else if (problem.m % problem.heads != 0) {
        node.error("heads",
                   fmt::format("must divide the {} rows, got {}", problem.m, problem.heads));
    }
    if (problem.scale_block > 0 && problem.operation != program::VectorOperation::Dequantise) {
        node.error("scale_block", fmt::format("only dequantise has scale factors, not {}",
                                              name_of(problem.operation)));
    }
    if (problem.operation == program::VectorOperation::Rope && problem.n % 2 != 0) {
        node.error("elements",
                   fmt::format("rope turns pairs of elements: must be even, got {}", problem.n));
    }
    node.done();
}

bool ElementwiseProblem::by_elements() const {
    return program::reach_of(operation) == program::Reach::Element;
}

std::int64_t ElementwiseProblem::b_rows(std::int64_t rows) const {
    return keeps_b() ? 1 : arch::base::ceil_div(rows, heads);
}

program::Kernel kernel_of(const ElementwiseProblem& problem, std::int64_t rows) {
    program::Kernel kernel;
    kernel.name = std::string{name_of(problem.operation)};
    kernel.kind = program::KernelKind::Vector;
    kernel.operation = problem.operation;
    kernel.m = rows;
    kernel.n = problem.n;
    kernel.a = problem.a;
    kernel.b = problem.b();
    kernel.c = problem.c;
    kernel.scale_block = problem.scale_block;
    return kernel;
}

RowBytes row_bytes(const ElementwiseProblem& problem) {
    const program::Kernel kernel = kernel_of(problem, 1);
    const auto plain = [&](DataType type) { return problem.n * bits_of(type) / kBitsPerByte; };
    return {program::row_bytes(kernel, problem.n), problem.has_b() ? plain(kernel.b) : 0,
            plain(problem.c)};
}

}  // namespace tilesim::workloads::npu::elementwise
