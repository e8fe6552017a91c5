// libFuzzer target: any bytes as a design. It must be read or refused, and what was read must be
// verified and routed or refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/program/program_print.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "arch/npu/stream/router.hpp"
#include "workloads/npu/mlir/design/design.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim;
    try {
        static const arch::npu::NpuConfig config = arch::npu::shipped_config("xdna");
        workloads::npu::mlir::ReadOptions options;
        options.costs.default_core = workloads::npu::mlir::BodylessCore{100, 1};
        const auto source = workloads::npu::mlir::design::parse_design(
            {reinterpret_cast<const char*>(data), size}, "fuzz.mlir");
        auto [program, notes, trace_slots] =
            workloads::npu::mlir::design::lower(source, options, config);
        if (arch::npu::check::verify(program, config).empty()) {
            arch::npu::stream::route(program, config);
            arch::npu::program::print(program);
        }
    } catch (const arch::base::config::ConfigError&) {
        // Refused: fine.
    }
    return 0;
}
