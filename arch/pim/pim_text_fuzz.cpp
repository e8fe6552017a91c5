// libFuzzer target: any bytes as the text of a PIM program and as a trace of the AiM simulator.
// They must be read or refused, and what was read must be judged and print as what is read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "arch/base/check.hpp"
#include "arch/base/config.hpp"
#include "arch/pim/pim_testing.hpp"
#include "arch/pim/program_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tilesim::arch;
    static const memory::device::MemoryConfig memory = pim::prime_memory();
    static const pim::PimConfig config = pim::prime_pim();
    const pim::ProgramTarget target{config, memory};
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        pim::violations(pim::read_aim_trace(text, "fuzz", target), "fuzz", target);
    } catch (const base::config::ConfigError&) {
        // Refused: fine.
    }
    std::string printed;
    try {
        const pim::PimProgram program = pim::read_program(text, "fuzz", {1, 1}, target);
        pim::violations(program, "fuzz", target);
        printed = pim::print(program);
    } catch (const base::config::ConfigError&) {
        return 0;  // refused: fine
    }
    const std::string again = pim::print(pim::read_program(printed, "printed", {1, 1}, target));
    SIM_CHECK(again == printed, "printed:\n{}\nand again:\n{}", printed, again);
    return 0;
}
