// libFuzzer target: any bytes as the text of a kernel. It must be read or refused, and what was
// read must print as what is read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "arch/amx/program/program_text.hpp"
#include "arch/base/check.hpp"
#include "arch/base/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim::arch;
    std::string printed;
    try {
        printed = amx::program::print(
            amx::program::read_program({reinterpret_cast<const char*>(data), size}, "fuzz"));
    } catch (const base::config::ConfigError&) {
        return 0;  // refused: fine
    }
    const std::string again = amx::program::print(amx::program::read_program(printed, "printed"));
    SIM_CHECK(again == printed, "printed:\n{}\nand again:\n{}", printed, again);
    return 0;
}
