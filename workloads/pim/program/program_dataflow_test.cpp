#include "workloads/pim/program/program_dataflow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "workloads/pim/program/program_bytes.hpp"

namespace tilesim::workloads::pim::program {
namespace {

Device device() {
    Device device;
    device.memory.row = arch::base::Bytes{2048};
    device.memory.channels = 2;
    device.put(arch::pim::PimConfig{});
    return device;
}

std::string refusal_of(const std::string& text, bool aim_trace = false) {
    ProgramWorkload workload;
    workload.text = text;
    workload.file = "p.yaml";
    workload.begin = {5, 3};
    workload.aim_trace = aim_trace;
    try {
        program_of(workload, device());
        return "";
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
}

TEST(PimProgramFile, IsRefusedWithTheRuleWhereItIsNotLegal) {
    EXPECT_EQ(refusal_of("mac row 0 columns 0-3\n"),
              "p.yaml:5:3: mac: multiplies by inputs, but none has been written");
    EXPECT_EQ(refusal_of("AiM MAC_ABK 64 0x3 0\n", true), "");
}

// It took -100 cycles.
TEST(PimProgramFile, HasACommand) {
    EXPECT_EQ(refusal_of("# nothing\n"), "p.yaml:5:3: the program has no command");
    EXPECT_EQ(refusal_of("repeat 3\nend\n"), "p.yaml:5:3: the program has no command");
}

TEST(PimProgramFile, SumsThatNeverLeaveTheRegistersAreNamed) {
    const auto note = [](const std::string& rest) {
        ProgramWorkload workload;
        workload.text =
            "write_input 1\nmac row 3 columns 0-7\nmac row 4 columns 0-7 block 7\n" + rest;
        return kept_sums(program_of(workload, device()), device().memory.banks());
    };
    EXPECT_EQ(note("spill 2\nread_result 2 block 7\n"), "");
    EXPECT_THAT(note("spill 2\n"),
                testing::HasSubstr("no spill, spill_visit or read_result takes those of block 7"));
    EXPECT_THAT(note(""), testing::EndsWith("takes those of block 0, 7"));
    // Of one bank only; and those that come after the block has left.
    EXPECT_THAT(note("spill 2 banks 1\nspill 2 block 7\n"), testing::EndsWith("block 0"));
    EXPECT_THAT(note("spill 2\nspill 2 block 7\nmac row 5 columns 0-7 block 7\n"),
                testing::EndsWith("block 7"));
}

ProductCheck run(const char* text) {
    ProgramWorkload workload;
    workload.text = text;
    const Device of = device();
    ProgramBytes bytes(workload, of.memory, of.get<arch::pim::PimConfig>(), 7);
    for (const arch::pim::PimCommand& command : program_of(workload, of).commands) {
        bytes.on_pim_command(0, command);
    }
    return bytes.check();
}

TEST(PimProgramBytes, SumsThatLeaveAreThoseOfTheWordsAndInputs) {
    const ProductCheck check =
        run("write_input 2 k 0\nmac row 3 columns 0-7 block 1\nwrite_input 2 k 64\n"
            "mac row 4 columns 0-3 block 1 k 64\nspill 2 block 1\n");
    EXPECT_TRUE(check.match) << check.first_mismatch;
    EXPECT_EQ(check.checked, 32 * device().memory.banks());
}

// Eight words are of eight elements of K, but the registers hold others.
TEST(PimProgramBytes, AMissingInputIsFound) {
    EXPECT_FALSE(run("write_input 1 k 64\nmac row 3 columns 0-7\nspill 2\n").match);
    EXPECT_FALSE(run("write_input 1\nmac row 3 columns 0-7\n").match);  // nothing has left
}

TEST(PimProgramBytes, WhereNothingIsMultipliedThereIsNothingToCompare) {
    EXPECT_FALSE(run("write_input 2\nwrite_bank 6 row 9 columns 0-7\nbarrier\n").compared());
    EXPECT_TRUE(run("write_input 1\nmac row 3 columns 0-7\n").compared());
}

}  // namespace
}  // namespace tilesim::workloads::pim::program
