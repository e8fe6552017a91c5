// A scenario's key `design`: a lowered AIE-dialect file (MLIR), what it does not say, and what its
// arguments hold. `tilesim run design.mlir` is a scenario with nothing but this key.
#pragma once

#include <string>

#include "workloads/npu/mlir/design/design.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::workloads::npu::mlir::design {

struct DesignFile {
    Source source;
    ReadOptions options;
    // Text of all files read, for the provenance.
    std::string text;
};

// Whether a file is a design rather than a scenario: by its name, and its content where the name
// leaves that open.
bool is_design_file(const std::string& file);
// The scenario that runs this design as it is.
std::string scenario_of_design(const std::string& file);

// `node`: the map under `design`; `scenario`: its file, which relative names are beside.
DesignFile read_design_file(arch::base::config::Node node, const std::string& scenario);

// The device the design's own target means. Throws ConfigError where it is none of ours.
std::string device_of_design(const DesignFile& design, std::vector<std::string>& notes);

}  // namespace tilesim::workloads::npu::mlir::design
