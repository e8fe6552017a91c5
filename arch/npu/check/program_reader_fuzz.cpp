// libFuzzer target: any bytes as a program file. It must be read or refused, and what was read must
// be verified and routed or refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/program/program_print.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "arch/npu/stream/router.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim::arch;
    try {
        auto document =
            base::config::Document::parse({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
        auto root = document.root();
        npu::program::Program program = npu::program::read_program(root);
        document.finish();
        static const npu::NpuConfig config = npu::shipped_config("xdna");
        if (npu::check::verify(program, config).empty()) {
            npu::stream::route(program, config);
            npu::program::print(program);
        }
    } catch (const base::config::ConfigError&) {
        // Refused: fine.
    }
    return 0;
}
