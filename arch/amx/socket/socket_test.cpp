#include "arch/amx/socket/socket.hpp"

#include <gtest/gtest.h>

#include "arch/amx/program/program_text.hpp"
#include "arch/memory/controller/memory_system.hpp"

namespace tilesim::arch::amx::socket {
namespace {

constexpr const char* kTiles64 =
    "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n";
constexpr std::int64_t kData = 0x1000000;

struct Outcome {
    std::int64_t cycles = 0;
    UncoreCounters uncore;
    std::vector<std::int64_t> in_barrier;
};

// Runs a program a core; [kData, kData + warm) lies in `level` of core 0 before.
Outcome run(const AmxConfig& config, const std::vector<std::string>& texts, std::int64_t warm = 0,
            caches::Level level = caches::Level::L3, bool dirty = false) {
    base::EventQueue queue;
    base::stats::Group root("");
    memory::controller::MemorySystem memory(memory::device::MemoryConfig{}, Uncore::memory_lookahead(config), queue,
                                root);
    std::vector<program::Program> programs;
    for (const std::string& text : texts) {
        programs.push_back(program::read_program(kTiles64 + text, "test"));
    }
    Socket socket(config, programs, {}, memory, queue);
    if (warm > 0) {
        socket.warm(0, kData, warm, level, dirty);
    }
    socket.start();
    while (!socket.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    EXPECT_TRUE(socket.finished());
    EXPECT_EQ(socket.fault(), "");
    Outcome outcome{socket.finish_cycle(), socket.uncore().counters(), {}};
    for (std::size_t i = 0; i < socket.cores(); ++i) {
        outcome.in_barrier.push_back(socket.core(i).spent(core::CoreState::Barrier));
    }
    return outcome;
}

// `tiles` packed tiles from kData on, one after the other.
std::string loads(std::int64_t tiles) {
    return "loop g " + std::to_string(tiles) +
           "\n  tileloadd tmm0, [0x1000000 + 1024*g], 64\nend\n";
}

constexpr std::int64_t kFew = 256;
constexpr std::int64_t kMany = 1280;

double cycles_per_tile(const AmxConfig& config, std::int64_t warm) {
    return static_cast<double>(run(config, {loads(kMany)}, warm).cycles -
                               run(config, {loads(kFew)}, warm).cycles) /
           (kMany - kFew);
}

TEST(Socket, TheL3GivesAsManyLinesARoundTripAsThereAreFillBuffers) {
    AmxConfig config;  // both clocks the same
    const double at_16 = cycles_per_tile(config, kMany * 1024);
    // Lookup, answer, the path into the L1: no fewer cycles for sixteen lines.
    EXPECT_GE(at_16, 65 + 60);
    EXPECT_LT(at_16, 65 + 60 + 10);
    config.caches.fill_buffers = 8;
    EXPECT_NEAR(cycles_per_tile(config, kMany * 1024), 2 * at_16, 0.1 * at_16);
}

TEST(Socket, ASlowerUncoreClockSlowsTheL3) {
    AmxConfig config;
    const double fast = cycles_per_tile(config, kMany * 1024);
    config.uncore.clock = base::Hertz{config.clock.count() / 2};
    EXPECT_NEAR(cycles_per_tile(config, kMany * 1024), 2 * fast, 0.1 * fast);
}

TEST(Socket, TheStreamerHidesWhatDramAddsToTheL3) {
    AmxConfig config;
    const double from_l3 = cycles_per_tile(config, kMany * 1024);
    const double ahead = cycles_per_tile(config, 0);
    config.uncore.streamer = 0;
    const double demanded = cycles_per_tile(config, 0);
    EXPECT_LT(ahead, 1.3 * from_l3);
    EXPECT_GE(ahead, from_l3);
    EXPECT_GT(demanded, 1.4 * from_l3);
}

TEST(Socket, EveryLineIsReadFromDramOnce) {
    const Outcome outcome = run(AmxConfig{}, {loads(kMany)});
    EXPECT_GE(outcome.uncore.memory_reads, kMany * 16);
    EXPECT_LE(outcome.uncore.memory_reads, kMany * 16 + 20);  // what lies ahead of the last
    EXPECT_GT(outcome.uncore.prefetches, kMany * 16 / 2);
}

TEST(Socket, LinesAnotherCoreHasWrittenComeFromItAndLater) {
    constexpr std::int64_t kTiles = 64;  // 64 KiB: in core 0's L2
    const auto second = [&](bool dirty) {
        return run(AmxConfig{}, {"scalar\n", loads(kTiles)}, kTiles * 1024, caches::Level::L2, dirty);
    };
    EXPECT_EQ(second(true).uncore.from_cores, kTiles * 16);
    EXPECT_EQ(second(false).uncore.from_cores, 0);
    // Clean lines are not the L3's: DRAM gives them.
    EXPECT_EQ(second(true).uncore.memory_reads, 0);
    AmxConfig slower;
    slower.uncore.dirty_elsewhere = base::Cycles{200};
    EXPECT_GT(run(slower, {"scalar\n", loads(kTiles)}, kTiles * 1024, caches::Level::L2, true).cycles,
              second(true).cycles);
}

TEST(Socket, PrefetchesIntoTheL2WaitForRoomAmongItsMissesAndGoOn) {
    AmxConfig config;
    config.caches.l2_outstanding = 7;
    const std::string text =
        "loop g 500\n  prefetcht1 [0x1000000 + 64*g]\nend\ntileloadd tmm0, [0x1000000], 64\n";
    const Outcome outcome = run(config, {text}, 500 * 64);
    EXPECT_GT(outcome.uncore.requests, 500 - 7);  // the last may still be on their way
    // Seven lines a round trip.
    EXPECT_NEAR(static_cast<double>(outcome.cycles), 204 + 500 / 7.0 * 126, 300);
}

TEST(Socket, ABarrierHoldsTheFastCoreUntilTheSlowOneIsThere) {
    const Outcome outcome =
        run(AmxConfig{}, {"barrier\nscalar\n", "loop i 1000\n  scalar\nend\nbarrier\nscalar\n"});
    EXPECT_GT(outcome.in_barrier[0], 300);
    EXPECT_LT(outcome.in_barrier[1], outcome.in_barrier[0]);
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

}  // namespace
}  // namespace tilesim::arch::amx::socket
