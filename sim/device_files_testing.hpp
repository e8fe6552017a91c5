// For tests: a device file that names its memory by a path from its own folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tilesim::sim {

// Writes FOLDER/npu.yaml, xdna but for its memory, which is FOLDER/memory/mine.yaml: ddr5_5600.
inline void write_device_with_memory_beside(const std::filesystem::path& folder) {
    const std::filesystem::path devices =
        std::filesystem::path{TILESIM_SOURCE_DIR} / "configs/devices";
    std::filesystem::create_directory(folder / "memory");
    std::filesystem::copy_file(devices / "ddr5_5600.yaml", folder / "memory/mine.yaml");
    std::ifstream shipped(devices / "xdna.yaml");
    std::string device{std::istreambuf_iterator<char>{shipped}, {}};
    const std::string named = "memory: ddr5_5600";
    device.replace(device.find(named), named.size(), "memory: memory/mine.yaml");
    std::ofstream(folder / "npu.yaml") << device;
}

}  // namespace tilesim::sim
