// `mapping.amx`: matrix products and convolutions on AMX cores; and instructions as they are,
// `workload.amx_program`.
#pragma once

#include <string>

#include "arch/amx/program/instruction.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

// Instructions for AMX cores in their text form (arch/amx/program/program_text.hpp).
struct AmxProgramWorkload {
    std::string file;
    std::vector<arch::amx::program::Program> programs;  // one a thread
    AmxMapping::DataIn data_in = AmxMapping::DataIn::L1;
};

const ProblemKind& convolution_kind();
const ProblemKind& amx_program_kind();
const Dataflow& amx_dataflow();
const Dataflow& amx_program_dataflow();

}  // namespace tilesim::workloads::amx::tiles
