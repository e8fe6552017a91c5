// The keys of `mapping.elementwise`, and what a core does and holds with them.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu::elementwise {

inline constexpr std::int64_t kFewestBuffers = 1, kMostBuffers = 4;

struct ElementwiseMapping {
    std::int64_t columns = 0;        // of cores, the first with a shim DMA; 0: all of those
    std::int64_t cores = 1;          // of a column, each with channels of its shim of its own
    std::int64_t rows_per_call = 1;  // of the operand, that a kernel call works on
    // A call works on so many elements, whatever row they are of; 0: on whole rows.
    std::int64_t elements_per_call = 0;
    std::int64_t buffers = 2;     // of each operand, per core
    std::int64_t cast_lanes = 0;  // of an iteration of a cast's loop, where the compiler does
                                  // not overlap iterations; 0: it does

    std::int64_t columns_of(const arch::npu::NpuConfig& config) const {
        return columns == 0 ? ShimColumns::count(config) : columns;
    }
    std::int64_t cores_of(const arch::npu::NpuConfig& config) const {
        return columns_of(config) * cores;
    }
};
void read_keys(arch::base::config::Node& node, ElementwiseMapping& mapping);
// Whether what a call works on is to be chosen, with whatever else is not stated.
bool leaves_open(const arch::base::config::Node& node, const ElementwiseMapping& mapping);

// The problem as cores see it, which is what the functions of this folder work on: where calls take
// elements of any row, these are its rows. Of such a problem it makes the same again.
ElementwiseProblem as_called(ElementwiseProblem problem, const ElementwiseMapping& mapping);

// Kernel calls of a core.
std::int64_t calls_of(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                      const arch::npu::NpuConfig& config);

inline constexpr std::int64_t kCoreA = 0, kCoreB = 1, kCoreC = 0;  // channels of cores

// Of B, a core: all calls work on one where it is kept.
std::int64_t b_buffers(const ElementwiseProblem& problem, const ElementwiseMapping& mapping);

// Bytes of each buffer of a core, A's first, then B's and C's.
std::vector<std::int64_t> core_buffers(const ElementwiseProblem& problem,
                                       const ElementwiseMapping& mapping);

}  // namespace tilesim::workloads::npu::elementwise
