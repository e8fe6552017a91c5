// How many instructions a second a core simulates while its operands stay in the L1, and while all
// but a block of A come from the L2: when it executes every turn of the outermost loop, and when it
// skips those that repeat.
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

// The products of 32 rows with 256 columns, K = 256 of bf16, as a published kernel orders them.
constexpr const char* kRows = R"(
buffer a 0x100000 16384
buffer b 0x110000 131072
buffer c 0x140000 32768
config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64
ldtilecfg 0
loop i 100
  loop n 8
    loop k 8
      tileloadd tmm4, [a + 64*k], 512
      tileloadd tmm6, [b + 16384*n + 2048*k], 64
      tdpbf16ps tmm0, tmm4, tmm6
      tileloadd tmm5, [a + 64*k + 8192], 512
      tdpbf16ps tmm2, tmm5, tmm6
      tileloadd tmm7, [b + 16384*n + 2048*k + 1024], 64
      tdpbf16ps tmm1, tmm4, tmm7
      tdpbf16ps tmm3, tmm5, tmm7
    end
    tilestored [c + 128*n], 1024, tmm0
    tilestored [c + 128*n + 64], 1024, tmm1
    tilestored [c + 128*n + 16384], 1024, tmm2
    tilestored [c + 128*n + 16448], 1024, tmm3
  end
end
)";

void resident(benchmark::State& state, const char* text, caches::Level level, bool leaps) {
    constexpr std::int64_t kSlice = 64;
    const AmxConfig config;
    const program::Program program = program::read_program(text, "bench");
    std::int64_t instructions = 0;
    for (auto _ : state) {
        core::Core core(config, program);
        for (const program::Buffer& buffer : program.buffers) {
            for (std::int64_t line = 0; line < buffer.bytes / caches::kLineBytes; ++line) {
                core.caches().warm(core.pages().physical(caches::line_at(buffer.address) + line),
                                   level, false);
            }
        }
        if (leaps) {
            core.be_alone();
        }
        while (!core.finished()) {
            core.advance(core.now() + kSlice);
            core.leap(kSlice);
        }
        instructions += core.counters().instructions;
    }
    state.SetItemsProcessed(instructions);
}
BENCHMARK_CAPTURE(resident, l1, kStep, caches::Level::L1, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(resident, l2, kRows, caches::Level::L2, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(resident, l1_skipping, kStep, caches::Level::L1, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(resident, l2_skipping, kRows, caches::Level::L2, true)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilesim::arch::amx::socket
