// Reads a lowered AIE-dialect design (MLIR text) into a program.
//
// Models:  the physical form mlir-aie and iree-amd-aie print after their lowering: tiles, buffers,
//          locks, DMA regions, flows or switchboxes, core bodies as scripts of lock operations and
//          kernel calls, and the run-time sequence. docs/designs.md lists the operations.
// Ignores: what a core computes (its time only), trace set-up, task-complete-token routes.
// Source:  the operation definitions and test designs of Xilinx/mlir-aie and nod-ai/iree-amd-aie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/npu/mlir/read_options.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::workloads::npu::mlir::design {

struct Design {
    program::Program program;
    std::vector<std::string> notes;  // what was assumed or left out, a sentence each
    std::vector<program_file::TraceSlots> trace_slots;
    std::vector<program_file::ProgramWorkload::Fill> fills;  // what buffers hold at start
    std::vector<std::string> functional_notes;               // of what a functional run lacks
};

// `part`: of a file that lines "// -----" cut into several, counted from 1; 0: all of it.
// Throws ConfigError, "file:line:column: what is wrong".
Source parse_design(const std::string& text, const std::string& file, std::int64_t part = 0);
// The target of the design's aie.device ("npu1_4col"). Throws ConfigError.
std::string target_of(const Source& source, const ReadOptions& options);
// Throws ConfigError with every error found, one a line.
Design lower(const Source& source, const ReadOptions& options, const NpuConfig& config);

}  // namespace tilesim::workloads::npu::mlir::design
