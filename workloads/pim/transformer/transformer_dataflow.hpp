// A transformer answering prompts with its matrices in the banks (model_workload.hpp).
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::pim::transformer {

const Dataflow& model_dataflow();

}  // namespace tilesim::workloads::pim::transformer
