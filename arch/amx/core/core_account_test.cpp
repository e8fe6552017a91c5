#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "arch/amx/core/core_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

using States = std::map<CoreState, std::int64_t>;

// Those with cycles.
States named(const std::array<std::int64_t, kCoreStates.kStates>& cycles) {
    States states;
    for (std::size_t i = 0; i < kCoreStates.kStates; ++i) {
        const auto state = static_cast<CoreState>(i);
        if (cycles[i] > 0 && state != CoreState::Finished) {
            states[state] = cycles[i];
        }
    }
    return states;
}

// Cycles a program spends in each state.
States states(const std::string& text, const AmxConfig& config,
              caches::Level level = caches::Level::L1) {
    return named(run(program::read_program(text, "test"), config, level).spent);
}

// Of those that multiply, the overlapped.
States overlapped(const std::string& text, const AmxConfig& config) {
    return named(run(program::read_program(text, "test"), config).overlapped);
}

const std::string kTile4 = "tileloadd tmm4, [0], 64\n";
const std::string kDot = "tdpbssd tmm0, tmm4, tmm6\n";

TEST(CoreAccount, ATdpWaitsForItsAccumulatorInTmulOrZeroed) {
    AmxConfig config = with_configuration(199);
    config.tiles.zero_latency = base::Cycles{17};
    config.tiles.dot_latency = base::Cycles{37};
    // Enters in 199 with TILEZERO and starts 17 cycles later, retires in the next.
    EXPECT_EQ(
        states(kConfigure + std::string{"tilezero tmm0\n"} + kDot, config),
        (States{
            {CoreState::Configure, 199}, {CoreState::Accumulator, 17}, {CoreState::Multiply, 1}}));
    // Starts in 200, the second 16 + 37 cycles later.
    EXPECT_EQ(states(kConfigure + kDot + kDot, config), (States{{CoreState::Configure, 199},
                                                                {CoreState::Ports, 1},
                                                                {CoreState::Multiply, 16 + 1},
                                                                {CoreState::Accumulator, 37}}));
}

// Products of three rows, the second with a B of its own, which has sixteen.
TEST(CoreAccount, WhileItBringsInBTmulIsBusy) {
    AmxConfig config = with_configuration(199);
    const std::string text = "config 0 3x64 3x64 3x64 3x64 3x64 3x64 16x64 16x64\nldtilecfg 0\n" +
                             kDot + "tdpbssd tmm1, tmm5, tmm7\n";
    EXPECT_EQ(
        states(text, config),
        (States{{CoreState::Configure, 199}, {CoreState::Ports, 1}, {CoreState::Multiply, 3 + 1}}));
    config.tiles.dot_loads_b = true;
    EXPECT_EQ(states(text, config), (States{{CoreState::Configure, 199},
                                            {CoreState::Ports, 1},
                                            {CoreState::Multiply, 16 + 1}}));
    // Of a shorter sum B has fewer rows.
    const std::string shorter =
        "config 0 3x64 3x64 3x64 3x64 3x44 3x44 11x64 11x64\nldtilecfg 0\n" + kDot +
        "tdpbssd tmm1, tmm5, tmm7\n";
    EXPECT_EQ(states(shorter, config), (States{{CoreState::Configure, 199},
                                               {CoreState::Ports, 1},
                                               {CoreState::Multiply, 11 + 1}}));
}

// Lines of the load from 200 to 207, L1 latency 5, 33 more to the tile: in 245.
TEST(CoreAccount, WhatIsMultipliedBeforeAProductWaitsForItsTileIsOverlapped) {
    AmxConfig config = with_configuration(199);
    config.window.allocate = 8;
    const std::string load = kConfigure + std::string{"tileloadd tmm5, [0], 64\n"};
    const std::string one = "tdpbssd tmm0, tmm4, tmm6\n";
    const std::string two = one + "tdpbssd tmm1, tmm4, tmm6\n";
    const std::string three = two + "tdpbssd tmm2, tmm4, tmm6\n";  // from 200 to 248
    const std::string next = "tdpbssd tmm3, tmm5, tmm6\n";
    EXPECT_EQ(overlapped(load + one + next, config), (States{{CoreState::LoadL1, 16}}));
    // The first keeps the second, which keeps nobody.
    EXPECT_EQ(overlapped(load + two + next, config), (States{{CoreState::LoadL1, 16}}));
    EXPECT_EQ(overlapped(load + three + next, config), States{});
}

