// libFuzzer target: any bytes as a raw trace, as trace JSON and as tables of times. They must be
// read or refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include "arch/base/config.hpp"
#include "sim/compare/amx_timing.hpp"
#include "sim/compare/raw_trace.hpp"
#include "sim/compare/timing_file.hpp"
#include "sim/compare/trace_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim::sim::compare;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const auto read = [&bytes](auto reader) {
        try {
            reader(bytes, "fuzz");
        } catch (const tilesim::arch::base::config::ConfigError&) {
            // Refused: fine.
        }
    };
    if (is_raw_trace(bytes)) {
        read([](const auto& text, const char* file) { parse_raw_trace(text, file, {}); });
        return 0;
    }
    read([](const auto& text, const char* file) { parse_trace(text, file); });
    read([](const auto& text, const char* file) { parse_timing(text, file); });
    read([](const auto& text, const char* file) { parse_amx_timing(text, file); });
    return 0;
}
