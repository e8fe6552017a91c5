// Runs a model: every operator of a layer once, in the banks, on an NPU or by the roofline of the
// system on chip, and the prompt's likewise.
#pragma once

#include <memory>

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::pim::transformer {

// The case must outlive the job.
std::unique_ptr<Job> model_job(const Case& a_case);

}  // namespace tilesim::workloads::pim::transformer
