#include "arch/amx/core/ports.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "arch/amx/core/window_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

// Pairwise different primes.
AmxConfig sample() {
    AmxConfig config;
    config.tiles.dot_latency = base::Cycles{37};
    config.tiles.store_config = base::Cycles{23};
    config.vector.port5_opens = 11;
    config.vector.port5_switch = base::Cycles{5};
    config.vector.scalar_ports = 3;
    return config;
}

// Every instruction enters in cycle 0 and can start in cycle 1.
struct Bench : Window {
    Ports ports{config, window, stores};

    explicit Bench(const std::string& text, const AmxConfig& given = sample(),
                   std::int64_t rows = 16)
        : Window(text, given) {
        while (!stream.finished()) {
            ids.push_back(enter(0, 1, rows));
            ports.bind(ids.back(), 0);
        }
    }
    // Cycles up to and including `last`; notes when each was issued.
    void run(std::int64_t last) {
        for (std::int64_t now = 1; now <= last; ++now) {
            for (EntryId id = window.pop_due(now); id != kNoEntry;
                 id = window.at(id).next_in_slot) {
                ports.start(id);
            }
            ports.step(now);
            for (const EntryId id : ids) {
                if (window.at(id).issued) {
                    issued.try_emplace(id, now);
                }
            }
        }
    }
    // By order of the program.
    std::int64_t issued_at(std::size_t index) const { return issued.at(ids[index]); }
    const Entry& entry(std::size_t index) const { return window.at(ids[index]); }

    std::vector<EntryId> ids;
    std::map<EntryId, std::int64_t> issued;
};

std::string repeated(const std::string& line, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) {
        text += line + "\n";
    }
    return text;
}

TEST(Ports, ATdpTakesTmulACycleARowAndDeliversALatencyLater) {
    for (const char* opcode : {"tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud", "tdpbf16ps"}) {
        const std::string dot{opcode};
        Bench bench(dot + " tmm0, tmm4, tmm6\n" + dot + " tmm1, tmm4, tmm6\n", sample(), 7);
        bench.run(20);
        EXPECT_EQ(bench.issued_at(0), 1);
        EXPECT_EQ(bench.issued_at(1), 1 + 7);
        EXPECT_EQ(bench.entry(0).result_at, 1 + 7 + 37);
        EXPECT_EQ(bench.entry(0).done_at, 1 + 1);  // it cannot fault: it retires early
        EXPECT_EQ(bench.ports.tmul_use(), TmulUse::Multiply);
        EXPECT_EQ(bench.ports.tmul_free(), 1 + 7 + 7);
    }
    AmxConfig late = sample();
    late.tiles.early_retire = false;
    Bench bench("tdpbssd tmm0, tmm4, tmm6\n", late, 7);
    bench.run(2);
    EXPECT_EQ(bench.entry(0).done_at, 1 + 7 + 37);
}

TEST(Ports, ATdpWaitsForItsAccumulatorAYoungerOneOvertakesIt) {
    Bench bench("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm4, tmm6\n",
                sample(), 5);
    bench.run(60);
    EXPECT_EQ(bench.issued_at(2), 1 + 5);
    EXPECT_EQ(bench.issued_at(1), 1 + 5 + 37);
}

TEST(Ports, StoringATdpsResultTakesTmulAndTheStoreLineALineACycle) {
    const std::string text =
        "tdpbssd tmm0, tmm4, tmm6\ntilestored [0x1000], 64, tmm0\ntdpbssd tmm0, tmm4, tmm6\n"
        "tilestored [0x2000], 64, tmm4\ntilestored [0x3000], 64, tmm5\n";
    Bench bench(text, sample(), 13);
    bench.run(120);
    const std::int64_t result = 1 + 13 + 37;
    EXPECT_EQ(bench.issued_at(1), result);
    EXPECT_EQ(bench.issued_at(2), result + 13);  // TMUL was the store's
    for (std::int64_t line = 0; line < 13; ++line) {
        EXPECT_EQ(bench.stores.data_at(bench.entry(1).store + line), result + line + 1);
    }
    EXPECT_EQ(bench.entry(1).done_at, result + 13);
    // Tiles no TDP wrote go by the store line alone.
    EXPECT_EQ(bench.issued_at(3), 1);
    EXPECT_EQ(bench.issued_at(4), 1 + 13);
    AmxConfig own_way = sample();
    own_way.tiles.store_reads_tmul = false;
    Bench apart(text, own_way, 13);
    apart.run(120);
    EXPECT_EQ(apart.issued_at(1), result);
    EXPECT_EQ(apart.issued_at(2), result);
}

