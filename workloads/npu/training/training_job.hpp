// Runs a training step: each size of product once on the array, every call with its stages on the
// processor, every other operator by the processor's roofline.
#pragma once

#include <memory>
#include <vector>

#include "workloads/dataflow.hpp"
#include "workloads/npu/training/offload_mapping.hpp"
#include "workloads/npu/training/training_step.hpp"

namespace tilesim::workloads::npu::training {

// `products`: the mapping all products share. The case must outlive the job.
std::unique_ptr<Job> training_job(const Case& a_case, const OffloadMapping& offload,
                                  Mapping products, std::vector<TrainingOperator> operators);

}  // namespace tilesim::workloads::npu::training
