// What AMX cores compute besides a GEMM: `workload.conv`, a direct convolution, and
// `workload.amx_program`, instructions as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/problem.hpp"

namespace tilesim::workloads::amx::tiles {

// Instructions for AMX cores in their text form (arch/amx/program/program_text.hpp).
struct AmxProgramWorkload {
    std::string file;                                   // as it was written
    std::string path;                                   // as it is found, and named in messages
    std::vector<arch::amx::program::Program> programs;  // one a thread
    AmxMapping::DataIn data_in = AmxMapping::DataIn::L1;
    std::int64_t count = 1;  // passes of its loop of COUNT
    bool counted = false;    // it has such a loop
};

const ProblemKind& convolution_kind();
const ProblemKind& amx_program_kind();

}  // namespace tilesim::workloads::amx::tiles
