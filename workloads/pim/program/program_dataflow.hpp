// `pim_program`: commands to banks with units, written by hand or imported, as a whole workload.
#pragma once

#include <string>

#include "arch/base/data_type.hpp"
#include "arch/pim/program_text.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::pim::program {

// As written; the device decides what it means.
struct ProgramWorkload {
    std::string text;
    std::string file;                   // for messages
    arch::base::FilePlace begin{1, 1};  // of the text in it
    bool aim_trace = false;
    arch::base::DataType weights = arch::base::DataType::Int8;
    arch::base::DataType input = arch::base::DataType::Int8;
    arch::base::DataType accumulate = arch::base::DataType::Int32;
    std::int64_t tile_rows = 0;  // outputs a word's lanes belong to; 0: one a lane
};

// Throws ConfigError where a command is none or not legal on the device.
arch::pim::PimProgram program_of(const ProgramWorkload& workload, const Device& device);

// A note on MACs whose sums no later command takes out of the registers; empty where there are
// none.
std::string kept_sums(const arch::pim::PimProgram& program, std::int64_t banks);

const ProblemKind& program_kind();
const Dataflow& program_dataflow();

}  // namespace tilesim::workloads::pim::program