TEST(CoreAccount, ATdpWaitsForATileOfTheL1) {
    AmxConfig config = with_configuration(199);
    config.window.allocate = 8;
    // Load and TDP enter in 199. Lines from 200 to 207, L1 latency 5, 33 more to the tile.
    EXPECT_EQ(states(kConfigure + kTile4 + kDot, config),
              (States{{CoreState::Configure, 199},
                      {CoreState::LoadL1, 207 + 5 + 33 - 199},
                      {CoreState::Multiply, 1}}));
}

TEST(CoreAccount, ATdpWaitsForTheTileThatComesLast) {
    AmxConfig config = with_configuration(199);
    config.window.allocate = 16;
    // 199 to 245 as above for the first tile; the second's lines follow from 208 on.
    const States spent =
        states(kConfigure + kTile4 + "tileloadd tmm6, [1024], 64\n" + kDot, config);
    EXPECT_EQ(spent, (States{{CoreState::Configure, 199},
                             {CoreState::LoadL1, 215 + 5 + 33 - 199},
                             {CoreState::Multiply, 1}}));
    // A tile and C, which is there later: for the tile first, then for C.
    config.tiles.zero_latency = base::Cycles{101};
    EXPECT_EQ(states(kConfigure + std::string{"tilezero tmm0\n"} + kTile4 + kDot, config),
              (States{{CoreState::Configure, 199},
                      {CoreState::LoadL1, 207 + 5 + 33 - 199},
                      {CoreState::Accumulator, 199 + 101 - (207 + 5 + 33)},
                      {CoreState::Multiply, 1}}));
}

// A load that nobody answers, first: nothing retires meanwhile.
TEST(CoreAccount, WhatATdpWaitsForChangesWhenItsTileIsThereWhateverRetires) {
    AmxConfig config = with_configuration(199);
    config.window.allocate = 16;
    config.tiles.zero_latency = base::Cycles{101};
    const program::Program program = program::read_program(
        kConfigure + std::string{"vmovups zmm1, [0x500000]\ntilezero tmm0\n"} + kTile4 + kDot,
        "test");
    Core core(config, program);
    for (caches::Line line = 0; line < 16; ++line) {
        core.caches().warm(line, caches::Level::L1, false);
    }
    core.advance(1000);
    // The vector load takes a slot of cycle 200: the tile's last line goes in 208.
    EXPECT_EQ(core.spent(CoreState::LoadL1), 208 + 5 + 33 - 199);
    EXPECT_EQ(core.spent(CoreState::Accumulator), 199 + 101 - (208 + 5 + 33));
}

TEST(CoreAccount, ATdpWaitsForATileOfMemoryBeforeItWaitsForOneOfTmul) {
    AmxConfig config = with_configuration(199);
    config.window.allocate = 16;
    config.tiles.dot_latency = base::Cycles{37};
    // The first TDP from 200 to 216, its tile in 253; the other operand as above in 245.
    EXPECT_EQ(states(kConfigure + kTile4 + "tdpbssd tmm6, tmm2, tmm3\n" + kDot, config),
              (States{{CoreState::Configure, 199},
                      {CoreState::Ports, 1},
                      {CoreState::Multiply, 16 + 1},
                      {CoreState::LoadL1, 245 - 216},
                      {CoreState::Accumulator, 253 - 245}}));
}

TEST(CoreAccount, TheConfigurationLastsUntilTheNextInstructionMayEnter) {
    EXPECT_EQ(states(kConfigure + std::string{"vpxord zmm1\n"}, with_configuration(199)),
              (States{{CoreState::Configure, 199}, {CoreState::Drain, 1}}));
}

TEST(CoreAccount, WhoWaitsForTheOthersIsAtABarrier) {
    const program::Program program = program::read_program("vpxord zmm1\nbarrier\n", "test");
    const AmxConfig config;
    Core core(config, program);
    core.advance(100);
    EXPECT_EQ(core.spent(CoreState::Barrier), 100 - 1);
}

TEST(CoreAccount, ATdpWaitsForATileFromWhereItsLinesLie) {
    const AmxConfig config = with_configuration(199);
    EXPECT_GT(states(kConfigure + kTile4 + kDot, config, caches::Level::L2)[CoreState::LoadL2], 0);
    const program::Program program = program::read_program(kConfigure + kTile4 + kDot, "test");
    Core core(config, program);
    core.advance(1000);
    EXPECT_GT(core.spent(CoreState::LoadL3), 700);  // nobody answers
    EXPECT_EQ(core.spent(CoreState::LoadMemory), 0);
    for (caches::Line line = 0; line < 16; ++line) {
        core.caches().located(line, caches::Level::Memory);
    }
    const std::int64_t before = core.spent(CoreState::LoadL3);
    core.advance(1100);
    EXPECT_EQ(core.spent(CoreState::LoadL3), before);
    EXPECT_EQ(core.spent(CoreState::LoadMemory), 100);
}

// A tile of sixteen lines and four buffers, which nobody answers; the L2 would answer soon.
TEST(CoreAccount, WhileMissesOfTheL2TakeEveryFillBufferATdpWaitsForOne) {
    AmxConfig config = with_configuration(199);
    config.caches.fill_buffers = 4;
    const program::Program program = program::read_program(kConfigure + kTile4 + kDot, "test");
    Core core(config, program);
    core.advance(1000);
    EXPECT_GT(core.spent(CoreState::FillBuffers), 700);
    EXPECT_LT(core.spent(CoreState::LoadL3), 5);
    const States from_l2 = states(kConfigure + kTile4 + kDot, config, caches::Level::L2);
    EXPECT_EQ(from_l2.count(CoreState::FillBuffers), 0U);
    EXPECT_EQ(from_l2.count(CoreState::LoadL2), 1U);
}

// Four buffers: of a tile whose four lines have been asked for, or of loads before it.
TEST(CoreAccount, ATdpWaitsForAFillBufferWhoeverHasThem) {
    AmxConfig config = with_configuration(199);
    config.caches.fill_buffers = 4;
    const std::string tile = "config 0 4x64 4x64 4x64 4x64 4x64 4x64 4x64 16x64\nldtilecfg 0\n";
    std::string loads;
    for (int i = 0; i < 4; ++i) {
        loads += fmt::format("vmovups zmm{}, [{}]\n", i, 0x500000 + 64 * i);
    }
    const std::string dot = "tdpbssd tmm0, tmm4, tmm7\n";
    const std::string other = "vmovups zmm8, [0x600000]\n";
    for (const std::string& text : {tile + kTile4 + other + dot, tile + loads + kTile4 + dot}) {
        const program::Program program = program::read_program(text, "test");
        Core core(config, program);
        core.advance(1000);
        ASSERT_FALSE(core.fault()) << core.fault()->reason;
        EXPECT_GT(core.spent(CoreState::FillBuffers), 700) << text;
    }
}

TEST(CoreAccount, ATdpWaitsForATileWhoseLinesAreInTheStoreBuffer) {
    const AmxConfig config = with_configuration(199);
    const std::string text = std::string{kConfigure} +
                             "tilestored [0x100000], 64, tmm5\n"
                             "tileloadd tmm4, [0x100000], 64\n" +
                             kDot;
    EXPECT_GT(states(text, config)[CoreState::StoreConflict], 16);
    EXPECT_EQ(states(kConfigure + kTile4 + kDot, config).count(CoreState::StoreConflict), 0U);
}

// Lines that nobody brings: of a load before the store, of the store, of one before it.
TEST(CoreAccount, BehindAStoreThatIsNotWrittenYetATdpWaitsForWhatThatWaitsFor) {
    const AmxConfig config = with_configuration(199);
    const std::string tile = "config 0 4x64 4x64 4x64 4x64 4x64 4x64 16x64 4x64\nldtilecfg 0\n";
    const std::string store = "vmovups [0x100000], zmm1\n";
    const std::string load = "tileloadd tmm4, [0x100000], 64\n";
    for (const std::string& text :
         {tile + "vmovups zmm0, [0x500000]\n" + store + load + kDot, tile + store + load + kDot,
          tile + "vmovups [0x600000], zmm1\n" + store + load + kDot}) {
        const program::Program program = program::read_program(text, "test");
        Core core(config, program);
        core.advance(1000);
        ASSERT_FALSE(core.fault()) << core.fault()->reason;
        EXPECT_GT(core.spent(CoreState::LoadL3), 700) << text;
        EXPECT_LT(core.spent(CoreState::StoreConflict), 5) << text;
    }
    // One whose data a port is late with.
    AmxConfig late = with_configuration(199);
    late.tiles.early_retire = false;
    const std::string shift = "vpslld zmm1, zmm1, 1\n";
    std::string chain;
    for (int i = 0; i < 30; ++i) {
        chain += shift;
    }
    States spent = states(kConfigure + chain + "vmovups [0], zmm1\n" + kTile4 + kDot, late);
    EXPECT_GT(spent[CoreState::Ports], 25);
}

TEST(CoreAccount, WithoutATdpItIsWhatKeepsInstructionsFromEntering) {
    std::string chain;
    for (int i = 0; i < 30; ++i) {
        chain += "vaddps zmm1, zmm1, zmm9\n";
    }
    AmxConfig config;
    States spent = states(chain, config);
    EXPECT_EQ(spent.count(CoreState::Window) + spent.count(CoreState::Tiles), 0U);
    EXPECT_GT(spent[CoreState::Ports], 0);
    EXPECT_GT(spent[CoreState::Drain], 0);
    config.window.reorder_buffer = 4;  // the oldest holds it, which is under way in a port
    spent = states(chain, config);
    EXPECT_GT(spent[CoreState::Ports], 30);
    EXPECT_EQ(spent.count(CoreState::Window) + spent.count(CoreState::Tiles), 0U);
    AmxConfig tiles = with_configuration(199);
    tiles.tiles.physical_tiles = 2;
    spent = states(kConfigure + kTile4 + kTile4 + kTile4, tiles);  // the third waits for a tile
    EXPECT_GT(spent[CoreState::Tiles], 0);
    EXPECT_EQ(spent.count(CoreState::Window), 0U);
}

// What 1000 cycles go to from cycle 100 on, if to one state alone; nobody answers.
CoreState for_ever(const std::string& text, const AmxConfig& config,
                   caches::Level located = caches::Level::L3) {
    const program::Program program = program::read_program(text, "test");
    Core core(config, program);
    core.advance(100);
    for (const caches::Line line : {0x1000 / 64, 0x2000 / 64}) {
        core.caches().located(line, located);
    }
    std::array<std::int64_t, kCoreStates.kStates> before{};
    for (std::size_t i = 0; i < kCoreStates.kStates; ++i) {
        before[i] = core.spent(static_cast<CoreState>(i));
    }
    core.advance(1100);
    for (std::size_t i = 0; i < kCoreStates.kStates; ++i) {
        if (core.spent(static_cast<CoreState>(i)) == before[i] + 1000) {
            return static_cast<CoreState>(i);
        }
    }
    return CoreState::Finished;
}

std::string times(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
        all += text;
    }
    return all;
}

TEST(CoreAccount, OfAFullWindowItIsWhatTheOldestLoadWaitsFor) {
    AmxConfig config;
    config.window.reorder_buffer = 4;
    const std::string load = "vmovups zmm1, [0x1000]\n";
    const std::string text = load + times("vpxord zmm2\n", 8);
    EXPECT_EQ(for_ever(text, config), CoreState::LoadL3);
    EXPECT_EQ(for_ever(text, config, caches::Level::Memory), CoreState::LoadMemory);
    // The oldest waits for its line, the one behind it for a buffer.
    config.caches.fill_buffers = 1;
    EXPECT_EQ(for_ever(load + "vmovups zmm1, [0x2000]\n" + times("vpxord zmm2\n", 8), config),
              CoreState::FillBuffers);
    EXPECT_EQ(for_ever(text, config), CoreState::LoadL3);
}