TEST(Ports, AStoreOfAResultWaitsForTheStoreLine) {
    Bench bench(
        "tdpbssd tmm0, tmm4, tmm6\ntilestored [0x1000], 64, tmm0\n"
        "tilestored [0x2000], 64, tmm4\ntilestored [0x3000], 64, tmm5\n"
        "tilestored [0x4000], 64, tmm5\ntilestored [0x5000], 64, tmm5\n",
        sample(), 13);
    bench.run(120);
    // Four stores of 13 lines one after the other; the result is there in cycle 51.
    EXPECT_EQ(bench.issued_at(5), 1 + 3 * 13);
    EXPECT_EQ(bench.issued_at(1), 1 + 4 * 13);
}

// Its data are there while the result's thirteen lines go to the store line.
TEST(Ports, AnotherStoreWaitsForAResultsLines) {
    Bench bench("tdpbssd tmm0, tmm4, tmm6\ntilestored [0x1000], 64, tmm0\n" +
                    repeated("vfmadd231ps zmm1, zmm8, zmm9", 13) + "vmovups [0x2000], zmm1\n",
                sample(), 13);
    bench.run(120);
    EXPECT_GT(bench.issued_at(14) + 4, bench.issued_at(1));
    EXPECT_LT(bench.issued_at(14) + 4, bench.issued_at(1) + 13);
    EXPECT_EQ(bench.issued_at(15), bench.issued_at(1) + 13);
}

TEST(Ports, SttilecfgDeliversItsLineLateAndKeepsOtherStoresOut) {
    Bench bench("sttilecfg [0x1000]\nvmovups [0x2000], zmm1\n");
    bench.run(24);
    EXPECT_EQ(bench.stores.data_at(0), 1 + 23 + 1);
    EXPECT_EQ(bench.entry(0).done_at, 1 + 23 + 1);
    EXPECT_EQ(bench.issued_at(1), 1 + 23);
    EXPECT_EQ(bench.stores.data_at(1), 1 + 23 + 1);
}

TEST(Ports, ProductsOfFewRowsTakeTheMultiplierAsLongAsTheDeviceSays) {
    const auto second_of = [](std::int64_t rows, std::int64_t row_percent, std::int64_t least) {
        AmxConfig config = sample();
        config.tiles.dot_row_percent = row_percent;
        config.tiles.dot_least = base::Cycles{least};
        Bench bench("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm4, tmm6\n", config, rows);
        bench.run(40);
        EXPECT_EQ(bench.entry(0).result_at, bench.issued_at(1) + 37);
        return bench.issued_at(1) - 1;
    };
    EXPECT_EQ(second_of(5, 100, 1), 5);
    EXPECT_EQ(second_of(16, 60, 1), 16);
    EXPECT_EQ(second_of(5, 60, 1), 10);  // 16 less 11 times 0.6: 9.4
    EXPECT_EQ(second_of(6, 75, 1), 9);   // 8.5
    EXPECT_EQ(second_of(5, 60, 13), 13);
    EXPECT_EQ(second_of(16, 60, 13), 16);
}

// Products of three rows, whose B have thirteen.
TEST(Ports, AProductWithAnotherBWaitsForTheOneBeforeOfTheSameBItDoesNot) {
    AmxConfig config = sample();
    const auto starts = [&config] {
        Bench bench(
            "tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm5, tmm6\n"
            "tdpbssd tmm2, tmm4, tmm7\ntdpbssd tmm3, tmm5, tmm7\n"
            "tileloadd tmm7, [0x1000], 64\ntdpbssd tmm0, tmm4, tmm7\n",
            config, 3);
        for (const std::size_t product : {0U, 1U, 2U, 3U, 5U}) {
            bench.window.at(bench.ids[product]).lines = 13;
        }
        bench.window.complete(bench.ids[4], 1);
        bench.run(60);
        std::vector<std::int64_t> result;
        for (const std::size_t product : {0U, 1U, 2U, 3U, 5U}) {
            result.push_back(bench.issued_at(product));
        }
        return result;
    };
    config.tiles.dot_forwards = true;
    EXPECT_EQ(starts(), (std::vector<std::int64_t>{1, 4, 7, 10, 13}));
    config.tiles.dot_loads_b = true;
    EXPECT_EQ(starts(), (std::vector<std::int64_t>{1, 4, 1 + 13, 17, 1 + 2 * 13}));
}

