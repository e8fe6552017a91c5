// A GEMM on one core of XDNA2 as a driver has it loaded: what is left to the driver are locks,
// parameters, the shim's descriptors and its start queues.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/fabric/fabric_config.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "arch/systemc/array/npu.hpp"

namespace tilesim::arch::systemc::array {

// The fabric of a shipped device file.
inline fabric::FabricConfig shipped_fabric(const std::string& device) {
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/devices/" + device + ".yaml");
    return fabric::read_fabric_config(document.root().child("fabric", ""));
}

// The program of docs/examples/driver.cpp.
inline npu::program::Program gemm_program(const npu::NpuConfig& config) {
    auto document =
        base::config::Document::load(std::string{TILESIM_SOURCE_DIR} + "/docs/examples/gemm.yaml");
    auto root = document.root();
    npu::program::Program program = npu::program::read_program(root);
    root.done();
    document.finish();
    return prepare_for_driver(std::move(program), config);
}

}  // namespace tilesim::arch::systemc::array
