// A configuration data object (CDO): the register writes that set an array up; alone, in a PDI, or
// in a PDI of an xclbin; bytes, or the text of them that some tools write.
//
// Source: mlir-aie's AIETargetCDODirect; AMD UG1304 (commands of platform loaders).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/npu/binary/transaction.hpp"

namespace tilesim::workloads::npu::binary {

// Whether there is one in the file.
bool holds_configuration(const std::string& bytes);
// What a file configures.
struct Configuration {
    std::vector<Instruction> writes;
    std::size_t elsewhere = 0;  // writes of other units: processors, memory, clocks
    std::string others;         // what is said of configurations beside it in the file, or empty
};
// The writes of all CDOs of the configuration; of an xclbin's it is the `part`th, from 1, or the
// first. Throws ConfigError.
Configuration read_configuration(const std::string& bytes, const std::string& file,
                                 std::int64_t part = 0);

}  // namespace tilesim::workloads::npu::binary
