// libFuzzer target: any bytes as a raw trace or as trace JSON. They must be read or refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include "arch/base/config.hpp"
#include "sim/compare/raw_trace.hpp"
#include "sim/compare/trace_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim::sim::compare;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    try {
        if (is_raw_trace(bytes)) {
            parse_raw_trace(bytes, "fuzz", {});
        } else {
            parse_trace(bytes, "fuzz");
        }
    } catch (const tilesim::arch::base::config::ConfigError&) {
        // Refused: fine.
    }
    return 0;
}
