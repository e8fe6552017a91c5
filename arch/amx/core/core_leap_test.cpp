// What a core skips is what it would have done.
#include <gtest/gtest.h>

#include <random>

#include "arch/amx/core/core.hpp"
#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::core {
namespace {

constexpr const char* kHead =
    "buffer a 0x100000 16384\n"
    "buffer b 0x200000 65536\n"
    "buffer c 0x300000 16384\n"
    "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n"
    "ldtilecfg 0\n";

constexpr std::int64_t kSlice = 33;
constexpr std::int64_t kMost = 10'000'000;

// A core whose buffers lie in its L2.
class Alone {
  public:
    Alone(const AmxConfig& config, const program::Program& program, bool leaps)
        : core(config, program), leaps_(leaps) {
        for (const program::Buffer& buffer : program.buffers) {
            const caches::Line first = caches::line_at(buffer.address);
            const caches::Line end = first + buffer.bytes / caches::kLineBytes;
            core.pages().warm(first, end);
            for (caches::Line line = first; line < end; ++line) {
                core.caches().warm(core.pages().physical(line), caches::Level::L2, false);
            }
        }
        core.be_alone();
    }
    // To its end; how often it went on by itself.
    std::int64_t run() {
        std::int64_t slices = 0;
        for (; !core.finished() && core.now() < kMost; ++slices) {
            core.advance(core.now() + kSlice);
            skipped += leaps_ ? core.leap(kSlice) : 0;
        }
        return slices;
    }

    Core core;
    std::int64_t skipped = 0;

  private:
    bool leaps_;
};

void expect_same(const AmxConfig& config, const std::string& text, bool must_skip = true) {
    const program::Program program = program::read_program(kHead + text, "test");
    Alone leaping(config, program, true);
    Alone executing(config, program, false);
    const std::int64_t slices = leaping.run();
    EXPECT_EQ(executing.run(), slices + leaping.skipped / kSlice) << text;
    EXPECT_EQ(leaping.skipped % kSlice, 0);
    EXPECT_EQ(leaping.skipped > 0, must_skip) << text;
    const Core& is = leaping.core;
    const Core& expected = executing.core;
    EXPECT_EQ(is.finished_at(), expected.finished_at()) << text;
    for (std::size_t state = 0; state < kCoreStates.kStates; ++state) {
        EXPECT_EQ(is.spent(static_cast<CoreState>(state)),
                  expected.spent(static_cast<CoreState>(state)))
            << text << kCoreStates[static_cast<CoreState>(state)].name;
        EXPECT_EQ(is.overlapped(static_cast<CoreState>(state)),
                  expected.overlapped(static_cast<CoreState>(state)))
            << text << kCoreStates[static_cast<CoreState>(state)].name;
    }
    EXPECT_EQ(is.counters().instructions, expected.counters().instructions) << text;
    EXPECT_EQ(is.counters().dot_cycles, expected.counters().dot_cycles);
    EXPECT_EQ(is.counters().b_cycles, expected.counters().b_cycles);
    EXPECT_EQ(is.counters().tile_load_lines, expected.counters().tile_load_lines);
    EXPECT_EQ(is.caches().counters().l1_hits, expected.caches().counters().l1_hits) << text;
    EXPECT_EQ(is.caches().counters().l1_misses, expected.caches().counters().l1_misses);
    EXPECT_EQ(is.caches().counters().fills, expected.caches().counters().fills) << text;
    EXPECT_EQ(is.caches().counters().write_backs, expected.caches().counters().write_backs);
    EXPECT_EQ(is.pages().misses(), expected.pages().misses());
    EXPECT_EQ(is.pages().walks(), expected.pages().walks());
}

// With what the device files say of memory.
AmxConfig real() {
    AmxConfig config;
    config.tiles.dot_loads_b = true;
    config.tiles.dot_forwards = true;
    config.access.prefetch_port = true;
    config.pages.scattered = true;
    config.pages.first.random_percent = 25;
    config.pages.second_latency = base::Cycles{7};
    config.pages.walk = base::Cycles{20};
    config.pages.walk_loads = 1;
    config.caches.half_percent = 235;
    config.caches.quarter_percent = 350;
    config.caches.half_backlog = base::Cycles{18};
    config.caches.quarter_backlog = base::Cycles{90};
    config.caches.read_percent = 72;
    config.caches.write_percent = 338;
    config.caches.write_half_percent = 105;
    config.caches.fill_percent = 75;
    config.caches.l1_stride = true;
    config.caches.l2_streamer = 20;
    return config;
}

constexpr const char* kProducts = R"(
loop i 400
  loop k 8
    tileloadd tmm4, [a + 1024*k], 64
    tileloadd tmm6, [b + 8192*k], 512
    tdpbf16ps tmm0, tmm4, tmm6
  end
  tilestored [c], 64, tmm0
end
)";

