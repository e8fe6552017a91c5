// Why an elementwise mapping cannot run on an array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/elementwise/elementwise_mapping.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"

namespace tilesim::workloads::npu::elementwise {

// The fewest rows of so many bytes that are whole words, of which descriptors move some.
std::int64_t rows_of_whole_words(std::int64_t bytes);
// The fewest elements that are whole words, whatever their type.
std::int64_t elements_of_whole_words();

// Sentences that name what limits it; none when it can run.
std::vector<std::string> problems_of(const ElementwiseProblem& problem,
                                     const ElementwiseMapping& mapping,
                                     const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::elementwise
