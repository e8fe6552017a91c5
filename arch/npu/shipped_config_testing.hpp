// The array of a shipped device file, for tests and fuzz targets (TILESIM_SOURCE_DIR is theirs).
#pragma once

#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::arch::npu {

inline NpuConfig shipped_config(const std::string& device) {
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/devices/" + device + ".yaml");
    return read_npu_config(document.root().child("npu", "the array"));
}

}  // namespace tilesim::arch::npu
