#include "arch/amx/core.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx {
namespace {

constexpr std::int64_t kPage = 1 << 20;

// A program whose tiles are all full, with a loop of `count` around `body`.
template <class Body>
Program looped(std::int64_t count, Body body) {
    Program program;
    std::array<TileShape, kTiles> shapes;
    shapes.fill({16, 64});
    Instruction configure;
    configure.opcode = Opcode::Ldtilecfg;
    configure.immediate = program.add_config(shapes);
    program.emit(configure);
    program.open_loop("i", count);
    body(program);
    program.close_loop();
    return program;
}

void load(Program& program, int tile, std::int64_t address, Opcode opcode = Opcode::Tileloadd) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = static_cast<std::int8_t>(tile);
    instruction.address.base = address;
    program.emit(instruction);
}
void store(Program& program, int tile, std::int64_t address) {
    load(program, tile, address, Opcode::Tilestored);
}
void dot(Program& program, int c, int a, int b) {
    Instruction instruction;
    instruction.opcode = Opcode::Tdpbssd;
    instruction.destination = static_cast<std::int8_t>(c);
    instruction.source_a = static_cast<std::int8_t>(a);
    instruction.source_b = static_cast<std::int8_t>(b);
    program.emit(instruction);
}

struct Run {
    std::int64_t cycles = 0;
    std::array<std::int64_t, kCoreStates> spent{};
};

// With the first 32 KiB after 0 and after kPage in the L1 where they fit.
Run run(const Program& program, const AmxConfig& config = {}, Level level = Level::L1) {
    Core core(config, program);
    for (Line line = 0; line < 256; ++line) {
        core.caches().warm(line, level, false);
        core.caches().warm(kPage / kLineBytes + line, level, false);
    }
    while (!core.finished() && core.now() < 10'000'000) {
        core.advance(core.now() + 1000);
    }
    EXPECT_FALSE(core.fault()) << core.fault()->reason;
    Run result{core.finished_at(), {}};
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < kCoreStates; ++i) {
        result.spent[i] = core.spent(static_cast<CoreState>(i));
        sum += result.spent[i];
    }
    EXPECT_EQ(sum, core.now());
    return result;
}

// Cycles an iteration in the long run.
template <class Body>
double per_iteration(Body body, const AmxConfig& config = {}, Level level = Level::L1) {
    constexpr std::int64_t kFew = 100;
    constexpr std::int64_t kMany = 500;
    return static_cast<double>(run(looped(kMany, body), config, level).cycles -
                               run(looped(kFew, body), config, level).cycles) /
           (kMany - kFew);
}

TEST(Core, IndependentLoadsAndProductsRunAtThePaceOfTmul) {
    EXPECT_DOUBLE_EQ(per_iteration([](Program& p) {
                         for (int i = 0; i < 4; ++i) {
                             load(p, 4 + i, 1024 * i);
                         }
                         dot(p, 0, 4, 6);
                         dot(p, 1, 4, 7);
                         dot(p, 2, 5, 6);
                         dot(p, 3, 5, 7);
                     }),
                     64.0);
}

TEST(Core, DependentProductsWaitForTheirAccumulator) {
    EXPECT_DOUBLE_EQ(per_iteration([](Program& p) { dot(p, 0, 4, 6); }), 52.0);
}

TEST(Core, TileLoadsTakeTwoLinesACycle) {
    EXPECT_DOUBLE_EQ(per_iteration([](Program& p) { load(p, 0, 0); }), 8.0);
}

TEST(Core, NontemporalLoadsTakeALineEveryTwoCycles) {
    EXPECT_DOUBLE_EQ(per_iteration([](Program& p) { load(p, 0, 0, Opcode::Tileloaddt1); }), 32.0);
}

TEST(Core, TileStoresTakeALineACycle) {
    EXPECT_DOUBLE_EQ(per_iteration([](Program& p) { store(p, 0, kPage); }), 16.0);
}

TEST(Core, StoringAProductTakesTmul) {
    const auto body = [](Program& p) {
        dot(p, 0, 4, 6);
        store(p, 0, kPage);
        dot(p, 1, 4, 6);
        store(p, 1, kPage + 1024);
        dot(p, 2, 4, 6);
        store(p, 2, kPage + 2048);
        dot(p, 3, 4, 6);
        store(p, 3, kPage + 3072);
    };
    EXPECT_DOUBLE_EQ(per_iteration(body), 4 * 32.0);
    AmxConfig free_store;
    free_store.tiles.store_reads_tmul = false;
    EXPECT_DOUBLE_EQ(per_iteration(body, free_store), 4 * 16.0);
}

TEST(Core, StoringAnotherTileDoesNot) {
    EXPECT_DOUBLE_EQ(per_iteration([](Program& p) {
                         dot(p, 0, 4, 6);
                         store(p, 5, kPage);
                         dot(p, 1, 4, 6);
                         store(p, 5, kPage + 1024);
                         dot(p, 2, 4, 6);
                         store(p, 5, kPage + 2048);
                         dot(p, 3, 4, 6);
                         store(p, 5, kPage + 3072);
                     }),
                     4 * 16.0);
}

}  // namespace
}  // namespace tilesim::arch::amx