TEST(Ports, WhoWaitsForTheBOfAnotherProductSaysWhenItMayStart) {
    AmxConfig config = sample();
    config.tiles.dot_loads_b = true;
    Bench bench("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm4, tmm7\n", config, 3);
    for (const EntryId id : bench.ids) {
        bench.window.at(id).lines = 13;
    }
    bench.run(4);
    EXPECT_EQ(bench.ports.next_event(4), 1 + 13);
}

TEST(Ports, CGoesOnToTheNextProductOfItsTileBeforeTheResultIsThere) {
    const auto starts = [](bool forwards) {
        AmxConfig config = sample();
        config.tiles.dot_forwards = forwards;
        Bench bench(
            "tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm0, tmm5, tmm7\ntdpbssd tmm1, tmm0, tmm6\n",
            config, 7);
        bench.run(150);
        return std::vector{bench.issued_at(1), bench.issued_at(2)};
    };
    EXPECT_EQ(starts(false), (std::vector<std::int64_t>{1 + 7 + 37, 1 + 2 * (7 + 37)}));
    EXPECT_EQ(starts(true), (std::vector<std::int64_t>{1 + 7, 1 + 7 + 7 + 37}));  // as A: no
}

// A timing of an instruction's own, of pairwise different numbers.
AmxConfig timed(const char* mnemonic, const OpcodeTiming& timing) {
    AmxConfig config = sample();
    for (std::size_t i = 0; i < program::kOpcodes; ++i) {
        if (program::kOpcodeInfo[i].mnemonic == mnemonic) {
            config.instructions[i] = timing;
        }
    }
    return config;
}

TEST(Ports, AnInstructionTakesThePortsAndTheTimeTheDeviceSays) {
    const auto issued = [](const OpcodeTiming& timing) {
        Bench bench(repeated("vmulps zmm1, zmm8, zmm9", 4), timed("vmulps", timing));
        bench.run(40);
        EXPECT_EQ(bench.entry(0).result_at, 1 + 7);
        std::vector<std::int64_t> cycles;
        for (std::size_t i = 0; i < 4; ++i) {
            cycles.push_back(bench.issued_at(i));
        }
        return cycles;
    };
    using Cycles = std::vector<std::int64_t>;
    const base::Cycles latency{7};
    EXPECT_EQ(issued({.latency = latency, .port0 = 3}), (Cycles{1, 4, 7, 10}));
    EXPECT_EQ(issued({.latency = latency, .port5 = 2}), (Cycles{1, 3, 5, 7}));
    EXPECT_EQ(issued({.latency = latency, .port0 = 1, .port5 = 2}), (Cycles{1, 3, 5, 7}));
    EXPECT_EQ(issued({.latency = latency, .either = 3}), (Cycles{1, 1, 4, 4}));
}

TEST(Ports, ALatencyMayBeAnotherOnPortFive) {
    Bench bench(repeated("vaddps zmm1, zmm8, zmm9", 2),
                timed("vaddps",
                      {.latency = base::Cycles{7}, .port5_latency = base::Cycles{3}, .either = 1}));
    bench.run(20);
    EXPECT_EQ(bench.entry(0).result_at + bench.entry(1).result_at, 1 + 7 + 1 + 3);
}

