#include "arch/amx/program/program_text.hpp"

#include <gmock/gmock.h>

#include "arch/amx/program/instruction_stream.hpp"
#include "arch/base/config.hpp"

namespace tilesim::arch::amx::program {
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
  vpmovsdb [a], zmm4, 8
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

TEST(ProgramText, BytesThatAreNoCharacterAreToldByTheirNumber) {
    try {
        read_program("scalar\nb\xC3\xA4r \xFF\xFE\n", "x.amx");
        FAIL();
    } catch (const base::config::ConfigError& error) {
        EXPECT_STREQ(error.what(), "x.amx:2:5: must be UTF-8 text, got the byte 0xff");
    }
}

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
    EXPECT_THAT(message("vpexpandb zmm1, [lines[1]]"), testing::HasSubstr("t:2:17: indices 1..1"));
    EXPECT_THAT(message("vmovups zmm1, [lines[0]]"), testing::HasSubstr("only vpexpandb"));
    EXPECT_THAT(message("vpexpandb zmm1, [other[0]]"), testing::HasSubstr("a table's name"));
}

TEST(ProgramText, WhatIsPrintedReadsBackTheSame) {
    const Program program = read_program(kText, "test");
    const std::string printed = print(program);
    EXPECT_EQ(print(read_program(printed, "again")), printed);
    EXPECT_THAT(printed, testing::HasSubstr("vpmovsdb [a], zmm4, 8"));
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

TEST(ProgramText, MayBeginWithAByteOrderMark) {
    EXPECT_EQ(print(read_program("\xEF\xBB\xBF"
                                 "buffer aa 0x1000 64\nvmovups zmm0, [aa]\n",
                                 "x")),
              print(read_program("buffer aa 0x1000 64\nvmovups zmm0, [aa]\n", "x")));
}

TEST(ProgramText, SaysWhatIsWrongAndWhere) {
    expect_error("scalar\nfoo tmm0", "file.amx:2:1: unknown instruction 'foo'");
    expect_error("  tdpbsd tmm0, tmm1, tmm2",
                 "file.amx:1:3: unknown instruction 'tdpbsd'; did you mean 'tdpbssd'?");
    expect_error("tilezero tmm8", "file.amx:1:13: 8 is beyond 0..7");
    expect_error("tilezero zmm1", "file.amx:1:10: 'zmm1': a tmm register must stand here");
    expect_error("vaddps zmm1, zmm2", "file.amx:1:1: 2 operands; 3 expected");
    expect_error("buffer aa 0 64\ntileloadd tmm0, [ab + 64], 64",
                 "file.amx:2:18: 'ab' is neither a buffer nor a loop around this line; did you "
                 "mean 'aa'?");
    expect_error("tileloadd tmm0, 64, 64", "file.amx:1:17: '64': an address in brackets");
    expect_error("ldtilecfg 0", "file.amx:1:11: there is no config 0: none stands above this line");
    const std::string shapes = " 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n";
    expect_error("config 0" + shapes + "ldtilecfg 1",
                 "file.amx:2:11: there is no config 1: above this line stand 0 to 0");
    expect_error("config 0" + shapes + "config 0" + shapes,
                 "file.amx:2:8: config 0: configurations are numbered from 0, in order; this one "
                 "must be 1");
    expect_error("config 0 16x64",
                 "file.amx:1:1: config NUMBER and eight shapes ROWSxBYTES, got 2 words");
    expect_error("config 0 16x64", "file.amx:1:1: config NUMBER and eight shapes");
    expect_error("config 0 16x64 16 16x64 16x64 16x64 16x64 16x64 16x64",
                 "file.amx:1:16: '16' is no shape");
    expect_error("end", "file.amx:1:1: end without a loop");
    expect_error("scalar\nloop k 3\nscalar", "file.amx:2:1: loop 'k' has no end");
    expect_error("loop k three\nend", "file.amx:1:8: must be an integer, got 'three'");
    expect_error("loop\nend", "file.amx:1:1: loop NAME COUNT");
}

TEST(ProgramText, OperandsStandBetweenCommasNoneLeftOut) {
    expect_error("vaddps zmm1,, zmm2, zmm3", "file.amx:1:1: 4 operands; 3 expected");
    expect_error("vaddps zmm1,, zmm2", "file.amx:1:13: an operand is missing");
    expect_error("vaddps zmm1 zmm2 zmm3",
                 "file.amx:1:1: 1 operand; 3 expected, with commas between them");
    expect_error("kmovq k1, [0], 8", "file.amx:1:1: 3 operands; 2 expected");
    expect_error("vmovups zmm1", "file.amx:1:1: 1 operand; 2 or 3 expected");
}

TEST(ProgramText, RegistersAreTheInstructions) {
    expect_error("kmovq k2, [0]", "file.amx:1:7: 'k2': k1 must stand here");
    expect_error("tilezero tmm0x3", "file.amx:1:10: 'tmm0x3' is no register: tmm0 to tmm7");
    expect_error("vmovups zmm, [0]", "file.amx:1:9: 'zmm' is no register: zmm0 to zmm31");
    expect_error("VMOVUPS zmm0, [0]",
                 "file.amx:1:1: unknown instruction 'VMOVUPS'; did you mean "
                 "'vmovups'?");
}

TEST(ProgramText, LengthsAreThoseAnInstructionMayHave) {
    expect_error("vmovups zmm0, [0], 0", "file.amx:1:20: 0 is beyond 1..64");
    expect_error("vpmovsdb [0], zmm0, 17", "file.amx:1:21: 17 is beyond 1..16");
    expect_error("vbroadcastss zmm0, [0], 5", "file.amx:1:25: 5 is beyond 1..4");
    EXPECT_NO_THROW(read_program("vpmovsdb [0], zmm0, 16\nvmovups zmm0, [0], 1\n", "t"));
}

TEST(ProgramText, AddressesAreSumsOfWholeTerms) {
    expect_error("vmovups zmm0, []", "file.amx:1:16: a buffer, a number or NUMBER*LOOP must");
    expect_error("vmovups zmm0, [64 + ]", "file.amx:1:20: a buffer, a number or NUMBER*LOOP");
    expect_error("vmovups zmm0, [64 - - 8]", "file.amx:1:20: a buffer, a number or NUMBER*LOOP");
    expect_error(
        "loop row 2\nvmovups zmm0, [64*rov]\nend",
        "file.amx:2:16: '64*rov': a product must be NUMBER*LOOP, of a loop around this line; "
        "did you mean 'row'?");
    expect_error(
        "loop i 2\nvmovups zmm0, [i*64]\nend",
        "file.amx:2:16: 'i*64': a product must be NUMBER*LOOP, of a loop around this line");
    const std::string two = "buffer a 0 64\nbuffer b 64 64\n";
    expect_error(two + "vmovups zmm0, [a + b]",
                 "file.amx:3:20: 'b': an address has one buffer, which is added");
    expect_error(two + "vmovups zmm0, [64 - a]",
                 "file.amx:3:21: 'a': an address has one buffer, which is added");
    expect_error(two + "table t 0 64\nvpexpandb zmm0, [t[a]]",
                 "file.amx:4:20: 'a': numbers and loops make an index, no buffer");
    EXPECT_NO_THROW(read_program("loop i 2\nvmovups zmm0, [-64*i + 64]\nend\n", "t"));
}

TEST(ProgramText, WhatIsReadOrWrittenLiesInTheBufferItNames) {
    const std::string buffer = "buffer a 0x1000 128\n";
    expect_error(
        buffer + "vmovups zmm0, [a + 65]",
        "file.amx:2:15: '[a + 65]' reaches from byte 65 to 129 of buffer a, which has 128");
    expect_error(buffer + "vmovups zmm0, [a - 1]", "reaches from byte -1 to 63 of buffer a");
    expect_error(buffer + "loop i 3\ntileloadd tmm0, [a + 64*i], 64\nend",
                 "file.amx:3:17: '[a + 64*i]' reaches from byte 0 to 129 of buffer a");
    EXPECT_NO_THROW(read_program(buffer + "vmovups zmm0, [a + 64]\nprefetcht0 [a + 4096]\n", "t"));
    EXPECT_NO_THROW(read_program(buffer + "loop i 3\nvmovups zmm0, [a + 64*i - 32*i]\nend\n", "t"));
}

TEST(ProgramText, AllRowsOfATileLieInTheBufferItNames) {
    const std::string head =
        "buffer a 0x1000 1088\nconfig 0 5x24 16x64 1x4 1x4 1x4 1x4 1x4 1x4\nldtilecfg 0\n";
    expect_error(head + "tileloadd tmm0, [a], 268",
                 "file.amx:4:17: '[a]' reaches from byte 0 to 1096 of buffer a, which has 1088");
    expect_error(head + "loop i 3\ntilestored [a + 64*i], 64, tmm1\nend",
                 "file.amx:5:12: '[a + 64*i]' reaches from byte 0 to 1152 of buffer a");
    EXPECT_NO_THROW(read_program(
        head + "tileloadd tmm0, [a], 266\nloop i 2\ntilestored [a + 64*i], 64, tmm1\nend\n", "t"));
    EXPECT_NO_THROW(read_program(head + "tilerelease\ntileloadd tmm0, [a], 4096\n", "t"));
}

TEST(ProgramText, StoresPastTheCachesAreWholeLinesOnTheirBoundaries) {
    const std::string head = "buffer a 0x1000 4096\nshuffle s 0x4020 4 64\nshuffle t 0x4040 4 96\n";
    expect_error(head + "vmovntps [a + 32], zmm0",
                 "file.amx:4:10: '[a + 32]' is not always a multiple of 64, as vmovntps needs it");
    expect_error(head + "loop i 3\nvmovntps [a + 32*i], zmm0\nend", "file.amx:5:10: '[a + 32*i]'");
    expect_error(head + "vmovntps [s[0]], zmm0", "'[s[0]]' is not always a multiple of 64");
    expect_error(head + "vmovntps [t[0]], zmm0", "'[t[0]]' is not always a multiple of 64");
    expect_error(head + "vmovntps [a], zmm0, 32", "file.amx:4:1: 3 operands; 2 expected");
    EXPECT_NO_THROW(read_program(head + "loop i 3\nvmovntps [a + 64*i], zmm0\nend\n", "t"));
}

TEST(ProgramText, ImmediatesAreThoseAnInstructionMayHave) {
    expect_error("vpermt2w zmm0, zmm1, zmm2, 2", "file.amx:1:28: 2 is beyond 0..1");
    expect_error("vpslld zmm0, zmm1, 256", "file.amx:1:20: 256 is beyond 0..255");
    EXPECT_NO_THROW(read_program("vpsrld zmm0, zmm1, 255\npause 1000000\n", "t"));
}

TEST(ProgramText, NamesCanBeToldFromNumbersAndFromEachOther) {
    expect_error("buffer 7 0 64", "file.amx:1:8: '7' is no name");
    expect_error("buffer a*b 0 64", "file.amx:1:8: 'a*b' is no name");
    expect_error("buffer a 0 64\nbuffer a 64 64",
                 "file.amx:2:8: 'a' is the name of a buffer already");
    expect_error("shuffle a 0 2 64\ntable a 64 64",
                 "file.amx:2:7: 'a' is the name of a table already");
    expect_error("buffer a 0 64\nloop a 2\nend", "file.amx:2:6: 'a' is the name of a buffer");
    expect_error("loop i 2\nloop i 2\nend\nend",
                 "file.amx:2:6: 'i' is the name of a loop around this line already");
    EXPECT_NO_THROW(read_program("loop i 2\nscalar\nend\nloop i 2\nscalar\nend\n", "t"));
}

TEST(ProgramText, WhatIsSaidOfTheWholeProgramStandsOutsideLoopsAndOnce) {
    const std::string buffer = "buffer a 0 64\n";
    expect_error("runs 0", "file.amx:1:6: 0 is beyond 1..1000");
    expect_error("runs 2\nruns 3", "file.amx:2:1: line 1 says how many runs there are");
    expect_error("loop i 2\nruns 3\nend", "file.amx:2:1: 'runs' stands in the loop of line 1");
    expect_error(buffer + "loop i 2\ntouch a l2\nend",
                 "file.amx:3:1: 'touch' stands in the loop of line 2");
    expect_error(buffer + "touch a dram", "must be l1, l2 or l3; for DRAM write `flush`");
    expect_error("buffer aa 0 64\nflush ab",
                 "file.amx:2:7: 'ab' is no buffer above this line; did you mean 'aa'?");
    expect_error("loop i 2\nend i", "file.amx:2:5: nothing may stand behind `end`");
    expect_error("buffer a 0 0", "file.amx:1:12: 0 is beyond 1..");
    expect_error("shuffle s 0 0 64", "file.amx:1:13: 0 is beyond 1..");
    expect_error("shuffle s 0 2 63", "file.amx:1:15: 63 is beyond 64..");
    expect_error("sca\blar", "file.amx:1:4: must be text, got the control character 0x08");
}

TEST(ProgramText, AddressesAndCountsThatLeaveTheirRangeAreRefused) {
    expect_error("vmovups zmm0, [64 - 65]", "file.amx:1:15: '[64 - 65]' leaves the addresses");
    expect_error("loop k 3\nvmovups zmm0, [64 - 64*k]\nend", "leaves the addresses");
    expect_error("loop k 1099511627776\nvmovups zmm0, [137438953472*k]\nend",
                 "leaves the addresses");
    expect_error("tileloadd tmm0, [0], 137438953472", "leaves the addresses");
    expect_error("vmovups zmm0, [99999999999999999999]", "is too large");
    expect_error("loop a 1099511627776\nloop b 2\nscalar\nend\nend",
                 "file.amx:2:8: with the loops around it this one runs more than");
}

TEST(ProgramText, AllErrorsAreReportedTogether) {
    try {
        read_program("xyzzy\nscalar\nloop k x\n  xyzzy\nend\n", "f");
        FAIL();
    } catch (const base::config::ConfigError& error) {
        EXPECT_STREQ(error.what(),
                     "f:1:1: unknown instruction 'xyzzy'\nf:3:8: must be an integer, got 'x'\n"
                     "f:4:3: unknown instruction 'xyzzy'");
    }
}

TEST(ProgramText, OperandsHaveTheirUsualLengthWhereNoneIsGiven) {
    const Program program =
        read_program("vbroadcastss zmm0, [0]\nkmovq k1, [8]\nvpmovsdb [64], zmm1\n", "t");
    EXPECT_EQ(program.statements[0].instruction.bytes, 4);
    EXPECT_EQ(program.statements[1].instruction.bytes, 8);
    EXPECT_EQ(program.statements[2].instruction.bytes, 16);
    EXPECT_THAT(print(program), testing::HasSubstr("vpmovsdb [0x40], zmm1\n"));
}

}  // namespace
}  // namespace tilesim::arch::amx::program
