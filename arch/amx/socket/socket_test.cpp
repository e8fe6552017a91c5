#include "arch/amx/socket/socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/amx/socket/socket_testing.hpp"
#include "arch/base/probe_testing.hpp"

namespace tilesim::arch::amx::socket {
namespace {

struct Outcome {
    std::int64_t cycles = 0;
    UncoreCounters uncore;
    std::vector<std::int64_t> in_barrier;
};

// Runs a program a core; [kData, kData + warm) lies in `level` of core 0 before.
Outcome run(const AmxConfig& config, const std::vector<std::string>& texts, std::int64_t warm = 0,
            caches::Level level = caches::Level::L3, bool dirty = false) {
    Machine machine(config, texts);
    if (warm > 0) {
        machine.socket.warm(0, kData, warm, level, dirty);
    }
    EXPECT_TRUE(machine.run());
    EXPECT_TRUE(machine.socket.finished());
    EXPECT_EQ(machine.socket.fault(), "");
    Outcome outcome{machine.socket.finish_cycle(), machine.socket.uncore().counters(), {}};
    for (std::size_t i = 0; i < machine.socket.cores(); ++i) {
        outcome.in_barrier.push_back(machine.socket.core(i).spent(core::CoreState::Barrier));
    }
    return outcome;
}

constexpr std::int64_t kFew = 256;
constexpr std::int64_t kMany = 1280;

double cycles_per_tile(const AmxConfig& config, std::int64_t warm) {
    return static_cast<double>(run(config, {loads(kMany)}, warm).cycles -
                               run(config, {loads(kFew)}, warm).cycles) /
           (kMany - kFew);
}

// Core cycles from a miss to the L3's answer.
double round_trip(const AmxConfig& config) {
    constexpr double kFemtosecondsASecond = 1e15;
    return static_cast<double>((config.uncore.lookup + config.uncore.answer).count()) *
           static_cast<double>(config.clock.count()) / kFemtosecondsASecond;
}

TEST(Socket, TheL3GivesAsManyLinesARoundTripAsThereAreFillBuffers) {
    AmxConfig config;
    const double at_16 = cycles_per_tile(config, kMany * 1024);
    // Lookup, answer, the path into the L1: no fewer cycles for sixteen lines.
    EXPECT_GE(at_16, round_trip(config));
    EXPECT_LT(at_16, round_trip(config) + 10);
    config.caches.fill_buffers = 8;
    EXPECT_NEAR(cycles_per_tile(config, kMany * 1024), 2 * at_16, 0.1 * at_16);
}

TEST(Socket, AFasterCoreWaitsMoreOfItsCyclesForTheL3) {
    AmxConfig config;
    const double slow = cycles_per_tile(config, kMany * 1024);
    config.clock = base::Hertz{2 * config.clock.count()};
    EXPECT_NEAR(cycles_per_tile(config, kMany * 1024), 2 * slow, 0.1 * slow);
}

TEST(Socket, TheStreamerHidesAPartOfDram) {
    AmxConfig config;
    const double from_l3 = cycles_per_tile(config, kMany * 1024);
    const double demanded = cycles_per_tile(config, 0);
    config.caches.l2_streamer = 20;
    const double ahead = cycles_per_tile(config, 0);
    EXPECT_LT(ahead, 0.8 * demanded);
    EXPECT_GE(ahead, from_l3);
}

TEST(Socket, EveryLineIsReadFromDramOnce) {
    AmxConfig config;
    config.caches.l2_streamer = 20;
    const Outcome outcome = run(config, {loads(kMany)});
    EXPECT_GE(outcome.uncore.memory_reads, kMany * 16);
    EXPECT_LE(outcome.uncore.memory_reads, kMany * 16 + 20);  // what lies ahead of the last
    EXPECT_GT(outcome.uncore.prefetches, kMany * 16 / 4);
}

TEST(Socket, LinesAnotherCoreHasComeFromItAndLater) {
    constexpr std::int64_t kTiles = 64;  // 64 KiB: in core 0's L2
    const auto second = [&](const AmxConfig& config) {
        return run(config, {"scalar\n", loads(kTiles)}, kTiles * 1024, caches::Level::L2, true);
    };
    EXPECT_EQ(second(AmxConfig{}).uncore.from_cores, kTiles * 16);
    EXPECT_EQ(second(AmxConfig{}).uncore.memory_reads, 0);
    AmxConfig slower;
    slower.uncore.from_core = slower.uncore.from_core + slower.uncore.from_core;
    EXPECT_GT(second(slower).cycles, second(AmxConfig{}).cycles);
}

TEST(Socket, PrefetchesIntoTheL2WaitForRoomAmongItsMissesAndGoOn) {
    AmxConfig config;
    config.caches.l2_outstanding = 7;
    const std::string text =
        "loop g 500\n  prefetcht1 [0x1000000 + 64*g]\nend\ntileloadd tmm0, [0x1000000], 64\n";
    const Outcome outcome = run(config, {text}, 500 * 64);
    EXPECT_GT(outcome.uncore.requests, 500 - 7);  // the last may still be on their way
    // Seven lines a round trip.
    EXPECT_NEAR(static_cast<double>(outcome.cycles), 204 + 500 / 7.0 * (round_trip(config) + 1),
                300);
}

TEST(Socket, ABarrierHoldsTheFastCoreUntilTheSlowOneIsThere) {
    const Outcome outcome =
        run(AmxConfig{}, {"barrier\nscalar\n", "loop i 1000\n  scalar\nend\nbarrier\nscalar\n"});
    EXPECT_GT(outcome.in_barrier[0], 300);
    EXPECT_LT(outcome.in_barrier[1], outcome.in_barrier[0]);
}

// A line that passes from core to core, `times` times.
double passes(const AmxConfig& config, int times) {
    const base::Femtoseconds once =
        config.uncore.lookup + config.uncore.from_core + config.uncore.answer;
    return times * static_cast<double>(once.count()) * static_cast<double>(config.clock.count()) /
           1e15;
}

TEST(Socket, ABarrierTakesAnIncrementOfEachCoreAndAReadOfAllButTheLast) {
    AmxConfig config;
    for (const std::int64_t from_core : {20, 90}) {
        config.uncore.from_core = base::Femtoseconds{from_core * 1'000'000};
        const std::string text = "barrier\nscalar\n";
        const Outcome outcome = run(config, {text, text, text, text});
        for (const std::size_t core : {0U, 1U, 2U}) {
            EXPECT_NEAR(static_cast<double>(outcome.in_barrier[core]), passes(config, 4 + 1), 2);
        }
        EXPECT_NEAR(static_cast<double>(outcome.in_barrier[3]), passes(config, 4), 2);
    }
}

TEST(Socket, ABarrierIsOfAllCoresAlsoOfThoseThatOthersStandFor) {
    AmxConfig config;
    std::vector<std::string> texts;
    for (int i = 0; i < 12; ++i) {
        texts.push_back("buffer own " + std::to_string(kData + i * 0x30000) +
                        " 1024\nloop i 12\ntileloadd tmm0, [own], 64\nend\nbarrier\nscalar\n");
    }
    config.simulated_cores = 0;
    const std::int64_t every = run(config, texts).cycles;
    config.simulated_cores = 3;
    config.simulated_instructions = 0;
    const std::int64_t some = run(config, texts).cycles;
    EXPECT_NEAR(static_cast<double>(some), static_cast<double>(every),
                0.05 * static_cast<double>(every));
    EXPECT_GT(static_cast<double>(some), passes(config, 12 + 1));
}

TEST(Socket, ProbesHearEveryCoresStatesAtTheirTimes) {
    AmxConfig config;
    config.tiles.load_config = base::Cycles{199};
    Machine machine(config, {"tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm0, tmm4, tmm6\n", "scalar\n"});
    base::ProbeRecorder recorder{base::Clock{config.clock}};
    machine.socket.connect(&recorder);
    EXPECT_TRUE(machine.run());
    machine.socket.write_statistics(machine.root);
    // LDTILECFG enters in cycle 0, the product when it is over; it starts a cycle later, the next
    // when C is there, which retires in the cycle after its start.
    const std::int64_t first = 199 + 1;
    const std::int64_t second = first + 16 + config.tiles.dot_latency.count();
    using Activity = base::ProbeRecorder::Activity;
    EXPECT_THAT(recorder.of("amx(0).core"),
                testing::ElementsAre(Activity{"amx(0).core", "configure", 0, 199},
                                     Activity{"amx(0).core", "ports", 199, first},
                                     Activity{"amx(0).core", "multiply", first, first + 16},
                                     Activity{"amx(0).core", "accumulator", first + 16, second},
                                     Activity{"amx(0).core", "multiply", second, second + 1},
                                     Activity{"amx(0).core", "finished", second + 1, second + 1}));
    EXPECT_EQ(machine.socket.finish_cycle(), second + 1);
    EXPECT_THAT(recorder.of("amx(1).core"),
                testing::Contains(testing::Field(&Activity::end, second + 1)));
    const base::stats::StateAccount& account = *machine.root.children()[1]->accounts()[0];
    EXPECT_EQ(account.total(), second + 1);
}

TEST(Socket, ACoreThatCanNeverGoOnLeavesNoEventAndSaysWhatItWaitsFor) {
    AmxConfig config;
    config.window.memory_scheduler = 15;  // of a tile store's 16 uops
    Machine machine(config, {"tilestored [0x2000], 64, tmm0\nbarrier\n", "barrier\nscalar\n"});
    EXPECT_TRUE(machine.run());
    EXPECT_FALSE(machine.socket.finished());
    EXPECT_EQ(machine.socket.standstill(),
              "amx(0).core waits for room in its scheduler that tilestored needs\n"
              "amx(1).core waits for the others at a barrier\n");
    // LDTILECFG has retired long before, the store never will; to within a slice.
    const std::int64_t slice = base::Clock{config.clock}.cycle_at(config.uncore.answer).count();
    EXPECT_LE(machine.socket.last_progress().count(), slice);
    config.window.memory_scheduler = 16;
    Machine goes_on(config, {"tilestored [0x2000], 64, tmm0\nbarrier\n", "barrier\nscalar\n"});
    EXPECT_TRUE(goes_on.run());
    EXPECT_TRUE(goes_on.socket.finished());
    EXPECT_EQ(goes_on.socket.standstill(), "");
    EXPECT_GT(goes_on.socket.last_progress().count(), 204);
}

TEST(Socket, TheLastOfSeveralRunsCounts) {
    const auto cycles = [](std::int64_t runs, bool flushed) {
        Machine machine(AmxConfig{}, {loads(32)}, runs);
        machine.socket.warm(0, kData, 32 * 1024, caches::Level::L1, false);
        if (flushed) {
            machine.socket.flush(kData, 32 * 1024);
        }
        EXPECT_TRUE(machine.run());
        return machine.socket.finish_cycle();
    };
    EXPECT_GT(cycles(1, true), 2 * cycles(1, false));
    EXPECT_NEAR(static_cast<double>(cycles(2, true)), static_cast<double>(cycles(1, false)), 1);
}

TEST(Socket, CoresShareTheMemoryTheyRead) {
    // As many cores as saturate DRAM: each has less than one alone.
    const std::string text = loads(kFew);
    std::vector<std::string> many;
    for (int core = 0; core < 24; ++core) {
        many.push_back("loop g 256\n  tileloadd tmm0, [" +
                       std::to_string(kData + core * kFew * 1024) + " + 1024*g], 64\nend\n");
    }
    EXPECT_GT(run(AmxConfig{}, many).cycles, 2 * run(AmxConfig{}, {text}).cycles);
}

// `count` programs, each with a KiB of its own that it reads twelve times a run, and one for all.
std::vector<std::string> like_each_other(int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
        texts.push_back("buffer own " + std::to_string(kData + i * 0x30000) +
                        " 1024\nbuffer all 0x100000 1024\nflush own\nflush all\nloop i 12\n"
                        "tileloadd tmm0, [own], 64\ntileloadd tmm1, [all], 64\nend\n");
    }
    return texts;
}

TEST(Socket, CoresThatStandForOthersAskForTheirLinesToo) {
    AmxConfig config;
    config.simulated_cores = 0;
    const Outcome every = run(config, like_each_other(12));
    config.simulated_cores = 3;
    config.simulated_instructions = 0;
    const Outcome some = run(config, like_each_other(12));
    EXPECT_EQ(every.uncore.memory_reads, 12 * 16 + 16);
    EXPECT_EQ(some.uncore.memory_reads, 12 * 16 + 16);
    EXPECT_EQ(some.uncore.requests, every.uncore.requests);
    EXPECT_EQ(some.in_barrier.size(), 12U);
    EXPECT_NEAR(static_cast<double>(some.cycles), static_cast<double>(every.cycles),
                0.05 * static_cast<double>(every.cycles));
}

TEST(Socket, OneCoreOfEachKindIsSimulatedAtLeast) {
    AmxConfig config;
    config.simulated_cores = 2;
    config.simulated_instructions = 0;
    std::vector<std::string> texts = like_each_other(5);
    texts[3] += "scalar\n";
    Machine machine(config, texts);
    EXPECT_EQ(machine.socket.cores(), 5U);
    EXPECT_EQ(machine.socket.simulated(), 2U);
    EXPECT_EQ(&machine.socket.core(0), &machine.socket.core(4));
    EXPECT_NE(&machine.socket.core(0), &machine.socket.core(3));
}

// Turns that repeat, then lines of DRAM.
constexpr const char* kTurns =
    "loop i 500\n  tileloadd tmm4, [0x1000000], 128\n  tdpbssd tmm0, tmm4, tmm5\n"
    "end\nloop k 8\n  tileloadd tmm4, [0x1001000 + 1024*k], 64\nend\n";

TEST(Socket, ACoreAloneSkipsTurnsThatRepeatAndWhatFollowsComesAsItWould) {
    Machine skipping({}, {kTurns});
    Machine executing({}, {kTurns});
    base::ProbeRecorder recorder{
        base::Clock{AmxConfig{}.clock}};  // who listens hears of every cycle
    executing.socket.connect(&recorder);
    for (Machine* const machine : {&skipping, &executing}) {
        EXPECT_TRUE(machine->run());
    }
    EXPECT_EQ(skipping.socket.finish_cycle(), executing.socket.finish_cycle());
    EXPECT_EQ(skipping.socket.core(0).counters().instructions,
              executing.socket.core(0).counters().instructions);
    EXPECT_EQ(skipping.socket.uncore().counters().memory_reads,
              executing.socket.uncore().counters().memory_reads);
    EXPECT_LT(skipping.queue.executed(), executing.queue.executed() / 3);
}

TEST(Socket, CoresThatShareASocketExecuteEveryTurn) {
    Machine alone({}, {kTurns});
    Machine two({}, {kTurns, kTurns});
    EXPECT_TRUE(alone.run());
    EXPECT_TRUE(two.run());
    EXPECT_GT(two.queue.executed(), 3 * alone.queue.executed());
}

TEST(Socket, ACoreThatHasNoBarrierKeepsNobodyWaiting) {
    EXPECT_GT(run({}, {"barrier\nscalar\n", "scalar\n"}).cycles, 0);  // it finishes
}

TEST(Socket, ACoreThatStoppedAtAFaultKeepsNobodyWaiting) {
    Machine machine({}, {"barrier\nscalar\n", "tilerelease\ntilezero tmm0\n"});
    EXPECT_TRUE(machine.run());
    EXPECT_TRUE(machine.socket.core(0).finished());
    EXPECT_TRUE(machine.socket.finished());
    int line = 0;
    EXPECT_THAT(machine.socket.fault(line), testing::HasSubstr("core 1: "));
    EXPECT_EQ(line, 4);
    EXPECT_GE(machine.socket.finish_cycle(), machine.socket.core(0).finished_at());
    EXPECT_LT(machine.socket.finish_cycle(), 1'000'000);
}

TEST(Socket, NamesItsPartsOnce) {
    const Machine machine({}, {"scalar\n", "scalar\n"});
    std::vector<std::string> names;
    for (const base::Block& block : machine.socket.blocks()) {
        names.push_back(block.path);
    }
    EXPECT_EQ(names.size(), 2U * 7 + 2);
    EXPECT_THAT(names, testing::IsSupersetOf({"amx(0).core", "amx(1).core.tmul", "amx(1).core.l2",
                                              "uncore", "uncore.l3"}));
}

TEST(Socket, ACoresAccountSaysWhereItsCyclesWentUpToTheLastCoresEnd) {
    Machine machine({}, {"scalar\nbarrier\nscalar\n", loads(3) + "barrier\n" + loads(2)});
    EXPECT_TRUE(machine.run());
    machine.socket.write_statistics(machine.root);
    std::size_t core = 0;
    for (const base::stats::Group* group : machine.root.children()) {
        if (group->component_class() != "core") {
            continue;
        }
        const base::stats::StateAccount& account = *group->accounts()[0];
        std::int64_t sum = 0;
        for (std::size_t s = 0; s < core::kCoreStates.kStates; ++s) {
            const auto state = static_cast<core::CoreState>(s);
            sum += account.spent(s);
            if (state != core::CoreState::Finished) {
                EXPECT_EQ(account.spent(s), machine.socket.core(core).spent(state)) << s;
            }
        }
        EXPECT_EQ(sum, machine.socket.finish_cycle());
        ++core;
    }
    EXPECT_EQ(core, 2U);
    EXPECT_GT(machine.socket.core(0).spent(core::CoreState::Barrier), 0);
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
