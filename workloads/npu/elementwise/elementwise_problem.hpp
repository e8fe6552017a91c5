// C = operation(A, B), by elements or by rows: the keys of `workload.elementwise`, the kernel that
// does it and the bytes of its rows.
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu::elementwise {

struct ElementwiseProblem {
    arch::npu::program::VectorOperation operation = arch::npu::program::VectorOperation::Add;
    std::int64_t m = 1, n = 0;  // rows, and elements of one
    arch::npu::DataType a = arch::npu::DataType::Bf16;
    arch::npu::DataType c = arch::npu::DataType::Bf16;
    std::int64_t scale_block = 0;  // elements that share a scale factor; 0: none
    std::int64_t heads = 1;        // rows of A that one row of B goes with

    bool has_b() const { return second() != arch::npu::program::SecondOperand::None; }
    // The same row of B goes with all of A's.
    bool keeps_b() const { return second() == arch::npu::program::SecondOperand::Row; }
    // C's elements depend on those of A and B in their place alone, which lie one after the other.
    bool by_elements() const;
    // Rows of B in DRAM, to go with so many of A.
    std::int64_t b_rows(std::int64_t rows) const;
    arch::npu::DataType b() const { return is_float(a) ? a : c; }

  private:
    arch::npu::program::SecondOperand second() const {
        return arch::npu::program::second_operand(operation);
    }
};
void read_keys(arch::base::config::Node& node, ElementwiseProblem& problem);

// What cores call for `rows` rows.
arch::npu::program::Kernel kernel_of(const ElementwiseProblem& problem, std::int64_t rows);

// Bytes of a row of each operand, scale factors behind A's elements; 0 where there is no B.
struct RowBytes {
    std::int64_t a = 0, b = 0, c = 0;
};
RowBytes row_bytes(const ElementwiseProblem& problem);

}  // namespace tilesim::workloads::npu::elementwise
