// Which of our devices a design's target name means.
#pragma once

#include <string>
#include <string_view>

namespace tilesim::workloads::npu::mlir::design {

// "npu1_4col" is "xdna", "npu2" is "xdna2"; empty when we have no such device.
std::string device_of(std::string_view target);

}  // namespace tilesim::workloads::npu::mlir::design
