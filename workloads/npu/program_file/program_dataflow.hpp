// Programs for an array that somebody has written: the key `program` at the root of a file.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::program_file {

const ProblemKind& program_kind();
// Runs hand-written programs and designs alike.
const Dataflow& program_dataflow();

}  // namespace tilesim::workloads::npu::program_file
