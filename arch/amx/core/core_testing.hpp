// Programs on one core: for tests of the core as a whole.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "arch/amx/core/core.hpp"
#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::core {

inline constexpr std::int64_t kPage = 1 << 20;

struct Run {
    std::int64_t cycles = 0;
    std::array<std::int64_t, kCoreStates.kStates> spent{};
    std::array<std::int64_t, kCoreStates.kStates> overlapped{};
};

// With the first 32 KiB after 0 and after kPage in the L1 where they fit.
inline Run run(const program::Program& program, const AmxConfig& config = {},
               caches::Level level = caches::Level::L1) {
    Core core(config, program);
    for (caches::Line line = 0; line < 256; ++line) {
        core.caches().warm(line, level, false);
        core.caches().warm(kPage / caches::kLineBytes + line, level, false);
    }
    while (!core.finished() && core.now() < 10'000'000) {
        core.advance(core.now() + 1000);
    }
    EXPECT_FALSE(core.fault()) << core.fault()->reason;
    Run result{core.finished_at(), {}, {}};
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < kCoreStates.kStates; ++i) {
        result.spent[i] = core.spent(static_cast<CoreState>(i));
        result.overlapped[i] = core.overlapped(static_cast<CoreState>(i));
        sum += result.spent[i];
    }
    EXPECT_EQ(sum, core.now());
    return result;
}

inline constexpr const char* kConfigure =
    "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n";

inline AmxConfig with_configuration(std::int64_t cycles) {
    AmxConfig config;
    config.tiles.load_config = base::Cycles{cycles};
    return config;
}

// The cycle in which the last instruction has retired and the last store is in the L1.
inline std::int64_t end_of(const std::string& text, const AmxConfig& config) {
    return run(program::read_program(text, "test"), config).cycles;
}

}  // namespace tilesim::arch::amx::core
