// How instructions enter the window and leave it.
#include <gtest/gtest.h>

#include <string>

#include "arch/amx/core/core_testing.hpp"
#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::core {
namespace {

// Zeroing a vector register executes nowhere: it may retire in the cycle after it enters.
std::string idioms(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += "vpxord zmm1\n";
    }
    return text;
}

TEST(CoreWindow, SoManyUopsEnterTheWindowACycle) {
    AmxConfig config;
    config.window.retire = 32;
    for (const auto& [width, last] : {std::pair{1, 29}, {5, 5}, {7, 4}}) {
        config.window.allocate = width;
        EXPECT_EQ(end_of(idioms(30), config), last + 1) << width;  // 30 uops, from cycle 0 on
    }
}

TEST(CoreWindow, SoManyUopsLeaveTheWindowACycle) {
    AmxConfig config;
    config.window.allocate = 32;
    for (const auto& [width, cycles] : {std::pair{1, 30}, {3, 10}, {7, 5}}) {
        config.window.retire = width;
        EXPECT_EQ(end_of(idioms(30), config), cycles) << width;  // from cycle 1 on
    }
}

TEST(CoreWindow, ALoopEndsWithTwoUopsAndOneBranch) {
    AmxConfig config;
    // Three uops an iteration; the last branch enters, starts a cycle later, takes one, retires.
    for (const auto& [width, last] : {std::pair{1, 29}, {3, 9}}) {
        config.window.allocate = width;
        EXPECT_EQ(end_of("loop i 10\n" + idioms(1) + "end\n", config), last + 2) << width;
    }
    // Ten branches enter at once and leave by the scalar ports.
    config.window.allocate = 32;
    config.vector.scalar_ports = 3;
    EXPECT_EQ(end_of("loop i 10\nend\n", config), 1 + 3 + 1);
}

TEST(CoreWindow, NothingEntersBeforeTheConfigurationIsLoadedOrReleased) {
    AmxConfig config = with_configuration(199);
    config.tiles.release = base::Cycles{13};
    EXPECT_EQ(end_of(kConfigure + idioms(1), config), 199 + 1);
    EXPECT_EQ(end_of(std::string{kConfigure} + "tilerelease\n" + idioms(1), config), 199 + 13 + 1);
}

TEST(CoreWindow, ATileLoadEntersWithItsLastUop) {
    AmxConfig config = with_configuration(199);
    config.window.allocate = 3;
    for (const auto& [uops, more] : {std::pair{1, 0}, {3, 0}, {4, 1}, {7, 2}}) {
        config.access.tile_load_uops = uops;
        // Starts a cycle after it has entered, two lines a cycle, L1 latency, tile.
        EXPECT_EQ(end_of(std::string{kConfigure} + "tileloadd tmm0, [0], 64\n", config),
                  199 + more + 1 + 7 + 5 + 33)
            << uops;
    }
}

TEST(CoreWindow, ATileStoreEntersWithItsLastUopAndRetiresWithIt) {
    AmxConfig config = with_configuration(199);
    config.window.allocate = 6;
    config.window.retire = 8;
    // Enters over three cycles; 16 lines of data from the next on; 16 uops retire over two cycles;
    // then a line a cycle.
    const std::int64_t starts = 199 + 2 + 1;
    const std::int64_t retired = starts + 16 + 1;
    EXPECT_EQ(end_of(std::string{kConfigure} + "tilestored [0x100000], 64, tmm0\n", config),
              retired + 16);
    config.access.tile_store_uops = 7;  // over two, and in one
    EXPECT_EQ(end_of(std::string{kConfigure} + "tilestored [0x100000], 64, tmm0\n", config),
              199 + 1 + 1 + 16 + 16);
}

TEST(CoreWindow, AStoreEntersWhenTheStoreBufferHasRoomForItsLines) {
    AmxConfig config = with_configuration(199);
    const std::string stores = "tilestored [0x100000], 64, tmm0\ntilestored [0x100400], 64, tmm0\n";
    const std::int64_t first = 199 + 2 + 1 + 16 + 1 + 16;  // as above
    for (const std::int64_t room : {16, 17, 19}) {
        config.window.store_buffer = room;
        // The first has all but so many lines in the L1 when the second begins to enter.
        EXPECT_EQ(end_of(kConfigure + stores, config), first - (room - 16) + 2 + 1 + 16 + 1 + 16)
            << room;
    }
}

TEST(CoreWindow, AZeroedTileIsThereAfterItsLatency) {
    AmxConfig config = with_configuration(199);
    config.tiles.zero_latency = base::Cycles{17};
    const std::string zero = "tilezero tmm0\n";
    EXPECT_EQ(end_of(kConfigure + zero, config), 199 + 1);
    // The TDP starts then and retires in the next cycle.
    EXPECT_EQ(end_of(kConfigure + zero + "tdpbssd tmm0, tmm4, tmm6\n", config), 199 + 17 + 1);
}

TEST(CoreWindow, ABarrierIsReachedWhenEveryStoreIsInTheL1) {
    const program::Program program =
        program::read_program("vmovups [0x100000], zmm1\nbarrier\n", "test");
    const AmxConfig config;
    Core core(config, program);
    core.caches().warm(kPage / caches::kLineBytes, caches::Level::L1, false);
    // Enters in 0, starts in 1, has its data in 2 and retires, reaches the L1 in 3.
    core.advance(3);
    EXPECT_FALSE(core.at_barrier());
    core.advance(4);
    EXPECT_TRUE(core.at_barrier());
    EXPECT_FALSE(core.finished());
    core.advance(100);
    EXPECT_TRUE(core.asleep());
    EXPECT_EQ(core.barrier_from(), 3);
    core.pass_barrier(130);
    EXPECT_FALSE(core.asleep());
    core.advance(200);
    EXPECT_EQ(core.finished_at(), 130);
    EXPECT_EQ(core.spent(CoreState::Barrier), 130 - 3);
    EXPECT_EQ(core.spent(CoreState::Finished), 70);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
