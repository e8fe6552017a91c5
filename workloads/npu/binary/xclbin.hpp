// The configurations (PDIs) of an xclbin's AIE partitions: what the array can be loaded with. An
// xclbin also holds its platform's boot image, a PDI as well, which no design is part of.
//
// Source: XRT's xclbin.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilesim::workloads::npu::binary {

// None where the file is no xclbin, or one without a partition. Views of `bytes`. Throws
// ConfigError.
std::vector<std::string_view> partition_images(const std::string& bytes, const std::string& file);

}  // namespace tilesim::workloads::npu::binary
