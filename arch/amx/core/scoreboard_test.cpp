#include "arch/amx/core/scoreboard.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "arch/amx/core/window_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

// Pairwise different primes.
AmxConfig sample() {
    AmxConfig config;
    config.window.reorder_buffer = 41;
    config.window.scheduler = 13;
    config.window.memory_scheduler = 17;
    config.window.load_queue = 11;
    config.tiles.physical_tiles = 5;
    return config;
}

constexpr const char* kLoads = "loop i 50\n  vmovups zmm1, [0x1000]\nend\n";
constexpr const char* kStores = "loop i 50\n  vmovups [0x1000], zmm1\nend\n";
constexpr const char* kMath = "loop i 50\n  vaddps zmm1, zmm2, zmm3\nend\n";

// One kind of instruction, whatever its loop.
program::Instruction only(const Window& parts) {
    return parts.program.statements.at(1).instruction;
}

struct Filled : Window {
    explicit Filled(const char* text) : Window(text, sample()), instruction(only(*this)) {}
    Blocked blocked(std::int64_t uops) const { return window.blocked(instruction, uops); }
    EntryId put(std::int64_t uops) { return window.allocate({&instruction, 0x1000, 64}, uops, 0); }
    program::Instruction instruction;
};

TEST(Scoreboard, TheReorderBufferHoldsItsUops) {
    Filled parts(kMath);
    for (const std::int64_t uops : {13, 13, 12}) {  // each leaves its scheduler
        const EntryId id = parts.put(uops);
        const std::uint64_t before = parts.window.releases();
        parts.window.issue(id);
        EXPECT_NE(parts.window.releases(), before);
    }
    EXPECT_EQ(parts.blocked(41 - 38), Blocked::No);
    EXPECT_EQ(parts.blocked(41 - 38 + 1), Blocked::Window);
    const std::uint64_t releases = parts.window.releases();
    parts.window.retire();
    EXPECT_NE(parts.window.releases(), releases);
    EXPECT_EQ(parts.window.retired(), 1U);
    EXPECT_EQ(parts.blocked(13), Blocked::No);  // 41 - 25 - 13 = 3 are left
}

TEST(Scoreboard, RemembersHowFullItWas) {
    Filled math(kMath);
    math.window.issue(math.put(7));
    math.window.retire();
    math.put(5);
    EXPECT_EQ(math.window.peaks().uops, 7);
    EXPECT_EQ(math.window.peaks().waiting, 7);
    EXPECT_EQ(math.window.peaks().memory_waiting, 0);
    Filled loads(kLoads);
    loads.window.issue(loads.put(7));
    loads.window.retire();
    loads.put(5);
    EXPECT_EQ(loads.window.peaks().waiting, 0);
    EXPECT_EQ(loads.window.peaks().memory_waiting, 7);
    EXPECT_EQ(loads.window.peaks().loads, 7);
}

TEST(Scoreboard, AnInstructionHoldsItsSchedulerUntilItIsIssued) {
    Filled math(kMath);
    const EntryId first = math.put(7);
    EXPECT_EQ(math.blocked(13 - 7), Blocked::No);
    EXPECT_EQ(math.blocked(13 - 7 + 1), Blocked::Scheduler);
    math.window.issue(first);
    EXPECT_EQ(math.blocked(13), Blocked::No);
    Filled stores(kStores);
    const EntryId store = stores.put(7);
    EXPECT_EQ(stores.blocked(17 - 7), Blocked::No);
    EXPECT_EQ(stores.blocked(17 - 7 + 1), Blocked::Scheduler);
    stores.window.issue(store);
    EXPECT_EQ(stores.blocked(17), Blocked::No);
}

TEST(Scoreboard, MemoryAndComputeHaveSchedulersOfTheirOwn) {
    Filled parts(kMath);
    parts.put(13);
    const Filled stores(kStores);
    EXPECT_EQ(parts.window.blocked(stores.instruction, 17), Blocked::No);
    EXPECT_EQ(parts.window.blocked(stores.instruction, 18), Blocked::Scheduler);
    for (const char* memory : {kStores, kLoads}) {
        Filled held(memory);
        held.put(11);
        EXPECT_EQ(held.window.blocked(parts.instruction, 13), Blocked::No);
        EXPECT_EQ(held.window.blocked(stores.instruction, 17 - 11), Blocked::No);
        EXPECT_EQ(held.window.blocked(stores.instruction, 17 - 11 + 1), Blocked::Scheduler);
    }
    Filled full(kStores);
    full.put(17);
    EXPECT_EQ(full.window.blocked(parts.instruction, 13), Blocked::No);
}

