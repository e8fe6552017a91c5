// A program whose run-time sequence writes its configuration itself, register by register, as
// mlir-aie makes it of a load_pdi with --expand-load-pdis.
#pragma once

#include <cstdint>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu {

// Puts the writes in front of the sequence; returns how many. `program` need not be ready: throws
// ConfigError where `prepare` does.
std::int64_t write_configuration(arch::npu::program::Program& program,
                                 const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu
