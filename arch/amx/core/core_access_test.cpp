// What instructions touch in memory, and what they wait for there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/amx/core/core_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

constexpr const char* kNarrow =
    "config 0 16x32 16x32 16x32 16x32 16x32 16x32 16x32 16x32\nldtilecfg 0\n";

// Starts a cycle after it enters; 12 to its line in the L1, or 17 to one of the L2; 2 more.
AmxConfig load_sample() {
    AmxConfig config;
    config.caches.l1_latency = base::Cycles{12};
    config.caches.l2_latency = base::Cycles{17};
    config.access.vector_load_to_use = base::Cycles{2};
    return config;
}

TEST(CoreAccess, AWaitOfWhateverLengthEndsWithItsLine) {
    const program::Program program =
        program::read_program("vmovups zmm1, [0]\nvaddps zmm2, zmm1, zmm1\n", "test");
    AmxConfig config = load_sample();
    config.instructions[static_cast<std::size_t>(program::Opcode::Vaddps)].latency =
        base::Cycles{4};
    Core core(config, program);
    core.advance(10);
    core.caches().deliver(0, 5000);
    core.advance(6000);
    EXPECT_EQ(core.finished_at(), 5000 + 2 + 4);
}

TEST(CoreAccess, ALoadWithWorkForAPortGoesOnToItWithItsLine) {
    AmxConfig config = load_sample();
    OpcodeTiming& timing =
        config.instructions[static_cast<std::size_t>(program::Opcode::Vpmovsxbd)];
    timing.port5 = 1;
    timing.latency = base::Cycles{7};
    EXPECT_EQ(end_of("vpmovsxbd zmm1, [0]\n", config), 1 + 12 + 7);
}

// The second load enters when the first is there; its line is in the L1.
TEST(CoreAccess, ALineThatEntersTheL1KeepsTheNextLoadWaiting) {
    for (const std::int64_t cycles : {0, 50}) {
        AmxConfig config = load_sample();
        config.caches.fill_percent = 100 * cycles;
        const program::Program program =
            program::read_program("vmovups zmm1, [0]\nlfence\nvmovups zmm2, [64]\n", "test");
        Core core(config, program);
        core.caches().warm(0, caches::Level::L2, false);
        core.caches().warm(1, caches::Level::L1, false);
        core.advance(1000);
        const std::int64_t first = 1 + 17;
        const std::int64_t starts = std::max(first + 2 + 1, first + cycles);
        EXPECT_EQ(core.finished_at(), starts + 12 + 2) << cycles;
    }
}

// An L1 of one set of two lines. Of the two loads behind the fence, which both hit, the second
// finds no slot in the cycle in which loads go on: to read the line that made room took it.
TEST(CoreAccess, ADirtyLineThatMakesRoomTakesASlotOfTheNextLoads) {
    for (const bool dirty : {false, true}) {
        AmxConfig config = load_sample();
        config.caches.fill_percent = 100 * 50;
        config.caches.l1 = {base::Bytes{2 * caches::kLineBytes}, 2};
        const program::Program program = program::read_program(
            "vmovups zmm1, [0]\nlfence\nvmovups zmm2, [64]\nvmovups zmm3, [64]\n", "test");
        Core core(config, program);
        core.caches().warm(0, caches::Level::L2, false);
        core.caches().warm(8, caches::Level::L1, dirty);
        core.caches().warm(1, caches::Level::L1, false);
        core.advance(1000);
        EXPECT_EQ(core.finished_at(), 1 + 17 + 50 + (dirty ? 1 : 0) + 12 + 2) << dirty;
    }
}

TEST(CoreAccess, ALoadEntersAlsoWhereTheStoreBufferIsFull) {
    const program::Program program =
        program::read_program("vmovups [0x100000], zmm1\nvmovups zmm2, [0]\n", "test");
    AmxConfig config = load_sample();
    config.window.store_buffer = 1;
    Core core(config, program);
    core.caches().warm(0, caches::Level::L1, false);
    core.advance(100);  // nobody brings the store's line
    EXPECT_EQ(core.counters().instructions, 2);
}

