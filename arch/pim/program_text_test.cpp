#include "arch/pim/program_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/pim/pim_testing.hpp"

namespace tilesim::arch::pim {
namespace {

using testing::HasSubstr;

struct Target {
    Target() {
        memory.row = base::Bytes{2048};
        memory.clock = base::Hertz{1'000'000'000};
        pim.modes.enter = {{ModeStep::Kind::Park, 0}, {ModeStep::Kind::Visit, 4}};
    }
    PimProgram read(const std::string& text) const {
        return read_program(text, "p", {1, 1}, {pim, memory});
    }
    std::string refusal(const std::string& text) const {
        try {
            read(text);
        } catch (const base::config::ConfigError& error) {
            return error.what();
        }
        return "";
    }
    memory::device::MemoryConfig memory = prime_memory();
    PimConfig pim = prime_pim();
};

TEST(ProgramText, EveryCommandIsPrintedAsItIsRead) {
    const Target target;
    const std::string text =
        "mode_visit 4\nmode_write 2\nread_banks 16\nclose\nwrite_input 8 k 64\nwrite_input 1 load\n"
        "write_bank_input 16\nmac row 3 columns 0-63\nmac 100 row 3 column 60\n"
        "mac row 5 columns 1-2 banks 7 block 2 k 32\nalu 28 fold block 1\nalu 3 scale factor 12\n"
        "alu 2 load\nload row 9 columns 0-1\nspill 2 block 1\nspill row 9 columns 4-5\n"
        "spill_visit row 9 columns 4-5\nread_result 4\nread_bank 5 row 3 columns 0-7\n"
        "write_bank 5 row 3 columns 0-7\nbarrier\nwait 150 cycle\nyield 20 cycle\n";
    const PimProgram program = target.read(text);
    EXPECT_EQ(print(program), text);
    EXPECT_EQ(target.read(print(program)).commands, program.commands);
}

TEST(ProgramText, WordsAreCountedFromTheirRow) {
    const Target target;
    const PimProgram program = target.read("mac row 3 columns 5-9 banks 2\n");
    ASSERT_EQ(program.commands.size(), 1U);
    EXPECT_EQ(program.commands[0].word, 3 * 64 + 5);
    EXPECT_EQ(program.commands[0].count, 5);
    EXPECT_EQ(program.commands[0].banks.which, 2);
    EXPECT_EQ(program.lanes(16), 16U);
}

TEST(ProgramText, LoopsGoOnByTheirStep) {
    const Target target;
    const PimProgram program = target.read(
        "repeat 2\n  repeat 3   # rows 4, 6, 8\n    mac row 4 step 2 columns 0-0\n  end\nend\n");
    ASSERT_EQ(program.commands.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(program.commands[i].word, static_cast<std::int64_t>(4 + 2 * (i % 3)) * 64);
    }
}

TEST(ProgramText, AModeIsTheDevicesSteps) {
    const PimProgram program = Target().read("mode enter\nwait 7 ns\n");
    ASSERT_EQ(program.commands.size(), 3U);
    EXPECT_EQ(program.commands[0].op, PimOp::ModeVisit);
    EXPECT_EQ(program.commands[1].count, 4);
    EXPECT_EQ(program.commands[2].count, 7);
}

TEST(ProgramText, SaysWhatIsWrongAndWhere) {
    const Target target;
    EXPECT_THAT(target.refusal("barrier\n  mak row 3 columns 0-1\n"),
                HasSubstr("p:2:3: there is no command 'mak'; did you mean 'mac'?"));
    EXPECT_THAT(target.refusal("mac row 3 columns 0-64\n"),
                HasSubstr("p:1:19: columns must be A-B within 0..63, got '0-64'"));
    EXPECT_THAT(target.refusal("mac row 70000 columns 0-1\n"), HasSubstr("p:1:9: row must be 0.."));
    EXPECT_THAT(target.refusal("mac row 3 columns 0-1 banks 16\n"),
                HasSubstr("bank must be 0..15, got '16'"));
    EXPECT_THAT(target.refusal("repeat 3\nbarrier\n"), HasSubstr("p:1:1: repeat without an end"));
    EXPECT_THAT(target.refusal("end\n"), HasSubstr("p:1:1: end without a repeat"));
    EXPECT_THAT(target.refusal("wait 3\n"), HasSubstr("must be a time like '150 ns'"));
    for (const char* time : {"1000000001 cycle", "99999999 s"}) {
        EXPECT_THAT(target.refusal(fmt::format("wait {}\n", time)),
                    HasSubstr(fmt::format("wait must be a time like '150 ns' or '40 cycle', of "
                                          "0..1000000000 of either, got '{}'",
                                          time)));
    }
    EXPECT_EQ(target.read("wait 1000000000 cycle\n").commands.at(0).count, 1'000'000'000);
    EXPECT_THAT(target.refusal("barrier now\n"),
                HasSubstr("p:1:9: 'now' does not belong to barrier; known are block, k"));
    EXPECT_THAT(target.refusal("mac row 0 columns 0-1 bank 2\n"),
                HasSubstr("p:1:23: 'bank' does not belong to mac; known are row, banks, block, k"));
    EXPECT_THAT(target.refusal("visit 2\n"), HasSubstr("'visit'; known are repeat, end, mode,"));
    EXPECT_THAT(target.refusal("mode sleep\n"), HasSubstr("mode must be enter, leave, on or off"));
}

// It did nothing, or what stood last.
TEST(ProgramText, ACommandSaysHowManyOnce) {
    const Target target;
    EXPECT_EQ(target.refusal("write_input k 3\n"), "p:1:1: write_input lacks its number");
    EXPECT_EQ(target.refusal("mac row 0 banks 3\n"),
              "p:1:1: mac lacks its number, or the columns of its row");
    EXPECT_EQ(target.refusal("mac 100 row 0 columns 0-63\n"),
              "p:1:15: columns say how many words, but 100 stands before them");
    EXPECT_EQ(target.refusal("mac row 0 columns 0-1 row 7 columns 0-1\n"),
              "p:1:23: 'row' comes after another of its kind");
    EXPECT_EQ(target.refusal("alu 3 fold scale\n"),
              "p:1:12: 'scale' comes after another of its kind");
    EXPECT_EQ(target.refusal("mac row 0 step 4 columns 0-1\n"),
              "p:1:11: step is of the rounds of a repeat, and none is around it");
    EXPECT_EQ(target.read("mode_visit 0\n").commands.at(0).count, 0);
    for (const auto& [name, op] : kPimOps) {
        if (op != PimOp::ModeVisit && op != PimOp::Wait && op != PimOp::Yield &&
            op != PimOp::Barrier && op != PimOp::Close) {
            const bool bank = op == PimOp::ReadBank || op == PimOp::WriteBank;
            EXPECT_THAT(target.refusal(fmt::format("{}{} 0\n", name, bank ? " 1" : "")),
                        HasSubstr("count must be 1..10000000, got '0'"));
        }
    }
}

TEST(ProgramText, RefusesWhatTheUnitsCannotDo) {
    const Target target;
    const auto refused = [&](const std::string& text) {
        return violations(target.read(text), "p", {target.pim, target.memory});
    };
    EXPECT_EQ(refused("write_input 8\nmac row 0 columns 0-1\nspill 2\n"), "");
    EXPECT_THAT(refused("mac row 0 columns 0-1\n"), HasSubstr("p:1:1: mac: multiplies by inputs"));
    EXPECT_THAT(refused("write_input 17\n"), HasSubstr("17 registers, a unit has 16"));
    EXPECT_THAT(refused("\nspill 2\n"), HasSubstr("p:2:1: spill: no sums"));
    EXPECT_THAT(refused("write_input 1\nmac row 0 columns 0-1 banks even\n"),
                HasSubstr("where two share a unit"));
}

// Each of two ALUs has registers of its own; a bias is a sum; a channel has 16 banks; 64 words lie
// in a row, the last of which is that of the mode registers, where there are any.
TEST(ProgramText, AcceptsWhatTheUnitsCanJustDo) {
    Target target;
    target.pim.alus = 2;
    const auto refused = [&](const std::string& text) {
        return violations(target.read(text), "p", {target.pim, target.memory});
    };
    EXPECT_EQ(refused("write_input 32\n"), "");
    EXPECT_THAT(refused("write_input 33\n"), HasSubstr("33 registers, a unit has 32"));
    EXPECT_EQ(refused("write_input 1 load\nread_result 1\n"), "");
    EXPECT_EQ(refused("read_banks 16\n"), "");
    EXPECT_THAT(refused("read_banks 17\n"), HasSubstr("a channel has 16 banks"));
    const std::int64_t last = target.memory.rows - 1;
    const auto mac = [&](std::int64_t words) {
        return fmt::format("write_input 1\nmac {} row {}\n", words, last - 1);
    };
    EXPECT_EQ(refused(mac(128)), "");
    EXPECT_THAT(refused(mac(129)), HasSubstr(fmt::format("goes beyond row {}", last)));
    EXPECT_EQ(refused("mode_visit 1\n" + mac(64)), "");
    EXPECT_THAT(refused("mode_visit 1\n" + mac(65)),
                HasSubstr(fmt::format("goes beyond row {}, the last for data", last - 1)));
}

TEST(ProgramText, BanksThatShareAUnitMultiplyInTurns) {
    Target target;
    target.pim.banks_per_unit = 2;
    const auto refused = [&](const std::string& text) {
        return violations(target.read(text), "p", {target.pim, target.memory});
    };
    const std::string text =
        "write_input 8 banks even\nmac row 0 columns 0-1 banks even\nalu 4 fold banks even\n"
        "spill 2 banks even\n";
    EXPECT_EQ(refused(text), "");
    EXPECT_EQ(print(target.read(text)), text);
    EXPECT_THAT(refused("write_input 8\nmac row 0 columns 0-1\n"),
                HasSubstr("for one of its banks at a time"));
}

TEST(ProgramText, IsUtf8) {
    EXPECT_EQ(Target{}.refusal("write_input 8\nmac \xFF\n"),
              "p:2:5: must be UTF-8 text, got the byte 0xff");
}

// A byte order mark, as editors on Windows write, is none of them.
TEST(AimTrace, InstructionsBecomeCommands) {
    Target target;
    target.memory.channels = 32;
    target.pim.registers = 64;
    const PimProgram program = read_aim_trace(
        "\xEF\xBB\xBFW CFR 0 1\nAiM WR_BIAS 0 0xffffffff\nAiM WR_GB 64 64 0xffffffff\n"
        "AiM MAC_ABK 64 0xffffffff 3\nAiM RD_MAC 128 0xffffffff\nAiM EOC\n",
        "t", {target.pim, target.memory});
    EXPECT_EQ(print(program),
              "write_input 1\nwrite_input 64\nmac row 3 columns 0-63\nread_result 1\n");
}

TEST(AimTrace, RefusesByNameWhatTheUnitsDoNotHave) {
    Target target;
    target.memory.channels = 32;
    const auto refusal = [&](const std::string& text) {
        try {
            read_aim_trace(text, "t", {target.pim, target.memory});
        } catch (const base::config::ConfigError& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    EXPECT_THAT(refusal("\nAiM EWMUL 64 0xffffffff 3\n"), HasSubstr("t:2:5: AiM EWMUL: the units"));
    EXPECT_THAT(refusal("AiM MAC_ABK 64 0x1 3\n"),
                HasSubstr("t:1:16: channel mask 0x1: only all 32"));
    EXPECT_EQ(refusal("AiM RD_MAC 1x8 0x1\n"), "t:1:12: register must be 0..2147483647, got '1x8'");
    EXPECT_EQ(refusal("AiM RD_MAC 128 # of all\r\n"), "t:1:16: channel mask is missing");
    // 2^58 rows of 64 words would be none.
    EXPECT_EQ(
        refusal("AiM MAC_ABK 64 0xffffffff 288230376151711744\n"),
        fmt::format("t:1:27: row must be 0..{}, got '288230376151711744'", target.memory.rows - 1));
    EXPECT_EQ(refusal("AiM MAC_SBK 64 0xffffffff -1 3\n"),
              fmt::format("t:1:27: bank must be 0..{}, got '-1'", target.memory.banks() - 1));
    EXPECT_EQ(refusal("AiM WR_GB 17 0 0xffffffff\n"), "t:1:11: size must be 0..16, got '17'");
    EXPECT_EQ(refusal("AiM MAC_ABK 65 0xffffffff 3\n"), "t:1:13: size must be 0..64, got '65'");
    EXPECT_EQ(refusal("AiM\n"), "t:1:4: opcode is missing");
    EXPECT_THAT(refusal("R MEM 0 1 2\n"), HasSubstr("only AiM instructions"));
    EXPECT_EQ(refusal("\nAiM \xFE 1\n"), "t:2:5: must be UTF-8 text, got the byte 0xfe");
}

TEST(PimProgram, StepsOfModesBecomeCommands) {
    using Kind = ModeStep::Kind;
    PimProgram program;
    append(
        program.commands,
        {{Kind::Park, 0}, {Kind::Visit, 3}, {Kind::Write, 5}, {Kind::Read, 7}, {Kind::Wait, 11}});
    EXPECT_EQ(program.commands, (std::vector<PimCommand>{{PimOp::ModeVisit, 0},
                                                         {PimOp::ModeVisit, 3},
                                                         {PimOp::ModeWrite, 5},
                                                         {PimOp::ReadBanks, 7},
                                                         {PimOp::Wait, 11}}));
}

}  // namespace
}  // namespace tilesim::arch::pim