TEST(Scoreboard, WhatExecutesNowhereTakesNoScheduler) {
    Filled parts(kMath);
    parts.put(13);
    const program::Program zero = program::read_program("tilezero tmm0\n", "test");
    EXPECT_EQ(parts.window.blocked(zero.statements[0].instruction, 1), Blocked::No);
    Window zeroed("tilezero tmm0\n", sample());
    zeroed.enter(0, 13);
    EXPECT_EQ(zeroed.window.next_due(), caches::kUnknownCycle);
    EXPECT_EQ(zeroed.window.blocked(parts.instruction, 13), Blocked::No);
}

TEST(Scoreboard, ALoadHoldsTheLoadQueueUntilItRetires) {
    Filled parts(kLoads);
    const EntryId first = parts.put(7);
    EXPECT_EQ(parts.blocked(11 - 7), Blocked::No);
    EXPECT_EQ(parts.blocked(11 - 7 + 1), Blocked::LoadQueue);
    parts.window.issue(first);
    EXPECT_EQ(parts.blocked(11 - 7 + 1), Blocked::LoadQueue);
    parts.window.retire();
    EXPECT_EQ(parts.blocked(11), Blocked::No);
}

// How many loads of different tiles enter beside what `text` says first.
std::int64_t tiles_left(const std::string& text, bool in_place) {
    AmxConfig config = sample();
    config.window.load_queue = 40;
    config.tiles.dot_in_place = in_place;
    Window parts(text, config);
    while (!parts.stream.finished()) {
        parts.enter(0);
    }
    const program::Program loads = program::read_program(
        "tileloadd tmm1, [0x1000], 64\ntileloadd tmm2, [0x1000], 64\ntileloadd tmm3, [0x1000], 64\n"
        "tileloadd tmm4, [0x1000], 64\ntileloadd tmm5, [0x1000], 64\ntileloadd tmm7, [0x1000], "
        "64\n",
        "test");
    std::int64_t count = 0;
    for (program::InstructionStream stream(loads); !stream.finished(); stream.advance()) {
        if (parts.window.blocked(*stream.current().instruction, 1) != Blocked::No) {
            break;
        }
        parts.window.allocate(stream.current(), 1, 0);
        ++count;
    }
    return count;
}

TEST(Scoreboard, EveryTileThatIsWrittenTakesOneOfThePoolButAZeroedOne) {
    EXPECT_EQ(tiles_left("", false), 5);
    EXPECT_EQ(tiles_left("tileloadd tmm0, [0x1000], 64\n", false), 4);
    EXPECT_EQ(tiles_left("tilezero tmm0\n", false), 5);
    EXPECT_EQ(tiles_left("tdpbssd tmm0, tmm1, tmm2\n", false), 4);
    EXPECT_EQ(tiles_left("tilestored [0x1000], 64, tmm0\n", false), 5);
    // In place: once C stands in a tile it stays there.
    const std::string twice = "tdpbssd tmm0, tmm1, tmm2\ntdpbssd tmm0, tmm1, tmm2\n";
    EXPECT_EQ(tiles_left(twice, false), 3);
    EXPECT_EQ(tiles_left(twice, true), 4);
    EXPECT_EQ(tiles_left("tilezero tmm0\n" + twice, true), 4);
}

