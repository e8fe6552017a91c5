// What this front end speaks of: the array's rooms, under their own names.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/npu/stream/stream_switch.hpp"

namespace tilesim::workloads::npu::mlir {

namespace program = arch::npu::program;
namespace stream = arch::npu::stream;
using arch::npu::DataType;
using arch::npu::DmaConfig;
using arch::npu::kDataTypes;
using arch::npu::LockKind;
using arch::npu::NpuConfig;

}  // namespace tilesim::workloads::npu::mlir
