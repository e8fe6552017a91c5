#include "arch/amx/program/instruction_stream.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::program {
namespace {

// The addresses of all loads, in their order.
std::vector<std::int64_t> addresses(InstructionStream& stream) {
    std::vector<std::int64_t> result;
    for (; !stream.finished(); stream.advance()) {
        if (info_of(stream.current().instruction->opcode).memory()) {
            result.push_back(stream.current().address);
        }
    }
    return result;
}

using Addresses = std::vector<std::int64_t>;

TEST(InstructionStream, WalksLoopsAndBeginsAgain) {
    const Program program = read_program(
        "loop i 2\n  loop k 3\n    vmovups zmm0, [0x1000 + 256*i + 64*k]\n  end\nend\n"
        "vmovups zmm0, [0x2000]\n",
        "test");
    const Addresses expected{0x1000, 0x1040, 0x1080, 0x1100, 0x1140, 0x1180, 0x2000};
    InstructionStream stream(program);
    EXPECT_EQ(addresses(stream), expected);
    stream.restart();
    EXPECT_FALSE(stream.finished());
    EXPECT_EQ(addresses(stream), expected);
}

TEST(InstructionStream, ALoopOfNoTurnsIsNotEntered) {
    Program program;
    const int variable = program.open_loop("i", 0);
    Instruction load;
    load.opcode = Opcode::Vmovups;
    load.address = Address{}.plus(0x1000).per(variable, 64);
    program.emit(load);
    program.close_loop();
    load.address = Address{}.plus(0x2000);
    program.emit(load);
    InstructionStream stream(program);
    EXPECT_EQ(addresses(stream), Addresses{0x2000});
}

TEST(InstructionStream, ALoadHasItsOwnBytesAtMostAsManyAsThePiece) {
    const Program program = read_program(
        "table pieces 0x1000 31 64\nvmovups zmm0, [0], 17\nvpexpandb zmm0, [pieces[0]]\n"
        "vpexpandb zmm0, [pieces[1]], 8\n",
        "test");
    InstructionStream stream(program);
    for (const std::int64_t bytes : {17, 31, 8}) {
        EXPECT_EQ(stream.current().bytes, bytes);
        stream.advance();
    }
}

// Statements: 0 loop i, 1 loop k, 2 scalar, 3 end of k, 4 end of i, 5 scalar.
TEST(InstructionStream, SaysHowManyTurnsOfALoopAreOverAndSkipsSome) {
    const Program program =
        read_program("loop i 5\n  loop k 3\n    scalar\n  end\nend\nscalar\n", "test");
    InstructionStream stream(program);
    EXPECT_TRUE(stream.inside(4));
    EXPECT_TRUE(stream.inside(3));
    EXPECT_EQ(stream.turns(4), 0);
    EXPECT_EQ(stream.turns_left(4), 4);
    while (stream.position() != 4) {
        stream.advance();
    }
    EXPECT_TRUE(stream.inside(4));
    EXPECT_FALSE(stream.inside(3));
    stream.advance();  // the second turn
    EXPECT_EQ(stream.turns(4), 1);
    EXPECT_EQ(stream.turns_left(4), 3);
    std::vector<std::int64_t> others;
    stream.advance();
    stream.advance();  // of k too
    stream.each_count_but(4, [&others](std::int64_t count) { others.push_back(count); });
    EXPECT_EQ(others, std::vector<std::int64_t>{1});
    stream.skip(4, 3);
    EXPECT_EQ(stream.turns(4), 4);
    EXPECT_EQ(stream.turns_left(4), 0);
    while (stream.position() != 5) {
        EXPECT_TRUE(stream.inside(4));
        stream.advance();
    }
    EXPECT_EQ(stream.turns(4), 5);
    EXPECT_FALSE(stream.inside(4));
    stream.advance();
    EXPECT_FALSE(stream.inside(4));
}

// Blocks of 256 bytes, every one a line further on than the one before, in whatever order.
TEST(AddressTable, AShuffleVisitsALineOfEveryBlockOnceAndThenOnceMore) {
    const Program program = read_program("shuffle order 0x1000 13 256 1\n", "test");
    const AddressTable& table = program.tables.at(0);
    EXPECT_EQ(table.entries(), 13);
    std::set<std::int64_t> seen;
    std::int64_t ascending = 0;
    for (std::int64_t i = 0; i < 13; ++i) {
        const std::int64_t at = table.start(i) - 0x1000;
        EXPECT_EQ(at % 256, at / 256 * 64 % 256);
        EXPECT_LT(at / 256, 13);
        seen.insert(at / 256);
        ascending += i > 0 && table.start(i) > table.start(i - 1) ? 1 : 0;
        EXPECT_EQ(table.start(i + 13), table.start(i));
        EXPECT_EQ(table.bytes(i), kRowBytes);
    }
    EXPECT_EQ(seen.size(), 13U);
    EXPECT_GT(ascending, 2);  // neither up nor down
    EXPECT_LT(ascending, 10);
}

TEST(AddressTable, BlocksWithoutASkewBeginWhereTheyBegin) {
    const Program program = read_program("shuffle order 0x1000 4 256\n", "test");
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < 4; ++i) {
        seen.insert(program.tables.at(0).start(i));
    }
    EXPECT_EQ(seen, (std::set<std::int64_t>{0x1000, 0x1100, 0x1200, 0x1300}));
}

TEST(Program, RepetitionsPreparationsAndConfigurationsAreRead) {
    const Program program = read_program(
        "buffer a 0x1000 64\nbuffer b 0x2000 64\ntouch b l2 dirty\ntouch a l1\nflush b\nruns 3\n"
        "scalar\n",
        "test");
    EXPECT_EQ(program.runs, 3);
    ASSERT_EQ(program.preparations.size(), 3U);
    EXPECT_EQ(program.preparations[0].buffer, 1U);
    EXPECT_EQ(program.preparations[0].to, Preparation::To::L2);
    EXPECT_TRUE(program.preparations[0].dirty);
    EXPECT_EQ(program.preparations[1].buffer, 0U);
    EXPECT_EQ(program.preparations[1].to, Preparation::To::L1);
    EXPECT_FALSE(program.preparations[1].dirty);
    EXPECT_EQ(program.preparations[2].to, Preparation::To::Memory);
    const Program again = read_program(print(program), "test");
    EXPECT_EQ(again.runs, 3);
    ASSERT_EQ(again.preparations.size(), 3U);
    EXPECT_TRUE(again.preparations[0].dirty);
    EXPECT_EQ(again.preparations[2].to, Preparation::To::Memory);
}

TEST(Program, EqualConfigurationsAreOne) {
    Program program;
    std::array<TileShape, kTiles> shapes{};
    shapes.fill({16, 64});
    EXPECT_EQ(program.add_config(shapes), 0);
    shapes[3] = {8, 64};
    EXPECT_EQ(program.add_config(shapes), 1);
    EXPECT_EQ(program.add_config(shapes), 1);
    EXPECT_EQ(program.configs.size(), 2U);
}

}  // namespace
}  // namespace tilesim::arch::amx::program
