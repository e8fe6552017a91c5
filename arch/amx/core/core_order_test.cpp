#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/amx/core/core_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

const std::string kAdd = "vaddps zmm1, zmm8, zmm9\n";

// Enters in 0, starts in 1, is there four cycles later; the next can start a cycle behind it.
TEST(CoreOrder, NothingPassesAnLfenceThatWaitsForAllBeforeIt) {
    AmxConfig config;
    config.vector.second_port = false;
    EXPECT_EQ(end_of(kAdd + kAdd, config), 2 + 4);
    EXPECT_EQ(end_of(kAdd + "lfence\n" + kAdd, config), (1 + 4) + 1 + 4);
    const program::Program program = program::read_program(kAdd + "lfence\n" + kAdd, "test");
    Core core(config, program);
    core.advance(100);
    EXPECT_EQ(core.counters().instructions, 3);
}

// The store's line never comes.
TEST(CoreOrder, AnLfenceDoesNotWaitForStoresToReachTheL1) {
    const program::Program program =
        program::read_program("vmovups [0x1000], zmm1\nlfence\n" + kAdd, "test");
    const AmxConfig config;
    Core core(config, program);
    core.advance(100);
    EXPECT_EQ(core.counters().instructions, 3);
    EXPECT_FALSE(core.finished());
}

TEST(CoreOrder, ATileStoreWritesALineOfEachRow) {
    for (const std::int64_t stride : {64, 192}) {
        const program::Program program = program::read_program(
            fmt::format("{}tilestored [0x100000], {}, tmm0\n", kConfigure, stride), "test");
        const AmxConfig config;
        Core core(config, program);
        const caches::Line first = caches::line_at(kPage);
        for (caches::Line line = first; line < first + 64; ++line) {
            core.caches().warm(line, caches::Level::L1, false);
        }
        core.advance(1000);
        EXPECT_TRUE(core.finished());
        EXPECT_EQ(core.counters().tile_stores, 1);
        for (caches::Line line = 0; line < 64; ++line) {
            const bool row = line % (stride / 64) == 0 && line / (stride / 64) < 16;
            EXPECT_EQ(core.caches().dirty(first + line), row) << line;
        }
    }
}

TEST(CoreOrder, RowsThatDoNotStartOnALineTakeTwo) {
    const AmxConfig config = with_configuration(199);
    // Enters in 199; two lines a cycle from 200 on, L1 latency, tile.
    const auto end = [&config](const char* operand) {
        return end_of(fmt::format("{}tileloadd tmm0, {}\n", kConfigure, operand), config);
    };
    EXPECT_EQ(end("[0], 64"), 200 + 7 + 5 + 33);
    EXPECT_EQ(end("[0], 128"), 200 + 7 + 5 + 33);
    EXPECT_EQ(end("[0x20], 64"), 200 + 15 + 5 + 33);
    EXPECT_EQ(end("[0], 96"), 200 + 15 + 5 + 33);  // every second row crosses a line
}

TEST(CoreOrder, AConfigurationGivesEveryPhysicalTileBack) {
    AmxConfig config = with_configuration(199);
    config.tiles.physical_tiles = 2;
    const std::string loads = "tileloadd tmm0, [0], 64\ntileloadd tmm1, [1024], 64\n";
    EXPECT_LT(end_of(kConfigure + loads + "ldtilecfg 0\n" + loads, config), 600);
}

TEST(CoreOrder, ATileInstructionNeedsAConfigurationThatHoldsThen) {
    const std::string zero = "tilezero tmm0\n";
    for (const auto& [text, dynamic] :
         {std::pair{zero, 0},
          {kConfigure + std::string{"tilerelease\n"} + zero, 2},
          // Legal in the first pass of the loop, not in the second.
          {kConfigure + std::string{"loop i 2\n"} + zero + "tilerelease\nend\n", -1}}) {
        const program::Program program = program::read_program(text, "test");
        const AmxConfig config;
        Core core(config, program);
        core.advance(2000);
        ASSERT_TRUE(core.fault().has_value()) << text;
        EXPECT_FALSE(core.finished());
        if (dynamic >= 0) {
            EXPECT_EQ(core.counters().instructions, dynamic);
        }
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::core
