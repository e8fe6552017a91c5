// `workload.model` with batch and sequence, and `mapping.offload`: a training step whose matrix
// products an NPU takes, the rest staying on the processor beside it.
#pragma once

#include "workloads/dataflow.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/training/training_step.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::workloads::npu::training {

struct TrainingWorkload {
    TransformerModel model;
    TrainingShape shape;
    enum class Phase { Forward, Backward, Step } phase = Phase::Step;
};
const char* name_of(TrainingWorkload::Phase phase);

// How its products get to the NPU and back.
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

// The GEMM the array runs for a product.
GemmProblem gemm_of(const TrainingProduct& product, const OffloadMapping& offload);

const ProblemKind& training_kind();
const Dataflow& offload_dataflow();

}  // namespace tilesim::workloads::npu::training
