// What is done element by element or row by row (arch/npu/core/vector_kernel_timing.hpp), lowered
// to a program: consecutive rows over the columns of an array, one core a column.
//
// Each shim streams its column's rows to a core on one channel and what goes with them (a second
// operand, or the weights of a normalisation, once) on the other; the core works on a few rows at a
// time and sends them back. Nothing is used twice: DRAM or the columns' streams limit it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/bounds.hpp"
#include "workloads/npu/memory_path.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu::elementwise {

struct ElementwiseProblem {
    arch::npu::program::VectorOperation operation = arch::npu::program::VectorOperation::Add;
    std::int64_t m = 1, n = 0;  // rows, and elements of one
    arch::npu::DataType a = arch::npu::DataType::Bf16;
    arch::npu::DataType c = arch::npu::DataType::Bf16;
    std::int64_t scale_block = 0;
};
void read_keys(arch::base::config::Node& node, ElementwiseProblem& problem);

struct ElementwiseMapping {
    std::int64_t columns = 0;        // of cores, from the west; 0: all
    std::int64_t rows_per_call = 1;  // of the operand, that a kernel call works on
    std::int64_t buffers = 2;        // of each operand, per core
    std::int64_t cast_lanes = 0;     // of an iteration of a cast's loop, where the compiler does
                                     // not overlap iterations; 0: it does

    std::int64_t columns_of(const arch::npu::NpuConfig& config) const {
        return columns == 0 ? config.columns : columns;
    }
};
void read_keys(arch::base::config::Node& node, ElementwiseMapping& mapping);

struct LoweredElementwise {
    arch::npu::program::Program program;
    std::int64_t calls = 0;  // of a core
    std::int64_t padded_m = 0;
};

// Why the mapping cannot run; empty when it can.
std::vector<std::string> problems_of(const ElementwiseProblem& problem,
                                     const ElementwiseMapping& mapping,
                                     const arch::npu::NpuConfig& config);
// Throws ConfigError with these.
LoweredElementwise lower(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                         const arch::npu::NpuConfig& config);

GemmBounds bounds_of(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

// What a run may take: the columns' tasks one after the other, then the last column's rows, through
// its port, its stream or its core; or all columns' rows over what they share.
double expected_ns(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                   const arch::npu::NpuConfig& config, const MemoryPath& path);

// Mappings worth a try, those that fit; the widest first.
std::vector<ElementwiseMapping> mappings_of(const ElementwiseProblem& problem,
                                            const arch::npu::NpuConfig& config);

// Floats in [-1, 1), integers of all values, scale factors in (0, 1].
void fill_operands(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                   std::uint64_t seed, arch::memory::port::BackingStore& store);
// Every element against the operation in double precision, to within the rounding of C's type.
ProductCheck check_result(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                          const arch::memory::port::BackingStore& store);

}  // namespace tilesim::workloads::npu::elementwise
