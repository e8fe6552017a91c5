// A configuration data object (CDO): the register writes that set an array up; alone, in a PDI, or
// in the PDI of an xclbin.
//
// Source: mlir-aie's AIETargetCDODirect; AMD UG1304 (commands of platform loaders).
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/binary/transaction.hpp"

namespace tilesim::workloads::npu::binary {

// Where a configuration begins, in words; nothing where the file has none.
bool holds_configuration(const std::string& bytes);
// The writes of every configuration in the file, in order. Throws ConfigError.
std::vector<Instruction> read_configuration(const std::string& bytes, const std::string& file);

}  // namespace tilesim::workloads::npu::binary