TEST(Scoreboard, ATileIsFreeWhenTheNextWriterOfItsNameRetires) {
    for (const std::string next : {"tileloadd tmm0, [0x1000], 64\n", "tilezero tmm0\n"}) {
        AmxConfig config = sample();
        config.tiles.physical_tiles = 2;
        Window parts("tileloadd tmm0, [0x1000], 64\n" + next, config);
        parts.enter(0);
        parts.enter(0);
        const bool zero = next.starts_with("tilezero");
        const program::Program load = program::read_program("tileloadd tmm5, [0], 64\n", "test");
        const auto blocked = [&] {
            return parts.window.blocked(load.statements[0].instruction, 1);
        };
        EXPECT_EQ(blocked(), zero ? Blocked::No : Blocked::Tiles);
        const program::Program add = program::read_program("vaddps zmm1, zmm2, zmm3\n", "test");
        EXPECT_EQ(parts.window.blocked(add.statements[0].instruction, 1), Blocked::No);
        parts.window.retire();  // the first: its tile is still read
        EXPECT_EQ(blocked(), zero ? Blocked::No : Blocked::Tiles);
        parts.window.retire();
        EXPECT_EQ(blocked(), Blocked::No);
        parts.window.allocate({&load.statements[0].instruction, 0, 64}, 1, 0);
        EXPECT_EQ(blocked(), zero ? Blocked::No : Blocked::Tiles);
    }
}

TEST(Scoreboard, LdtilecfgGivesEveryTileBack) {
    Window parts("tileloadd tmm0, [0x1000], 64\ntdpbssd tmm1, tmm0, tmm0\n", sample());
    parts.enter(0);
    parts.window.reset_tiles();
    const EntryId dot = parts.enter(5);
    EXPECT_EQ(parts.window.at(dot).pending, 0);  // nobody to wait for
    EXPECT_EQ(parts.window.at(dot).operands_at, 5 + 1);
}

TEST(Scoreboard, LdtilecfgFreesTheTilesOfThePool) {
    AmxConfig config = sample();
    config.tiles.physical_tiles = 1;
    Window parts("tileloadd tmm0, [0x1000], 64\ntileloadd tmm1, [0x1000], 64\n", config);
    parts.enter(0);
    const program::Instruction& next = *parts.stream.current().instruction;
    EXPECT_EQ(parts.window.blocked(next, 1), Blocked::Tiles);
    parts.window.reset_tiles();
    EXPECT_EQ(parts.window.blocked(next, 1), Blocked::No);
}

TEST(Scoreboard, AnInstructionLeavesTheWheelACycleAfterItEnters) {
    Window parts("vaddps zmm1, zmm2, zmm3\n", sample());
    EXPECT_EQ(parts.window.next_due(), caches::kUnknownCycle);
    const EntryId id = parts.enter(7);
    EXPECT_EQ(parts.window.next_due(), 8);
    EXPECT_EQ(parts.window.pop_due(7), kNoEntry);
    EXPECT_EQ(parts.window.pop_due(8), id);
    EXPECT_EQ(parts.window.pop_due(8), kNoEntry);
}

TEST(Scoreboard, AConsumerIsDueWhenItsLastProducerDelivers) {
    Window parts(
        "vaddps zmm1, zmm8, zmm9\nvaddps zmm2, zmm8, zmm9\nvfmadd231ps zmm3, zmm1, zmm2\n"
        "vaddps zmm3, zmm8, zmm9\n",
        sample());
    const EntryId first = parts.enter(0);
    const EntryId second = parts.enter(0);
    const EntryId consumer = parts.enter(0);
    const EntryId overwrites = parts.enter(0);  // names alone do not make it wait
    parts.window.pop_due(1);
    EXPECT_EQ(parts.window.at(overwrites).pending, 0);
    EXPECT_EQ(parts.window.late_producer(parts.window.at(consumer), 1, 22), first);
    parts.window.complete(first, 23);
    EXPECT_EQ(parts.window.late_producer(parts.window.at(consumer), 1, 22), first);
    EXPECT_EQ(parts.window.late_producer(parts.window.at(consumer), 1, 23), kNoEntry);
    EXPECT_EQ(parts.window.next_due(), caches::kUnknownCycle);
    parts.window.complete(second, 19);
    EXPECT_EQ(parts.window.next_due(), 23);
    EXPECT_EQ(parts.window.pop_due(23), consumer);
}