TEST(CoreLeap, TurnsThatRepeatAreSkippedAndCounted) {
    expect_same({}, kProducts);
    expect_same(real(), kProducts);
}

TEST(CoreLeap, TheLastTurnAndWhatFollowsAreExecuted) {
    expect_same(real(), std::string{kProducts} + "tilestored [c + 1024], 64, tmm0\n");
}

TEST(CoreLeap, ALoopWithinAnotherIsSkippedEachTime) {
    expect_same(real(), R"(
loop o 3
  loop i 300
    tileloadd tmm4, [b + 16384*o], 1024
    tdpbf16ps tmm0, tmm4, tmm6
    tileloadd tmm5, [a + 64*o], 64
  end
end
)");
}

TEST(CoreLeap, AddressesThatMoveOnAreAllVisited) {
    expect_same(real(), "loop i 60\n  tileloadd tmm4, [b + 1024*i], 64\nend\n", false);
}

TEST(CoreLeap, WhatLeavesTheCoreIsNotSkipped) {
    const program::Program program = program::read_program(
        std::string{kHead} + "loop i 100\n  vmovntps [c], zmm0\nend\n", "test");
    Alone alone({}, program, true);
    alone.run();
    EXPECT_EQ(alone.skipped, 0);
    EXPECT_EQ(alone.core.caches().outbox().size(), 100);
}

class Listener : public InstructionObserver {
  public:
    void on_instruction(const program::DynamicInstruction&) override { ++heard; }
    std::int64_t heard = 0;
};

TEST(CoreLeap, AnObserverHearsOfEveryInstruction) {
    const program::Program program = program::read_program(std::string{kHead} + kProducts, "test");
    Listener listener;
    Core core({}, program, &listener);
    core.be_alone();
    while (!core.finished() && core.now() < kMost) {
        core.advance(core.now() + kSlice);
        EXPECT_EQ(core.leap(kSlice), 0);
        for (const caches::UncoreRequest& request : core.caches().outbox()) {
            core.caches().deliver(request.line, core.now() + kSlice);
        }
        core.caches().outbox().clear();
    }
    EXPECT_EQ(listener.heard, program.dynamic_instructions());
}

TEST(CoreLeap, TheProgramOnceMoreIsCountedFromItsStart) {
    const program::Program program = program::read_program(std::string{kHead} + kProducts, "test");
    std::array<std::int64_t, 2> took{};
    for (const bool leaps : {false, true}) {
        Alone alone(real(), program, leaps);
        alone.run();
        const std::int64_t start = alone.core.now();
        alone.core.restart(start);
        EXPECT_EQ(alone.core.now(), start);
        alone.run();
        took[leaps ? 1 : 0] = alone.core.finished_at() - start;
        EXPECT_EQ(alone.core.counters().instructions, program.dynamic_instructions());
    }
    EXPECT_EQ(took[0], took[1]);
}

// Loops of whatever tile and vector instructions.
class RandomText {
  public:
    explicit RandomText(unsigned seed) : random_(seed) {}

    std::string text() {
        std::string text = "loop i 200\n";
        for (std::int64_t i = any(3, 9); i > 0; --i) {
            text += instruction("");
        }
        text += "loop k 3\n";
        for (std::int64_t i = any(1, 5); i > 0; --i) {
            text += instruction(" + " + std::to_string(64 * any(1, 20)) + "*k");
        }
        return text + "end\nend\n";
    }

  private:
    std::int64_t any(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random_()) % (most - least + 1);
    }
    std::string reg(const char* name, std::int64_t least, std::int64_t most) {
        return name + std::to_string(any(least, most));
    }
    std::string instruction(const std::string& per_k) {
        constexpr std::array<const char*, 3> kBuffers{"[a + ", "[b + ", "[c + "};
        const std::string place = kBuffers[static_cast<std::size_t>(any(0, 2))] +
                                  std::to_string(64 * any(0, 64)) + per_k + "]";
        const std::string stride = ", " + std::to_string(64 * any(1, 9));
        switch (any(0, 9)) {
            case 0:
            case 1:
            case 2:
                return "tileloadd " + reg("tmm", 4, 7) + ", " + place + stride + "\n";
            case 3:
                return "tileloaddt1 " + reg("tmm", 4, 7) + ", " + place + stride + "\n";
            case 4:
            case 5:
                return "tdpbf16ps " + reg("tmm", 0, 3) + ", tmm4, " + reg("tmm", 5, 7) + "\n";
            case 6:
                return "tilestored " + place + stride + ", " + reg("tmm", 0, 3) + "\n";
            case 7:
                return "vmovups " + reg("zmm", 0, 5) + ", " + place + "\n";
            case 8:
                return "vmovups " + place + ", " + reg("zmm", 0, 5) + "\n";
            default:
                return "prefetcht0 " + place + "\nvaddps zmm0, zmm1, zmm2\n";
        }
    }

    std::minstd_rand random_;
};

