#include "arch/amx/core/core.hpp"

#include <gtest/gtest.h>

#include "arch/amx/core/core_testing.hpp"
#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::core {
namespace {

// Appends a configuration of these tiles.
void configure(program::Program& program,
               const std::array<program::TileShape, program::kTiles>& shapes) {
    program::Instruction instruction;
    instruction.opcode = program::Opcode::Ldtilecfg;
    instruction.immediate = program.add_config(shapes);
    program.emit(instruction);
}

std::array<program::TileShape, program::kTiles> full_tiles() {
    std::array<program::TileShape, program::kTiles> shapes;
    shapes.fill({16, 64});
    return shapes;
}

// A program whose tiles are all full, with a loop of `count` around `body`.
template <class Body>
program::Program looped(std::int64_t count, Body body) {
    program::Program program;
    configure(program, full_tiles());
    program.open_loop("i", count);
    body(program);
    program.close_loop();
    return program;
}

void load(program::Program& program, int tile, std::int64_t address,
          program::Opcode opcode = program::Opcode::Tileloadd) {
    program::Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = static_cast<std::int8_t>(tile);
    instruction.address.base = address;
    program.emit(instruction);
}
void store(program::Program& program, int tile, std::int64_t address) {
    load(program, tile, address, program::Opcode::Tilestored);
}
void dot(program::Program& program, int c, int a, int b) {
    program::Instruction instruction;
    instruction.opcode = program::Opcode::Tdpbssd;
    instruction.destination = static_cast<std::int8_t>(c);
    instruction.source_a = static_cast<std::int8_t>(a);
    instruction.source_b = static_cast<std::int8_t>(b);
    program.emit(instruction);
}

// Cycles an iteration in the long run.
template <class Body>
double per_iteration(Body body, const AmxConfig& config = {},
                     caches::Level level = caches::Level::L1) {
    constexpr std::int64_t kFew = 100;
    constexpr std::int64_t kMany = 500;
    return static_cast<double>(run(looped(kMany, body), config, level).cycles -
                               run(looped(kFew, body), config, level).cycles) /
           (kMany - kFew);
}

TEST(Core, IndependentLoadsAndProductsRunAtThePaceOfTmul) {
    EXPECT_DOUBLE_EQ(per_iteration([](program::Program& p) {
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
    EXPECT_DOUBLE_EQ(per_iteration([](program::Program& p) { dot(p, 0, 4, 6); }), 52.0);
}

TEST(Core, TileLoadsTakeTwoLinesACycle) {
    EXPECT_DOUBLE_EQ(per_iteration([](program::Program& p) { load(p, 0, 0); }), 8.0);
}

TEST(Core, NontemporalLoadsTakeALineEveryTwoCyclesAndOneBetweenTiles) {
    const auto body = [](program::Program& p) { load(p, 0, 0, program::Opcode::Tileloaddt1); };
    EXPECT_DOUBLE_EQ(per_iteration(body), 33.0);
    AmxConfig config;
    config.access.nontemporal_gap = base::Cycles{0};
    EXPECT_DOUBLE_EQ(per_iteration(body, config), 32.0);
}

TEST(Core, TileStoresTakeALineACycle) {
    EXPECT_DOUBLE_EQ(per_iteration([](program::Program& p) { store(p, 0, kPage); }), 16.0);
}

TEST(Core, StoringAProductTakesTmul) {
    const auto body = [](program::Program& p) {
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
    EXPECT_DOUBLE_EQ(per_iteration([](program::Program& p) {
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

void math(program::Program& program, program::Opcode opcode, int out, int a, int b) {
    program::Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = static_cast<std::int8_t>(out);
    instruction.source_a = static_cast<std::int8_t>(a);
    instruction.source_b = static_cast<std::int8_t>(b);
    program.emit(instruction);
}
void vector_load(program::Program& program, int reg, std::int64_t address) {
    load(program, reg, address, program::Opcode::Vmovups);
}

TEST(Core, ATileLoadWaitsForAStoreOfItsLines) {
    const auto body = [](program::Program& p) {
        store(p, 0, kPage);
        load(p, 0, kPage);
    };
    AmxConfig config;
    config.access.tile_load_after_store = base::Cycles{13};
    const double cycles = per_iteration(body, config);
    config.access.tile_load_after_store = base::Cycles{20};
    EXPECT_DOUBLE_EQ(per_iteration(body, config), cycles + 7);
    // Data 16 lines, commit of the last one, 13 more, the tile: 1 + 33 + 5 at least.
    EXPECT_GE(cycles, 16 + 13 + 33 + 5);
    EXPECT_GT(run(looped(100, body)).spent[static_cast<std::size_t>(CoreState::Drain)], 0);
}

TEST(Core, AVectorLoadTakesAFullLineFromTheStoreBuffer) {
    const auto body = [](program::Program& p) {
        store(p, 0, kPage);
        vector_load(p, 1, kPage + 15 * 64);
    };
    AmxConfig slow;
    slow.access.tile_load_after_store = base::Cycles{90};
    EXPECT_DOUBLE_EQ(per_iteration(body), 16.0);
    EXPECT_DOUBLE_EQ(per_iteration(body, slow), 16.0);
}

TEST(Core, AVectorLoadOfPartOfATileStoresLineWaitsForTheL1) {
    // What is loaded goes through a chain of additions that outlasts the stores.
    const auto cycles = [](bool tile, std::int64_t bytes) {
        return run(looped(1,
                          [=](program::Program& p) {
                              load(p, 1, kPage,
                                   tile ? program::Opcode::Tilestored
                                        : program::Opcode::VmovupsStore);
                              vector_load(p, 2, kPage);
                              p.statements.back().instruction.bytes = bytes;
                              for (int i = 0; i < 30; ++i) {
                                  math(p, program::Opcode::Vaddps, 2, 2, 3);
                              }
                              load(p, 2, kPage + 2048, program::Opcode::VmovupsStore);
                          }))
            .cycles;
    };
    EXPECT_GT(cycles(true, 32), cycles(true, 64));
    // A vector store hands on any part of what it wrote.
    EXPECT_EQ(cycles(false, 32), cycles(false, 64));
}

TEST(Core, PortFiveIsClosedWhileAProductIsYoung) {
    const auto body = [](bool with_dot) {
        return [with_dot](program::Program& p) {
            if (with_dot) {
                dot(p, 0, 4, 6);
            }
            for (int i = 0; i < 90; ++i) {
                math(p, program::Opcode::Vaddps, i % 24, 30, 31);
            }
        };
    };
    EXPECT_DOUBLE_EQ(per_iteration(body(false)), 45.0);
    EXPECT_DOUBLE_EQ(per_iteration(body(true)), 90.0);
    AmxConfig open;
    open.vector.port5_opens = 0;
    open.vector.port5_switch = base::Cycles{0};
    EXPECT_DOUBLE_EQ(per_iteration(body(true), open), 52.0);  // the accumulator
    open.vector.second_port = false;
    EXPECT_DOUBLE_EQ(per_iteration(body(false), open), 90.0);
}

TEST(Core, AProductThatRetiresEarlyLetsLaterStoresCommit) {
    // A copy of a tile row by row, a load of the copy, a product: a chain through the L1.
    const auto body = [](program::Program& p) {
        for (int row = 0; row < 16; ++row) {
            vector_load(p, row, 64 * row);
            load(p, row, kPage + 64 * row, program::Opcode::VmovupsStore);
        }
        load(p, 6, kPage);
        dot(p, 0, 4, 6);
    };
    AmxConfig late;
    late.tiles.early_retire = false;
    // The result is 52 cycles after the start, with which it may retire otherwise one cycle later.
    EXPECT_DOUBLE_EQ(per_iteration(body, late), per_iteration(body) + 51);
}

TEST(Core, AShortPoolOfTilesKeepsLoadsFromRunningAhead) {
    const auto body = [](program::Program& p) {
        for (int i = 0; i < 4; ++i) {
            load(p, 4 + i, 1024 * i);
        }
        dot(p, 0, 4, 6);
        dot(p, 1, 4, 7);
        dot(p, 2, 5, 6);
        dot(p, 3, 5, 7);
    };
    AmxConfig few;
    few.tiles.physical_tiles = 11;
    EXPECT_GT(per_iteration(body, few), 64.0);
    few.tiles.physical_tiles = 16;
    EXPECT_DOUBLE_EQ(per_iteration(body, few), 64.0);
}

TEST(Core, SmallerTilesTakeFewerCycles) {
    program::Program program;
    auto shapes = full_tiles();
    shapes[0] = {7, 64};
    shapes[4] = {7, 64};
    configure(program, shapes);
    dot(program, 0, 4, 6);
    store(program, 0, kPage);
    const auto result = run(program);
    EXPECT_EQ(result.spent[static_cast<std::size_t>(CoreState::Multiply)], 7);
    EXPECT_EQ(result.spent[static_cast<std::size_t>(CoreState::StoreRead)], 7);
    EXPECT_EQ(result.spent[static_cast<std::size_t>(CoreState::Configure)], 204);
}

TEST(Core, SleepingAndSteppingEveryCycleAgree) {
    const program::Program program = looped(50, [](program::Program& p) {
        load(p, 4, 0);
        load(p, 6, 4096, program::Opcode::Tileloaddt1);
        dot(p, 0, 4, 6);
        store(p, 0, kPage);
        vector_load(p, 3, kPage + 64);
        math(p, program::Opcode::Vaddps, 4, 3, 3);
        load(p, 4, kPage + 2048, program::Opcode::VmovupsStore);
    });
    const AmxConfig config;
    Core sleeping(config, program);
    Core stepping(config, program);
    for (caches::Line line = 0; line < 1024; ++line) {
        for (Core* core : {&sleeping, &stepping}) {
            core->caches().warm(line, caches::Level::L2, false);
            core->caches().warm(kPage / caches::kLineBytes + line, caches::Level::L2, false);
        }
    }
    sleeping.advance(100'000);
    while (!stepping.finished()) {
        stepping.advance(stepping.now() + 1);
    }
    EXPECT_EQ(sleeping.finished_at(), stepping.finished_at());
    for (std::size_t i = 0; i < kCoreStates.kStates; ++i) {
        const auto state = static_cast<CoreState>(i);
        if (state != CoreState::Finished) {
            EXPECT_EQ(sleeping.spent(state), stepping.spent(state)) << kCoreStates[state].name;
        }
    }
}

TEST(Core, AnIllegalInstructionStopsTheCore) {
    program::Program program;
    dot(program, 0, 4, 6);
    const AmxConfig config;
    Core core(config, program);
    core.advance(1000);
    ASSERT_TRUE(core.fault());
    EXPECT_EQ(core.fault()->kind, program::Fault::Kind::UndefinedInstruction);
    EXPECT_FALSE(core.finished());
}

TEST(Core, LegalityIsCheckedAgainUnderAnotherConfiguration) {
    // The second pass of the loop executes the product with B one row short.
    program::Program program;
    auto shapes = full_tiles();
    configure(program, shapes);
    program.open_loop("i", 2);
    dot(program, 0, 4, 6);
    shapes[6] = {15, 64};
    configure(program, shapes);
    program.close_loop();
    const AmxConfig config;
    Core core(config, program);
    core.advance(1000);
    ASSERT_TRUE(core.fault());
    EXPECT_EQ(core.counters().dots, 1);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
