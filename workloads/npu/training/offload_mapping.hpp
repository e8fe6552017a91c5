// The keys of `mapping.offload`: how a training step's products get to the NPU and back.
#pragma once

#include "arch/base/config.hpp"
#include "arch/base/data_type.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/training/training_step.hpp"

namespace tilesim::workloads::npu::training {

struct OffloadMapping {
    enum class Reconfiguration {
        Minimal,    // a new size rewrites shim descriptors and run-time parameters
        WholeArray  // a new size configures the array anew
    } reconfiguration = Reconfiguration::Minimal;
    bool b_column_major = true;  // as the array reads B; what lies otherwise is transposed
    arch::base::DataType operands = arch::base::DataType::Bf16;
    arch::base::DataType result = arch::base::DataType::F32;
    bool parallel_copies = true;      // by all cores of the processor
    bool parallel_operators = false;  // all of them, not only those the trainer shares out
};

void read_keys(arch::base::config::Node& node, OffloadMapping& offload);

// The GEMM the array runs for a product.
GemmProblem gemm_of(const TrainingProduct& product, const OffloadMapping& offload);

}  // namespace tilesim::workloads::npu::training