TEST(CoreLeap, RandomLoopsEndAsIfEveryTurnHadBeenExecuted) {
    constexpr unsigned kPrograms = 40;
    std::int64_t leaped = 0;
    for (unsigned seed = 1; seed <= kPrograms; ++seed) {
        const std::string text = RandomText(seed).text();
        const AmxConfig config = seed % 2 == 0 ? real() : AmxConfig{};
        const program::Program program = program::read_program(kHead + text, "test");
        Alone probe(config, program, true);
        probe.run();
        leaped += probe.skipped > 0 ? 1 : 0;
        expect_same(config, text, probe.skipped > 0);
    }
    EXPECT_GT(leaped, kPrograms / 2);
}

// Nothing is under way between two turns.
constexpr const char* kThreePages = R"(
loop i 3000
  vmovups zmm0, [b]
  vmovups zmm1, [b + 4096]
  vmovups zmm2, [b + 8192]
  lfence
end
)";

// One after the other: each finds its page driven out of both TLBs.
constexpr const char* kPagesInTurn = R"(
loop i 3000
  vmovups zmm0, [b]
  lfence
  vmovups zmm1, [b + 4096]
  lfence
  vmovups zmm2, [b + 8192]
  lfence
end
)";

// TLBs of two entries. Where the loads of three pages go side by side, one of them misses the
// first.
TEST(CoreLeap, MissesAndWalksOfTheTlbsAreCountedForTurnsThatAreSkipped) {
    AmxConfig config;
    config.pages.first = {base::Bytes{2 * caches::kLineBytes}, 2, 0};
    config.pages.second = {base::Bytes{2 * caches::kLineBytes}, 2, 0};
    config.pages.second_latency = base::Cycles{7};
    config.pages.walk = base::Cycles{20};
    config.pages.walk_loads = 1;
    expect_same(config, kThreePages);
    expect_same(config, kPagesInTurn);
}

// What is over by itself long after a turn's end is part of what the core is in.
TEST(CoreLeap, WhatStillRunsOutIsNoRepetition) {
    const std::string adds = "loop i 300\n  vaddps zmm1, zmm1, zmm2\nend\n";  // 1200 cycles
    AmxConfig config;
    config.access.nontemporal_gap = base::Cycles{5000};
    expect_same(config, "tileloaddt1 tmm4, [a], 64\n" + adds + "tileloaddt1 tmm5, [a + 1024], 64\n",
                false);
    config = {};
    config.access.tile_load_after_store = base::Cycles{5000};
    expect_same(config, "vmovups [c], zmm3\n" + adds + "tileloadd tmm4, [c], 64\n", false);
    config = {};
    config.caches.fill_percent = 500'000;  // as many cycles
    expect_same(config, "vmovups zmm3, [b]\n" + adds + "vmovups zmm4, [b]\n", false);
    config = {};
    config.caches.l2_latency = base::Cycles{5000};
    expect_same(config, "prefetcht1 [b]\n" + adds, false);  // holds a fill buffer
    // Nobody brings the line: it is on its way all the time.
    expect_same({}, "prefetcht1 [0x700000]\n" + adds, false);
}

// One addition a turn, on port 0 and port 5 in turn, which take 4 and 3 cycles.
TEST(CoreLeap, PortsThatTakeTurnsRepeatWithEverySecondTurn) {
    AmxConfig config;
    config.vector.balanced_binding = false;
    config.window.allocate = 1;  // nothing enters beside a turn's end
    OpcodeTiming& add = config.instructions[static_cast<std::size_t>(program::Opcode::Vaddps)];
    add.latency = base::Cycles{4};
    add.port5_latency = base::Cycles{3};
    expect_same(config, "loop i 3000\n  vaddps zmm1, zmm2, zmm3\n  lfence\nend\n");
}

// Nine uops a turn, five a cycle: the first turns end with 1, 2, 3, 4 and 0 uops of the next.
TEST(CoreLeap, AnInstructionThatHasEnteredInPartIsPartOfTheState) {
    AmxConfig config;
    config.window.allocate = 5;
    config.instructions[static_cast<std::size_t>(program::Opcode::Vpxord)].uops = 7;
    expect_same(config, "loop i 3000\n  vpxord zmm1\nend\n");
    // As many leave.
    config.window.allocate = 32;
    config.window.retire = 5;
    config.window.reorder_buffer = 41;
    expect_same(config, "loop i 3000\n  vpxord zmm1\nend\n");
}

// An L1 of two ways whose victims chance picks: no turn tells what the next will find there.
TEST(CoreLeap, WhatChanceLeavesInTheCachesIsNoRepetition) {
    AmxConfig config;
    config.caches.l1 = {base::Bytes{2 * caches::kLineBytes}, 2, 60};
    expect_same(config, kThreePages, false);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
