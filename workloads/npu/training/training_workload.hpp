// `workload.model` with batch and sequence: a training step, or one direction of it.
#pragma once

#include <vector>

#include "workloads/npu/training/training_step.hpp"
#include "workloads/problem.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::workloads::npu::training {

struct TrainingWorkload {
    TransformerModel model;
    TrainingShape shape;
    enum class Phase { Forward, Backward, Step } phase = Phase::Step;
};
const char* name_of(TrainingWorkload::Phase phase);

// Its operators in the order in which they run.
std::vector<TrainingOperator> operators_of(const TrainingWorkload& training);

const ProblemKind& training_kind();

}  // namespace tilesim::workloads::npu::training