TEST(Ports, ThePortIsChosenWhenAnInstructionEntersByLoadOrInTurn) {
    // Three shuffles of port 5, then three that may take either.
    const std::string text =
        repeated("vpermd zmm1, zmm8, zmm9", 3) + repeated("vmulps zmm2, zmm8, zmm9", 3);
    AmxConfig config = timed("vmulps", {.latency = base::Cycles{4}, .either = 1});
    config.vector.balanced_binding = true;
    Bench balanced(text, config);
    balanced.run(20);
    for (std::size_t i = 3; i < 6; ++i) {
        EXPECT_EQ(balanced.entry(i).port0, 1) << i;
        EXPECT_EQ(balanced.issued_at(i), static_cast<std::int64_t>(i) - 2);
    }
    config.vector.balanced_binding = false;
    Bench turns(text, config);
    turns.run(20);
    EXPECT_EQ(turns.entry(3).port0 + turns.entry(4).port0, 1);
    EXPECT_NE(turns.entry(3).port0, turns.entry(4).port0);
    EXPECT_EQ(turns.entry(3).port0, turns.entry(5).port0);
    config.vector.second_port = false;
    Bench one(text, config);
    one.run(20);
    EXPECT_EQ(one.issued_at(5), 3);
}

TEST(Ports, PortFiveOpensToArithmeticSoManyInstructionsAfterATileProductOrZero) {
    for (const std::string tile : {"tdpbssd tmm0, tmm4, tmm6\n", "tilezero tmm0\n"}) {
        Bench bench(tile + repeated("vmulps zmm1, zmm8, zmm9", 15));
        bench.run(60);
        for (std::size_t i = 1; i <= 11; ++i) {
            EXPECT_EQ(bench.entry(i).port5, 0) << i;
        }
        std::int64_t opened = 0;
        for (std::size_t i = 12; i <= 15; ++i) {
            opened += bench.entry(i).port5;
        }
        EXPECT_GT(opened, 0);
        const std::string adds = repeated("vmulps zmm1, zmm8, zmm9", 11);
        Bench again(adds + tile + adds);  // counted from the last
        for (std::size_t i = 12; i <= 22; ++i) {
            EXPECT_EQ(again.entry(i).port5, 0) << i;
        }
    }
}

TEST(Ports, BothPortsStandStillWhilePortFiveOpensOrCloses) {
    // It closes with the product and opens with the twelfth instruction: twice five cycles from 0.
    Bench closes("tdpbssd tmm0, tmm4, tmm6\nvmulps zmm1, zmm8, zmm9\n");
    closes.run(30);
    EXPECT_EQ(closes.issued_at(1), 0 + 5);
    Bench of_five("tdpbssd tmm0, tmm4, tmm6\nvpermd zmm1, zmm8, zmm9\n");
    of_five.run(30);
    EXPECT_EQ(of_five.issued_at(1), 0 + 5);
    Bench opens("tdpbssd tmm0, tmm4, tmm6\n" + repeated("vmulps zmm1, zmm8, zmm9", 12));
    opens.run(60);
    EXPECT_EQ(opens.issued_at(1), 0 + 5 + 5);
}

// Port 5 is taken from 1 to 8. TILEZERO enters in cycle 3 and what follows it, too.
TEST(Ports, APortStandsStillFromWhenItIsFree) {
    AmxConfig config = timed("vpermd", {.latency = base::Cycles{7}, .port5 = 7});
    config.instructions[static_cast<std::size_t>(program::Opcode::Vmulps)] = {.port0 = 1};
    Window window(
        "vpermd zmm1, zmm8, zmm9\ntilezero tmm0\nvpermd zmm2, zmm8, zmm9\n"
        "vmulps zmm3, zmm8, zmm9\n",
        config);
    Ports ports(window.config, window.window, window.stores);
    std::vector<EntryId> ids;
    for (std::int64_t now = 0; now < 30; ++now) {
        for (EntryId id = window.window.pop_due(now); id != kNoEntry;
             id = window.window.at(id).next_in_slot) {
            ports.start(id);
        }
        ports.step(now);
        while (!window.stream.finished() && (now == 3 || ids.empty())) {
            ids.push_back(window.enter(now));
            ports.bind(ids.back(), now);
        }
    }
    EXPECT_EQ(window.window.at(ids[0]).result_at, 1 + 7);
    EXPECT_EQ(window.window.at(ids[2]).result_at, 8 + 5 + 7);
    EXPECT_EQ(window.window.at(ids[3]).result_at, 3 + 5 + 1);
}