// An L2 of one set of two lines, and one place for misses. What the first line displaces keeps it
// until the L3 has looked it up and answered.
TEST(CoreAccess, AVictimOfTheL2KeepsItsPlaceUntilTheL3HasLookedItUpAndAnswered) {
    AmxConfig config = load_sample();
    config.clock = base::Hertz{1'000'000'000};
    config.uncore.lookup = base::Femtoseconds{11'000'000};
    config.uncore.answer = base::Femtoseconds{7'000'000};
    config.caches.l2 = {base::Bytes{2 * caches::kLineBytes}, 2};
    config.caches.l2_outstanding = 1;
    const program::Program program =
        program::read_program("vmovups zmm1, [0]\nlfence\nvmovups zmm2, [64]\n", "test");
    Core core(config, program);
    for (const caches::Line line : {8, 9}) {
        core.caches().warm(line, caches::Level::L2, false);
    }
    core.advance(5);
    core.caches().outbox().clear();
    core.caches().deliver(0, 30);
    core.advance(30 + 11 + 7);
    for (const caches::UncoreRequest& request : core.caches().outbox()) {
        EXPECT_EQ(request.kind, caches::UncoreRequest::Kind::CleanVictim);
    }
    core.caches().outbox().clear();
    core.advance(30 + 11 + 7 + 1);
    ASSERT_EQ(core.caches().outbox().size(), 1U);
    EXPECT_EQ(core.caches().outbox()[0].line, 1);
}

// Whether a load behind a store whose line never comes has its data.
bool forwarded(const std::string& store, const std::string& load) {
    const program::Program program =
        program::read_program(store + load + "lfence\nvpxord zmm9\n", "test");
    const AmxConfig config = load_sample();
    Core core(config, program);
    core.advance(1000);
    return core.counters().instructions == program.dynamic_instructions();
}

TEST(CoreAccess, EachPartOfAStoreHasItsOwnBytesOfItsLine) {
    const std::string store = "vmovups [0x100020], zmm1\n";
    EXPECT_TRUE(forwarded(store, "vmovups zmm2, [0x100020], 32\n"));
    EXPECT_TRUE(forwarded(store, "vmovups zmm2, [0x100040], 32\n"));
    EXPECT_FALSE(forwarded(store, "vmovups zmm2, [0x100040], 33\n"));
    EXPECT_FALSE(forwarded(store, "vmovups zmm2, [0x10001f], 33\n"));
    // Enters in 0; data in 2 and 3, retires with them, and a line a cycle.
    EXPECT_EQ(end_of(store, load_sample()), 3 + 2);
}

TEST(CoreAccess, ATileStoreHasTheBytesOfItsRows) {
    const std::string store = "tilestored [0x100000], 64, tmm0\n";
    EXPECT_TRUE(forwarded(kConfigure + store, "vmovups zmm2, [0x100000]\n"));
    EXPECT_FALSE(forwarded(kNarrow + store, "vmovups zmm2, [0x100000]\n"));
}

TEST(CoreAccess, APrefetchTouchesOneLine) {
    EXPECT_EQ(end_of("prefetcht0 [0x20]\n", {}), end_of("prefetcht0 [0]\n", {}));
}

TEST(CoreAccess, NarrowRowsCrossNoLineWhereTheyEndBeforeIt) {
    AmxConfig config = with_configuration(199);
    const auto end = [&config](const char* operand) {
        return end_of(fmt::format("{}tileloadd tmm0, {}\n", kNarrow, operand), config);
    };
    EXPECT_EQ(end("[0x20], 64"), 200 + 7 + 5 + 33);
    EXPECT_EQ(end("[0x21], 64"), 200 + 15 + 5 + 33);
}

// Every second line is there: the rows.
TEST(CoreAccess, ATileLoadReadsALineOfEachRow) {
    const program::Program program =
        program::read_program(kConfigure + std::string{"tileloadd tmm0, [0], 128\n"}, "test");
    const AmxConfig config = with_configuration(199);
    Core core(config, program);
    for (caches::Line row = 0; row < 16; ++row) {
        core.caches().warm(2 * row, caches::Level::L1, false);
    }
    core.advance(1000);
    EXPECT_EQ(core.finished_at(), 200 + 7 + 5 + 33);
    EXPECT_EQ(core.caches().counters().l1_hits, 16);
}

// Sixteen lines of the L2, of a load that leaves the L1 alone and of one that fills it.
TEST(CoreAccess, LinesPastTheL1KeepNoLoadsOut) {
    const auto cycles = [](const char* load, std::int64_t fill_percent) {
        AmxConfig config = with_configuration(199);
        config.access.nontemporal_line = base::Cycles{0};
        config.caches.fill_percent = fill_percent;
        config.caches.fill_buffers = 4;  // so that later lines are asked for behind those that come
        const std::string text = kConfigure + fmt::format("{} tmm0, [0], 64\n", load);
        return run(program::read_program(text, "test"), config, caches::Level::L2).cycles;
    };
    EXPECT_EQ(cycles("tileloaddt1", 0), cycles("tileloaddt1", 1000));
    EXPECT_LT(cycles("tileloadd", 0), cycles("tileloadd", 1000));
}

}  // namespace
}  // namespace tilesim::arch::amx::core