TEST(Scoreboard, WhoHasTakenTheRingPlaceOfAProducerThatIsDoneIsNotWaitedFor) {
    constexpr std::int64_t kRing = 64;  // for a reorder buffer of 41
    Window parts("vaddps zmm1, zmm8, zmm9\nloop i 100\n  vaddps zmm2, zmm1, zmm9\nend\n", sample());
    const EntryId first = parts.enter(0);
    parts.window.pop_due(1);
    parts.window.complete(first, 5);
    EntryId last = first;
    for (std::int64_t i = 0; i <= kRing; ++i) {
        parts.window.retire();
        parts.window.pop_due(7 + i);
        last = parts.enter(7 + i);
    }
    EXPECT_EQ(last, first + 1);
    EXPECT_EQ(parts.window.late_producer(parts.window.at(last), 1, 80), kNoEntry)
        << "the place of zmm1's producer has an instruction that is under way";
}

TEST(Scoreboard, TheMaskOfVpexpandbIsAnOperand) {
    Window parts("kmovq k1, [0x1000]\nvpexpandb zmm1, [0x2000]\n", sample());
    const EntryId mask = parts.enter(0);
    const EntryId expand = parts.enter(0);
    EXPECT_EQ(parts.window.at(expand).pending, 1);
    parts.window.pop_due(1);
    parts.window.complete(mask, 9);
    EXPECT_EQ(parts.window.next_due(), 9);
}

TEST(Scoreboard, OnlyAStoreOfATdpsOwnResultReadsTmul) {
    Window parts(
        "tdpbssd tmm0, tmm4, tmm6\ntilestored [0x1000], 64, tmm0\ntilestored [0x1000], 64, tmm4\n"
        "tileloadd tmm0, [0x1000], 64\ntilestored [0x1000], 64, tmm0\n",
        sample());
    parts.enter(0);
    EXPECT_TRUE(parts.window.at(parts.enter(0)).stores_dot);
    EXPECT_FALSE(parts.window.at(parts.enter(0)).stores_dot);
    parts.enter(0);
    EXPECT_FALSE(parts.window.at(parts.enter(0)).stores_dot);
}

TEST(Scoreboard, AProductKeepsTheBOfTheOneBeforeUntilItsTileIsWritten) {
    Window parts(
        "tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm6, tmm4\ntdpbssd tmm2, tmm5, tmm4\n"
        "tileloadd tmm5, [0x1000], 64\ntdpbssd tmm3, tmm5, tmm4\n"
        "tileloadd tmm4, [0x1000], 64\ntdpbssd tmm0, tmm5, tmm4\ntdpbssd tmm1, tmm5, tmm4\n",
        sample());
    std::vector<bool> keeps;
    while (!parts.stream.finished()) {
        keeps.push_back(parts.window.at(parts.enter(0)).keeps_b);
    }
    EXPECT_EQ(keeps, (std::vector<bool>{false, false, true, false, true, false, false, true}));
}

TEST(Scoreboard, AfterLdtilecfgAProductBringsItsB) {
    Window parts("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm0, tmm4, tmm6\n", sample());
    parts.enter(0);
    parts.window.reset_tiles();
    EXPECT_FALSE(parts.window.at(parts.enter(10)).keeps_b);
}

// The result of the first comes in cycle 50, the second enters before or when that is known.
TEST(Scoreboard, OnlyCGoesOnEarlyAndOnlyFromProductToProduct) {
    AmxConfig config = sample();
    config.tiles.dot_latency = base::Cycles{37};
    const auto starts = [&config](const std::string& text, bool known) {
        Window parts(text, config);
        const EntryId first = parts.enter(0);
        parts.window.pop_due(1);
        if (known) {
            parts.window.complete(first, 50);
        }
        const EntryId second = parts.enter(2);
        if (!known) {
            parts.window.complete(first, 50);
        }
        const std::int64_t at = parts.window.at(second).operands_at;
        const std::size_t slot = text.find("tmm5, tmm0") == std::string::npos ? 0 : 2;
        const std::size_t late = text.find("tmm1, tmm0") == std::string::npos ? slot : 1;
        EXPECT_EQ(parts.window.late_producer(parts.window.at(second), late, at - 1), first);
        EXPECT_EQ(parts.window.late_producer(parts.window.at(second), late, at), kNoEntry);
        return at;
    };
    const std::string product = "tdpbssd tmm0, tmm4, tmm6\n";
    for (const bool known : {false, true}) {
        config.tiles.dot_forwards = false;
        EXPECT_EQ(starts(product + "tdpbssd tmm0, tmm5, tmm7\n", known), 50);
        config.tiles.dot_forwards = true;
        EXPECT_EQ(starts(product + "tdpbssd tmm0, tmm5, tmm7\n", known), 50 - 37);
        EXPECT_EQ(starts(product + "tdpbssd tmm1, tmm0, tmm7\n", known), 50);
        EXPECT_EQ(starts(product + "tdpbssd tmm1, tmm5, tmm0\n", known), 50);
        EXPECT_EQ(starts("tileloadd tmm0, [0x1000], 64\ntdpbssd tmm0, tmm5, tmm7\n", known), 50);
        EXPECT_EQ(starts(product + "tilestored [0x1000], 64, tmm0\n", known), 50);
    }
}

