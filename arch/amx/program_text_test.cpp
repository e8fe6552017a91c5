#include "arch/amx/program_text.hpp"

#include <gmock/gmock.h>

#include "arch/amx/instruction_stream.hpp"
#include "arch/base/config.hpp"

namespace tilesim::arch::amx {
namespace {

constexpr const char* kText = R"(buffer a 0x100000 65536
table lines 0x120000 31 0 64
config 0 16x64 13x28 16x64 16x64 16x64 16x64 16x64 16x64
ldtilecfg 0
loop m 3
  loop k 5
    tileloadd tmm4, [a + 192 + 1088*m + 64*k], 1088
    tileloaddt1 tmm6, [a + 64*k], 64
    tdpbusd tmm0, tmm4, tmm6
    prefetcht1 [a + 4096 + 64*k]
  end
  tilestored [a + 2048 - 64*m], 128, tmm0
  vmovups zmm3, [a + 64], 32
  vpermt2b zmm4, zmm3, zmm2, 1
  vfmadd231ps zmm4, zmm3, zmm2
  vpmovsdb [a], zmm4, 16
  kmovq k1, [a + 8]
  vpexpandb zmm7, [a + 17], 31
  scalar
end
sttilecfg [0x200000]
barrier
vpexpandb zmm1, [lines[2]]
loop l 3
  vpexpandb zmm1, [lines[0 + 1*l]]
end
tilerelease
)";

TEST(ProgramText, TablesGiveAddressAndLength) {
    const Program program = read_program(
        "table lines 0x120000 31 0 64\nloop l 3\n  vpexpandb zmm1, [lines[2 - 1*l]]\nend\n", "t");
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
    for (InstructionStream stream(program); !stream.finished(); stream.advance()) {
        if (stream.current().instruction->opcode == Opcode::Vpexpandb) {
            pieces.emplace_back(stream.current().address, stream.current().bytes);
        }
    }
    EXPECT_THAT(pieces,
                testing::ElementsAre(testing::Pair(0x12001f, 64), testing::Pair(0x12001f, 0),
                                     testing::Pair(0x120000, 31)));
    const auto message = [](const std::string& line) -> std::string {
        try {
            read_program("table lines 0x120000 31\n" + line, "t");
        } catch (const base::config::ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("vpexpandb zmm1, [lines[1]]"), testing::HasSubstr("t:2: indices 1..1"));
    EXPECT_THAT(message("vmovups zmm1, [lines[0]]"), testing::HasSubstr("only vpexpandb"));
    EXPECT_THAT(message("vpexpandb zmm1, [other[0]]"), testing::HasSubstr("a table's name"));
}

TEST(ProgramText, WhatIsPrintedReadsBackTheSame) {
    const Program program = read_program(kText, "test");
    const std::string printed = print(program);
    EXPECT_EQ(print(read_program(printed, "again")), printed);
    EXPECT_THAT(printed, testing::HasSubstr("vpmovsdb [a], zmm4, 16"));
    EXPECT_THAT(printed, testing::HasSubstr("[a + 192 + 1088*m + 64*k], 1088"));
}

TEST(ProgramText, LoopsRunTheirCountsAndEndWithABranch) {
    const Program program = read_program(kText, "test");
    // Per m: five times four instructions and a branch, eight more and a branch; four outside.
    EXPECT_EQ(program.dynamic_instructions(), 3 * (5 * (4 + 1) + 8 + 1) + 4 + 1 + 3 * (1 + 1));
    InstructionStream stream(program);
    std::int64_t count = 0;
    std::int64_t last_store = 0;
    for (; !stream.finished(); stream.advance()) {
        ++count;
        if (stream.current().instruction->opcode == Opcode::Tilestored) {
            last_store = stream.current().address;
        }
    }
    EXPECT_EQ(count, program.dynamic_instructions());
    EXPECT_EQ(last_store, 0x100000 + 2048 - 2 * 64);
}

void expect_error(const std::string& text, const std::string& what) {
    try {
        read_program(text, "file.amx");
        FAIL() << text;
    } catch (const base::config::ConfigError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr(what)) << text;
    }
}

TEST(ProgramText, SaysWhatIsWrongAndWhere) {
    expect_error("scalar\nfoo tmm0", "file.amx:2: unknown instruction 'foo'");
    expect_error("tilezero tmm8", "8 is beyond 0..7");
    expect_error("tilezero zmm1", "a tmm register must stand here");
    expect_error("vaddps zmm1, zmm2", "2 operands; 3 expected");
    expect_error("tileloadd tmm0, [b], 64", "neither a buffer nor a loop");
    expect_error("tileloadd tmm0, 64, 64", "an address in brackets");
    expect_error("ldtilecfg 0", "there is no config 0");
    expect_error("config 0 16x64", "eight shapes");
    expect_error("end", "end without a loop");
    expect_error("loop k 3", "has no end");
    expect_error("loop k three", "no number");
    expect_error("loop", "loop NAME COUNT");
}

}  // namespace
}  // namespace tilesim::arch::amx
