// `workload.memory_stream` and `workload.memory_trace`: requests to the memory alone, of any
// device.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::memory::streams {

const ProblemKind& stream_kind();
const ProblemKind& trace_kind();
const Dataflow& stream_dataflow();

}  // namespace tilesim::workloads::memory::streams
