// libFuzzer target: any bytes as a design. It must be read or refused, and what was read must be
// verified and routed on the device it names, or refused.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/program/program_print.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "arch/npu/stream/router.hpp"
#include "workloads/npu/mlir/design/design.hpp"
#include "workloads/npu/mlir/design/device_names.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace {

// That of XDNA where the name is none we have.
const tilesim::arch::npu::NpuConfig& config_of(const std::string& target) {
    static std::map<std::string, tilesim::arch::npu::NpuConfig> configs;
    std::string device = tilesim::workloads::npu::mlir::design::read_target(target).device;
    device = device.empty() ? "xdna" : device;
    if (!configs.contains(device)) {
        configs.emplace(device, tilesim::arch::npu::shipped_config(device));
    }
    return configs.at(device);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim;
    try {
        workloads::npu::mlir::ReadOptions options;
        options.costs.default_core = workloads::npu::mlir::BodylessCore{100, 1};
        const auto source = workloads::npu::mlir::design::parse_design(
            {reinterpret_cast<const char*>(data), size}, "fuzz.mlir");
        const arch::npu::NpuConfig& config =
            config_of(workloads::npu::mlir::design::target_of(source, options));
        arch::npu::program::Program program =
            workloads::npu::mlir::design::lower(source, options, config).program;
        if (arch::npu::check::verify(program, config).empty()) {
            arch::npu::stream::route(program, config);
            arch::npu::program::print(program);
        }
    } catch (const arch::base::config::ConfigError&) {
        // Refused: fine.
    }
    return 0;
}