// Instructions of a text that wait for the first.
std::vector<int> waiting(const std::string& text) {
    Window parts(text, sample());
    std::vector<int> pending;
    while (!parts.stream.finished()) {
        pending.push_back(parts.window.at(parts.enter(0)).pending);
    }
    return pending;
}

TEST(Scoreboard, OnlyRegistersOfTheSameKindAndNameMakeAnInstructionWait) {
    using Pending = std::vector<int>;
    EXPECT_EQ(waiting("vaddps zmm1, zmm8, zmm9\nvaddps zmm2, zmm1, zmm9\n"), (Pending{0, 1}));
    EXPECT_EQ(waiting("scalar\nvaddps zmm2, zmm0, zmm0\n"), (Pending{0, 0}));
    EXPECT_EQ(waiting("tileloadd tmm1, [0], 64\nvaddps zmm2, zmm1, zmm1\n"), (Pending{0, 0}));
    EXPECT_EQ(waiting("mov r1, [0x1000]\nvaddps zmm2, zmm1, zmm1\n"), (Pending{0, 0}));
    EXPECT_EQ(waiting("mov r1, [0x1000]\nmov r1, [0x1000]\n"), (Pending{0, 0}))
        << "says itself where";
}

TEST(Scoreboard, AProducerWhosePlaceInTheRingIsAnothersIsDone) {
    Window parts(
        "vaddps zmm1, zmm8, zmm9\nvaddps zmm2, zmm8, zmm9\nvfmadd231ps zmm3, zmm1, zmm2\n"
        "loop i 100\n  vaddps zmm4, zmm5, zmm6\nend\n",
        sample());
    const EntryId first = parts.enter(0);
    parts.enter(0);
    const EntryId consumer = parts.enter(0);
    parts.window.pop_due(1);
    parts.window.complete(first, 5);
    parts.window.retire();
    parts.window.retire();  // the consumer is the oldest now
    EntryId last = consumer;
    while (last != first) {
        last = parts.enter(7);
    }
    EXPECT_EQ(parts.window.late_producer(parts.window.at(consumer), 1, 80), kNoEntry);
}

// Latencies of up to a thousand cycles; the table of cycles begins anew.
TEST(Scoreboard, WhoIsDueComesInTheOrderOfCyclesHoweverFarOff) {
    for (const std::int64_t start : {0, 1000}) {
        const std::vector<std::int64_t> after{3, 63, 64, 130, 200, 777, 1000};
        std::string text;
        for (std::size_t i = 0; i < after.size(); ++i) {
            text += fmt::format("vaddps zmm{0}, zmm8, zmm9\nvaddps zmm{0}, zmm{0}, zmm9\n", i);
        }
        AmxConfig config = sample();
        config.window.scheduler = 40;
        Window parts(text, config);
        std::vector<EntryId> producers;
        std::vector<EntryId> consumers;
        for (std::size_t i = 0; i < after.size(); ++i) {
            producers.push_back(parts.enter(start));
            consumers.push_back(parts.enter(start));
        }
        parts.window.pop_due(start + 1);
        for (std::size_t i = after.size(); i-- > 0;) {
            parts.window.complete(producers[i], start + 1 + after[i]);
        }
        for (std::size_t i = 0; i < after.size(); ++i) {
            EXPECT_EQ(parts.window.next_due(), start + 1 + after[i]);
            EXPECT_EQ(parts.window.pop_due(start + after[i]), kNoEntry);
            EXPECT_EQ(parts.window.pop_due(start + 1 + after[i]), consumers[i]);
        }
        EXPECT_EQ(parts.window.next_due(), caches::kUnknownCycle);
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::core
