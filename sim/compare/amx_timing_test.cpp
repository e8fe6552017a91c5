// A CSV file in the harness's format, made by hand: cycles near the documented ones.
#include "sim/compare/amx_timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::sim::compare {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader = "kernel,unit,cyc_min,cyc_median,tsc,reps,host\n";
const std::string kScenario =
    std::string{TILESIM_SOURCE_DIR} + "/configs/scenarios/amx_gemm_int8.yaml";

AmxComparison compared(const std::string& rows, const std::string& file = "runs.csv") {
    return compare_amx(sim::load_scenario(kScenario, {}), kScenario,
                       parse_amx_timing(kHeader + rows, file), file);
}

std::string failure(const std::string& text) {
    try {
        compare_amx(sim::load_scenario(kScenario, {}), kScenario,
                    parse_amx_timing(text, "runs.csv"), "runs.csv");
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(AmxTiming, EachRowIsItsOwnKernel) {
    const AmxComparison result = compared(
        "tdp.amx,core_cycles,64.010,64.100,40.000,15,Xeon A microcode 0x2b\n"
        "tileloadd.amx,core_cycles,32.000,32.320,20.000,15,Xeon A microcode 0x2b\n");
    ASSERT_EQ(result.rows.size(), 2U);
    EXPECT_NEAR(result.rows[0].predicted, 64, 0.5);
    EXPECT_DOUBLE_EQ(result.rows[0].operations, 4 * 2 * 16 * 32 * 16);  // bf16: 32 of k
    EXPECT_DOUBLE_EQ(result.rows[1].operations, 0);
    EXPECT_DOUBLE_EQ(result.rows[1].bytes, 4 * 1024);
    EXPECT_NEAR(result.rows[1].spread_percent(), 1.0, 1e-9);
    EXPECT_LT(result.worst_error_percent, 3);
    const std::string table = to_table(result);
    EXPECT_THAT(table, HasSubstr("1.60 TSC  Xeon A microcode 0x2b, 15 runs"));
    EXPECT_EQ(to_json(result)["rows"][1]["kernel"], "tileloadd.amx");
}

// Every thread of it counts.
TEST(AmxTiming, AKernelOfSeveralThreadsIsOneRow) {
    const AmxComparison result = compared("barrier_2.amx,core_cycles,300,310,,15,Xeon\n");
    ASSERT_EQ(result.rows.size(), 1U) << result.refused.at(0);
    EXPECT_GT(result.rows[0].predicted, 0);
}

TEST(AmxTiming, TheScenariosNameIsTheScenario) {
    const AmxComparison result = compared("amx_gemm_int8.amx,core_cycles,23000,23500,,15,Xeon\n");
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(result.rows[0].operations, 2.0 * 256 * 192 * 256);
    EXPECT_GT(result.rows[0].predicted, 12'000);  // the multiplier's bound is 12288
}

TEST(AmxTiming, KernelsBesideTheFileAreFound) {
    const arch::base::TemporaryFolder temporary;
    const std::filesystem::path& folder = temporary.path();
    std::ofstream(folder / "mine.amx")
        << "buffer a 0x100000 4096\n"
           "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n"
           "ldtilecfg 0\n"
           "loop i COUNT\n  tileloadd tmm4, [a], 64\nend\n";
    std::ofstream(folder / "broken.amx") << "tileload tmm4\n";
    const AmxComparison result =
        compared("mine.amx,core_cycles,8,8,,15,Xeon\nbroken.amx,core_cycles,8,8,,15,Xeon\n",
                 (folder / "runs.csv").string());
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_NEAR(result.rows[0].predicted, 8, 0.5);
    ASSERT_EQ(result.refused.size(), 1U);
    EXPECT_THAT(result.refused[0], HasSubstr("broken.amx:1"));
}

// 8 KiB, read line by line: from the L1 512 loads of 64 bytes at two a cycle, and 4096 cycles and
// more from DRAM.
constexpr const char* kReads =
    "buffer a 0x100000 8192\nloop i 128\n  vmovups zmm0, [a + 64*i]\nend\n";

class OwnProgram {
  public:
    explicit OwnProgram(const std::string& text) {
        std::ofstream(folder_.path() / "own.amx") << text;
        std::ofstream(scenario()) << "device: sapphire_rapids\n"
                                     "workload: {amx_program: {file: own.amx, data_in: dram}}\n";
    }
    // Core cycles of `kernel`, as compared with a measurement.
    double predicted(const std::string& kernel) const {
        const AmxComparison result = compare_amx(
            sim::load_scenario(scenario(), {}), scenario(),
            parse_amx_timing(kHeader + kernel + ",core_cycles,8,8,,15,Xeon\n", "r.csv"), "r.csv");
        return result.rows.at(0).predicted;
    }

  private:
    std::string scenario() const { return folder_.path() / "mine.yaml"; }
    arch::base::TemporaryFolder folder_;
};

// The harness runs a text that states no caches once before it measures it; what `tilesim lower`
// prints of the scenario states that all comes from DRAM.
TEST(AmxTiming, ATextThatStatesNoCachesIsComparedWarm) {
    const OwnProgram program(kReads);
    EXPECT_LT(program.predicted("own.amx"), 300);
    EXPECT_GT(program.predicted("mine.amx"), 500);
    EXPECT_GT(
        OwnProgram(std::string{"buffer b 0x200000 64\nflush b\n"} + kReads).predicted("own.amx"),
        0);
    EXPECT_GT(OwnProgram("buffer a 0x100000 8192\nflush a\nloop i 128\n"
                         "  vmovups zmm0, [a + 64*i]\nend\n")
                  .predicted("own.amx"),
              500);
}

// Of the scenario's own text, too, what is measured is a pass: its set-up takes no part.
TEST(AmxTiming, APassOfTheScenariosOwnKernelIsOnePass) {
    EXPECT_NEAR(OwnProgram("buffer a 0x100000 8192\nloop n 1000\n  scalar\nend\nloop i COUNT\n"
                           "  loop j 100\n    vmovups zmm0, [a]\n  end\nend\n")
                    .predicted("own.amx"),
                50, 5);
}

TEST(AmxTiming, AnotherClockThanTheDevicesIsSaid) {
    const std::string header = "kernel,unit,cyc_min,cyc_median,tsc,ghz,reps,host\n";
    const auto table = [&](const std::string& ghz) {
        return to_table(
            compare_amx(sim::load_scenario(kScenario, {}), kScenario,
                        parse_amx_timing(
                            header + "tdp.amx,core_cycles,64,64,40," + ghz + ",15,Xeon\n", "r.csv"),
                        "r.csv"));
    };
    EXPECT_THAT(table("3.1"), HasSubstr("measured at 3.10 GHz (tdp.amx), predicted at 1.80"));
    EXPECT_THAT(table("3.1"), HasSubstr("--set device.amx.clock=3.10GHz"));
    EXPECT_THAT(table("1.9"), testing::Not(HasSubstr("--set")));
}

TEST(AmxTiming, UnknownKernelsAreRefusedByName) {
    const AmxComparison result =
        compared("tdp.amx,core_cycles,64,64,,15,Xeon\ntdp_chian.amx,core_cycles,52,52,,15,Xeon\n");
    ASSERT_EQ(result.refused.size(), 1U);
    EXPECT_THAT(result.refused[0], HasSubstr("runs.csv:3:1: tdp_chian.amx: no such kernel"));
    EXPECT_THAT(result.refused[0], HasSubstr("did you mean 'tdp_chain.amx'?"));
    EXPECT_THAT(to_table(result), HasSubstr("1 of 2 rows"));
}

TEST(AmxTiming, TimeStampCyclesNeedTheProductsAsClock) {
    const AmxComparison result = compared(
        "tdp.amx,tsc_cycles,40,40,40,15,Xeon\ntileloadd.amx,tsc_cycles,20,20,20,15,Xeon\n");
    ASSERT_EQ(result.rows.size(), 2U);
    EXPECT_NEAR(result.rows[1].median(), 32, 0.3);
    EXPECT_THAT(failure(std::string{kHeader} + "tileloadd.amx,tsc_cycles,20,20,20,15,Xeon\n"),
                HasSubstr("are no core cycles: measure tdp.amx beside it"));
}

TEST(AmxTiming, BadRowsAreLocated) {
    EXPECT_THAT(
        failure(std::string{kHeader} + "tdp.amx,core_cycles,64,-,,15,Xeon\n"),
        HasSubstr("runs.csv:2:1: cyc_median (column 4): must be a number above 0, got '-'"));
    EXPECT_THAT(failure(std::string{kHeader} + "tdp.amx,core_cycles,64,60,,15,Xeon\n"),
                HasSubstr("must be at least cyc_min, 64"));
    EXPECT_THAT(failure(std::string{kHeader} + "tdp.amx,seconds,64,64,,15,Xeon\n"),
                HasSubstr("must be core_cycles or tsc_cycles, got 'seconds'"));
    EXPECT_THAT(failure("kernel,cyc_min\ntdp.amx,3\n"), HasSubstr("no column 'unit'"));
    EXPECT_THAT(failure(kHeader), HasSubstr("no rows"));
}

TEST(AmxTiming, OtherDevicesAreRefused) {
    const std::string npu =
        std::string{TILESIM_SOURCE_DIR} + "/configs/scenarios/xdna_functional.yaml";
    EXPECT_THROW(compare_amx(sim::load_scenario(npu, {}), npu, {}, "runs.csv"),
                 arch::base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::sim::compare