TEST(Ports, FusedMultiplyAddTakesFourCyclesFromItsAccumulator) {
    Bench bench("vfmadd231ps zmm1, zmm8, zmm9\nvfmadd231ps zmm1, zmm8, zmm9\n");
    bench.run(10);
    EXPECT_EQ(bench.issued_at(1), 1 + 4);
}

TEST(Ports, ASaturatingStoreTakesItsPortsAndItsLatencyForItsData) {
    Bench bench(
        "vpmovsdb [0x1000], zmm1, 16\nvpmovsdb [0x2000], zmm1, 16\n"
        "vpermd zmm2, zmm8, zmm9\n",
        timed("vpmovsdb", {.latency = base::Cycles{7}, .port5 = 3}));
    bench.run(20);
    EXPECT_EQ(bench.stores.data_at(0), 1 + 7 + 1);
    EXPECT_EQ(bench.issued_at(1), 1 + 3);
    EXPECT_EQ(bench.issued_at(2), 4 + 3);  // it is younger
}

TEST(Ports, ASaturatingStoreStandsBehindWhatIsOlderOnItsPort) {
    Bench bench(
        "vpermd zmm2, zmm8, zmm9\nvpermd zmm3, zmm8, zmm9\nvpmovsdb [0x1000], zmm1, 16\n"
        "vpermd zmm4, zmm8, zmm9\n",
        timed("vpermd", {.latency = base::Cycles{7}, .port5 = 5}));
    bench.run(20);
    EXPECT_EQ(bench.issued_at(0), 1);
    EXPECT_EQ(bench.issued_at(1), 1 + 5);
    EXPECT_EQ(bench.issued_at(2), 1 + 2 * 5);
    EXPECT_GT(bench.issued_at(3), bench.issued_at(2));
}

TEST(Ports, AStoreThatNeedsNoOtherPortPassesOneThatWaitsForIts) {
    Bench bench(
        "vpmovsdb [0x1000], zmm1, 16\nvpmovsdb [0x2000], zmm1, 16\nvmovups [0x3000], zmm1\n",
        timed("vpmovsdb", {.latency = base::Cycles{7}, .port5 = 3}));
    bench.run(20);
    EXPECT_EQ(bench.issued_at(1), 1 + 3);
    EXPECT_EQ(bench.issued_at(2), 1 + 1);
}

// The result is there in cycle 51, and the store line is taken until 63.
TEST(Ports, AnOlderStoreGoesBeforeAResultsLines) {
    Bench bench("sttilecfg [0x1000]\ntdpbssd tmm0, tmm4, tmm6\n" +
                    repeated("tilestored [0x2000], 64, tmm5", 4) +
                    "tilestored [0x3000], 64, tmm0\n",
                sample(), 13);
    bench.run(120);
    EXPECT_EQ(bench.issued_at(5), 1 + 23 + 3 * 13);
    EXPECT_EQ(bench.issued_at(6), bench.issued_at(5) + 13);
}

TEST(Ports, ASaturatingStoreWaitsForPortZeroToo) {
    Bench bench("vpmovsdb [0x1000], zmm1, 16\nvpmovsdb [0x2000], zmm1, 16\n",
                timed("vpmovsdb", {.latency = base::Cycles{7}, .port0 = 3}));
    bench.run(20);
    EXPECT_EQ(bench.issued_at(1), 1 + 3);
    EXPECT_EQ(bench.stores.data_at(0), 1 + 7 + 1);
}

TEST(Ports, ASaturatingStoreOnPortFiveAloneHasItsLatencyThere) {
    const OpcodeTiming alone{
        .latency = base::Cycles{7}, .port5_latency = base::Cycles{11}, .port5 = 3};
    OpcodeTiming both = alone;
    both.port0 = 2;
    for (const auto& [timing, latency] : {std::pair{alone, 11}, std::pair{both, 7}}) {
        Bench bench("vpmovsdb [0x1000], zmm1, 16\n", timed("vpmovsdb", timing));
        bench.run(20);
        EXPECT_EQ(bench.stores.data_at(0), 1 + latency + 1);
    }
}

