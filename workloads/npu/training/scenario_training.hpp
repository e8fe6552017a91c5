// The parts of a scenario that only training steps and other transformer workloads have.
#pragma once

#include <string>

#include "sim/scenario.hpp"

namespace tilesim::sim {

// The transformer `name` stands for; an empty one, with an error at `node`, when there is none.
workloads::TransformerModel load_model(arch::base::config::Node& node, const std::string& name);

// Whether a `model` workload is a training step: it says batch, sequence or phase.
bool is_training(const arch::base::config::Node& node);
TrainingWorkload read_training(arch::base::config::Node& node);
OffloadMapping read_offload(arch::base::config::Node node);

// The GEMM the array runs for a product.
workloads::GemmProblem gemm_of(const workloads::TrainingProduct& product,
                               const OffloadMapping& offload);

// Reports what a training step, or an offload without one, cannot mean. True when no other
// workload's checks are wanted.
bool check_training(arch::base::config::Node& root, const Scenario& scenario);

}  // namespace tilesim::sim
