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
          {"tileloadd tmm0, [0], 64\n", 0},
          {"tilestored [0], 64, tmm0\n", 0},
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

TEST(CoreOrder, NothingEntersWhileAPauseLasts) {
    AmxConfig config;
    config.window.allocate = 1;
    const std::string idiom = "vpxord zmm1\n";  // may retire in the cycle after it enters
    EXPECT_EQ(end_of(idiom + "pause 13\n" + idiom, config), 1 + 13 + 1);
}

TEST(CoreOrder, AfterAnIllegalInstructionACoreIsFinished) {
    const program::Program program = program::read_program("vpxord zmm1\ntilezero tmm0\n", "test");
    const AmxConfig config;
    Core core(config, program);
    core.advance(100);
    EXPECT_TRUE(core.fault());
    EXPECT_EQ(core.spent(CoreState::Finished), 100 - 1);
}

TEST(CoreOrder, CountsTilesTheirLinesAndRows) {
    const program::Program program = program::read_program(
        "config 0 7x64 16x64 16x64 16x64 7x64 16x64 16x64 16x64\nldtilecfg 0\n"
        "vmovups zmm1, [0]\ntileloadd tmm4, [0], 64\ntdpbssd tmm0, tmm4, tmm6\n"
        "vmovups [0x100800], zmm1\ntilestored [0x100000], 64, tmm0\nbarrier\n",
        "test");
    AmxConfig config;
    config.tiles.dot_loads_b = true;
    Core core(config, program);
    for (caches::Line line = 0; line < 64; ++line) {
        core.caches().warm(line, caches::Level::L1, false);
        core.caches().warm(kPage / caches::kLineBytes + line, caches::Level::L1, false);
    }
    core.advance(1000);
    EXPECT_TRUE(core.at_barrier());
    EXPECT_EQ(core.counters().instructions, 7);  // the barrier too
    EXPECT_EQ(core.counters().tile_loads, 1);
    EXPECT_EQ(core.counters().tile_load_lines, 7);
    EXPECT_EQ(core.counters().dots, 1);
    EXPECT_EQ(core.counters().dot_cycles, 7);
    EXPECT_EQ(core.counters().b_cycles, 16);
    EXPECT_EQ(core.counters().tile_stores, 1);
    core.pass_barrier(1000);
    EXPECT_FALSE(core.at_barrier());
}

// Enters in 0, starts in 1, has its data in 2 and retires, reaches the L1 in 3.
TEST(CoreOrder, AnInstructionThatRetiresAndAStoreThatReachesTheL1AreProgress) {
    const program::Program program = program::read_program("vmovups [0x100000], zmm1\n", "test");
    const AmxConfig config;
    Core core(config, program);
    core.caches().warm(kPage / caches::kLineBytes, caches::Level::L1, false);
    for (const auto& [end, progress] : {std::pair{2, 0U}, {3, 1U}, {4, 2U}}) {
        core.advance(end);
        EXPECT_EQ(core.progress(), progress) << end;
    }
}

TEST(CoreOrder, AProgramOnceMoreBeginsWhereItIsToldAndCountsFromThere) {
    const program::Program program = program::read_program(kAdd, "test");
    AmxConfig config;
    config.vector.second_port = false;
    Core core(config, program);
    core.advance(20);
    EXPECT_EQ(core.finished_at(), 1 + 4);
    core.restart(100);
    EXPECT_EQ(core.now(), 100);
    EXPECT_FALSE(core.finished());
    core.advance(150);
    EXPECT_EQ(core.finished_at(), 100 + 1 + 4);
    EXPECT_EQ(core.counters().instructions, 1);
    std::int64_t spent = 0;
    for (std::size_t state = 0; state < kCoreStates.kStates; ++state) {
        spent += core.spent(static_cast<CoreState>(state));
    }
    EXPECT_EQ(spent, 50);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