TEST(Ports, AnInstructionOfPortZeroLeavesPortFiveAsItIs) {
    AmxConfig config = timed("vpermd", {.latency = base::Cycles{7}, .port5 = 5});
    for (std::size_t i = 0; i < program::kOpcodes; ++i) {
        if (program::kOpcodeInfo[i].mnemonic == "vmulps") {
            config.instructions[i] = {.latency = base::Cycles{7}, .port0 = 2};
        }
    }
    Bench bench(repeated("vpermd zmm1, zmm8, zmm9", 2) + repeated("vmulps zmm2, zmm8, zmm9", 2),
                config);
    bench.run(20);
    EXPECT_EQ(bench.issued_at(2), 1);
    EXPECT_EQ(bench.issued_at(3), 1 + 2);
    EXPECT_EQ(bench.issued_at(1), 1 + 5);
}

// Ports 0 and 5 have one each; the last went to port 0.
TEST(Ports, WithAsMuchToDoOnEitherPortTheyTakeTurns) {
    AmxConfig config = timed("vmulps", {.latency = base::Cycles{4}, .either = 1});
    config.vector.balanced_binding = true;
    Bench bench("vmulps zmm2, zmm8, zmm9\nvpermd zmm1, zmm8, zmm9\nvmulps zmm2, zmm8, zmm9\n",
                config);
    EXPECT_EQ(bench.entry(0).port0, 1);
    EXPECT_EQ(bench.entry(2).port5, 1);
}

TEST(Ports, ScalarUopsTakePortsOfTheirOwn) {
    Bench bench(repeated("scalar", 7) + "vaddps zmm1, zmm8, zmm9\n");
    bench.run(5);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(bench.issued_at(i), 1 + static_cast<std::int64_t>(i) / 3);
        EXPECT_EQ(bench.entry(i).result_at, bench.issued_at(i) + 1);
    }
    EXPECT_EQ(bench.issued_at(7), 1);
}

TEST(Ports, NothingIsToDoUntilAPortIsFree) {
    Bench bench("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm4, tmm6\n", sample(), 7);
    EXPECT_EQ(bench.ports.next_event(0), caches::kUnknownCycle);
    bench.run(1);
    EXPECT_EQ(bench.ports.next_event(1), 1 + 7);
    Bench stores("tilestored [0x2000], 64, tmm4\ntilestored [0x3000], 64, tmm5\n", sample(), 7);
    stores.run(1);
    EXPECT_EQ(stores.ports.next_event(1), 1 + 7);
}

TEST(Ports, WhoWaitsForAPortSaysWhenItIsFree) {
    AmxConfig config = timed("vmulps", {.latency = base::Cycles{7}, .port0 = 3});
    Bench vector(repeated("vmulps zmm1, zmm8, zmm9", 2), config);
    vector.run(1);
    EXPECT_EQ(vector.ports.next_event(1), 2);  // port 5 is free: it is looked at
    config = timed("vpermd", {.latency = base::Cycles{7}, .port5 = 5});
    for (std::size_t i = 0; i < program::kOpcodes; ++i) {
        if (program::kOpcodeInfo[i].mnemonic == "vmulps") {
            config.instructions[i] = {.latency = base::Cycles{7}, .port0 = 3};
        }
    }
    Bench both(repeated("vpermd zmm1, zmm8, zmm9", 2) + repeated("vmulps zmm2, zmm8, zmm9", 2),
               config);
    both.run(1);
    EXPECT_EQ(both.ports.next_event(1), 1 + 3);
    Bench scalar(repeated("scalar", 4));
    scalar.run(1);
    EXPECT_EQ(scalar.ports.next_event(1), 2);
    // A result that waits for the store line, taken from 40 to 53; TMUL is free.
    Bench result(
        "tdpbssd tmm0, tmm4, tmm6\ntilestored [0x1000], 64, tmm0\n"
        "tilestored [0x2000], 64, tmm4\ntilestored [0x3000], 64, tmm5\n"
        "tilestored [0x4000], 64, tmm5\ntilestored [0x5000], 64, tmm5\n",
        sample(), 13);
    result.run(51);
    EXPECT_EQ(result.ports.next_event(51), 1 + 4 * 13);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