TEST(CoreAccount, TilesAreShortWhereTheirLinesHaveNotFarToGo) {
    AmxConfig config = with_configuration(199);
    config.tiles.physical_tiles = 2;
    const std::string text = kConfigure + times(kTile4, 8);
    EXPECT_GT(states(text, config)[CoreState::Tiles], 100);
    States far = states(text, config, caches::Level::L2);
    EXPECT_EQ(far.count(CoreState::LoadL2), 1U);
    // Lines that come once: only the first load misses.
    const program::Program program = program::read_program(text, "test");
    Core core(config, program);
    core.advance(1000);  // nobody answers
    EXPECT_GT(core.spent(CoreState::LoadL3) + core.spent(CoreState::FillBuffers), 700);
    EXPECT_LT(core.spent(CoreState::Tiles), 50);
}

TEST(CoreAccount, OfAFullStoreBufferItIsWhatItsOldestStoreWaitsFor) {
    AmxConfig config;
    config.window.store_buffer = 2;
    const std::string stores = "vmovups [0x1000], zmm1\nvmovups [0x2000], zmm1\n";
    EXPECT_EQ(for_ever(stores + stores, config), CoreState::LoadL3);
    EXPECT_EQ(for_ever(stores + stores, config, caches::Level::Memory), CoreState::LoadMemory);
    config.caches.fill_buffers = 1;
    EXPECT_EQ(for_ever(stores + stores, config), CoreState::FillBuffers);
    // A load before them keeps them from leaving the window: it is what they wait for.
    config.caches.fill_buffers = 16;
    EXPECT_EQ(for_ever("vmovups zmm1, [0x1000]\n" + stores + stores, config, caches::Level::Memory),
              CoreState::LoadMemory);
    // Past the caches, a buffer each for long.
    config.caches.streaming_store = base::Femtoseconds{2'000'000'000};
    config.caches.streaming_stores = 1;
    EXPECT_EQ(for_ever(times("vmovntps [0x1000], zmm1\n", 6), config), CoreState::FillBuffers);
}

TEST(CoreAccount, WhatTheL1HasTakesAStoreACycle) {
    AmxConfig config;
    config.window.store_buffer = 2;
    States spent = states(times("vmovups [0], zmm1\n", 60), config);
    EXPECT_GT(spent[CoreState::Window], 30);
    EXPECT_EQ(spent.count(CoreState::LoadL1) + spent.count(CoreState::LoadL2), 0U);
}

TEST(CoreAccount, OfPrefetchesItIsTheFillBuffersOrTheQueueOfTheL2sMisses) {
    AmxConfig config;
    config.window.reorder_buffer = 4;
    config.caches.l2_outstanding = 1;
    const std::string both = "prefetcht1 [0x1000]\nprefetcht1 [0x2000]\n";
    EXPECT_EQ(for_ever(both + times("vpxord zmm2\n", 8), config), CoreState::Window);
    config.caches.fill_buffers = 1;
    EXPECT_EQ(
        for_ever("prefetcht0 [0x1000]\nprefetcht0 [0x2000]\n" + times("vpxord zmm2\n", 8), config),
        CoreState::FillBuffers);
}

TEST(CoreAccount, SaysWhatItWaitsFor) {
    const AmxConfig config;
    const auto waits = [&config](const std::string& text) {
        const program::Program program = program::read_program(text, "test");
        Core core(config, program);
        core.advance(1000);
        return core.waiting_for();
    };
    EXPECT_EQ(waits("barrier\n"), "the others at a barrier");
    EXPECT_EQ(waits("vmovups zmm1, [0x1000]\n"), "vmovups at 0x1000 (line 1 of 1, 1 under way)");
    EXPECT_EQ(waits("vmovups [0x1000], zmm1\n"), "stores to reach the L1");
}

}  // namespace
}  // namespace tilesim::arch::amx::core
