// How many instructions a second a core simulates while its operands stay in the L1.
#include <benchmark/benchmark.h>

#include "arch/amx/core/core.hpp"
#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::socket {
namespace {

constexpr const char* kStep = R"(
buffer a 0x100000 16384
buffer b 0x108000 16384
config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64
ldtilecfg 0
loop i 1000
  loop k 8
    tileloadd tmm6, [b + 2048*k], 64
    tileloadd tmm4, [a + 2048*k], 64
    tdpbssd tmm0, tmm4, tmm6
    tileloadd tmm5, [a + 2048*k + 1024], 64
    tdpbssd tmm2, tmm5, tmm6
    tileloadd tmm7, [b + 2048*k + 1024], 64
    tdpbssd tmm1, tmm4, tmm7
    tdpbssd tmm3, tmm5, tmm7
  end
end
)";

void L1Resident(benchmark::State& state) {
    const AmxConfig config;
    const program::Program program = program::read_program(kStep, "bench");
    std::int64_t instructions = 0;
    for (auto _ : state) {
        core::Core core(config, program);
        for (const program::Buffer& buffer : program.buffers) {
            for (std::int64_t line = 0; line < buffer.bytes / caches::kLineBytes; ++line) {
                core.caches().warm(buffer.address / caches::kLineBytes + line, caches::Level::L1,
                                   false);
            }
        }
        while (!core.finished()) {
            core.advance(core.now() + 64);
        }
        instructions += core.counters().instructions;
    }
    state.SetItemsProcessed(instructions);
}
BENCHMARK(L1Resident)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilesim::arch::amx::socket
