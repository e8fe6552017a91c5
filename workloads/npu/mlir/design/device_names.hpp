// Which of our devices a design's target name means, and how much of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilesim::workloads::npu::mlir::design {

struct Target {
    std::string device = {};   // empty when we have none of this name
    std::int64_t columns = 0;  // of the partition; 0: the whole array
    bool operator==(const Target&) const = default;
};

// "npu1_2col" is two columns of "xdna", "npu2" is "xdna2".
Target read_target(std::string_view name);

}  // namespace tilesim::workloads::npu::mlir::design
