// Runs the program as a user does: exit codes, messages, repeatability.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "validation/command_line_testing.hpp"

namespace tilesim::validation {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string kVersal =
    "device: vck190\n"
    "workload: {gemm: {M: 4096, K: 4096, N: 4096, a: int16, b: int16, c: int16}}\n"
    "mapping: {gotoblas: {m_c: 2304, n_c: 4096, ";

TEST(CommandLine, FunctionalRunsMatchAndAgreeWithTimingMode) {
    for (const char* name : {"xdna_functional", "vck190_gotoblas_functional"}) {
        const auto functional = call("run " + scenario(name) + " --format json");
        ASSERT_EQ(functional.code, 0) << functional.text;
        const auto timing =
            call("run " + scenario(name) + " --format json --set run.functional=off");
        const auto a = nlohmann::json::parse(functional.text);
        const auto b = nlohmann::json::parse(timing.text);
        EXPECT_EQ(a["functional"]["match"], true);
        EXPECT_EQ(a["cycles"], b["cycles"]);
        EXPECT_EQ(a["status"], "ok");
    }
}

TEST(CommandLine, ResultFilesRepeatBitForBit) {
    const auto read = [](const std::string& file) {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    };
    const std::string one = scratch("one");
    const std::string two = scratch("two");
    ASSERT_EQ(call("run " + scenario("xdna_functional") + " --out " + one).code, 0);
    ASSERT_EQ(call("run " + scenario("xdna_functional") + " --out " + two).code, 0);
    for (const char* file : {"/result.json", "/result.csv", "/scenario.yaml"}) {
        EXPECT_FALSE(read(one + file).empty());
        EXPECT_EQ(read(one + file), read(two + file));
    }
}

TEST(CommandLine, BadInputIsOneLocatedMessageAndExitCode2) {
    const struct {
        std::string text;
        const char* message;
    } cases[] = {
        {"", "the file is empty"},
        {"device: xdna\n---\ndevice: xdna2\n", "a second document"},
        {"device: [xdna\n", "malformed YAML"},
        {"device: xdna3\n" + kGood.substr(13), "did you mean 'xdna"},
        {kGood + "maping: {}\n", ":4:1: maping: unknown key; did you mean 'mapping'?"},
        {std::regex_replace(kGood, std::regex("M: 128"), "M: 0"), "workload.gemm.M: must be 1.."},
        {std::regex_replace(kGood, std::regex("M: 128"), "M: .nan"), "must be an integer"},
        {std::regex_replace(kGood, std::regex("m_ct: 32"), "m_ct: 30"), "multiples of the mmul"},
        {std::regex_replace(kGood, std::regex("m_ct: 32"), "m_ct: 2048"), "a core has 65536 B"},
        {std::regex_replace(kGood, std::regex("c: int32"), "c: f32"), "no int8 x int8 -> f32"},
        {std::regex_replace(kGood, std::regex("c: int32"), "c: int322"), "did you mean 'int32'?"},
        {kGood + "run: {max_time: 5}\n", "needs a unit"},
        {"device: xdna\nworkload: {}\n", "exactly one of gemm"},
        {"device: ddr5_5600\n" + kGood.substr(13), "nothing runs gemm on 'ddr5_5600'"},
        {"device: sapphire_rapids\nworkload: {gemv: {M: 64, K: 64}}\n",
         "nothing runs gemv on 'sapphire_rapids'; a gemm of M: 1"},
        {"device: xdna2\nworkload: {gemv: {M: 64, K: 64, weights: f16, input: f16, accumulate: "
         "f32}}\n",
         ":2:1: workload: works on int4, int8, int16, int32, bf16, f32, not on f16"},
        {"device: vck190\n" + kGood.substr(13), "runs as gotoblas, not as output_stationary"},
        {kVersal + "k_c: 291}}\n", "with n_r = 4 k_c is at most 290"},
        {kVersal + "k_c: 64, m_r: 12}}\n", "m a multiple of 8"},
        {kVersal + "k_c: 64, n_r: 12}}\n", "n_c (4096) of n_r (12)"},
        {std::regex_replace(kVersal + "k_c: 64}}\n", std::regex("vck190"), "xdna"),
         "not as gotoblas"},
    };
    for (const auto& [text, message] : cases) {
        const Output output = run_text(text);
        EXPECT_EQ(output.code, 2) << text;
        EXPECT_NE(output.text.find(message), std::string::npos) << output.text;
        EXPECT_NE(output.text.find(".yaml:"), std::string::npos) << output.text;
    }
}

TEST(CommandLine, OtherFailuresHaveTheirOwnExitCodes) {
    EXPECT_EQ(call("run /nonexistent.yaml").code, 5);
    EXPECT_EQ(call("run /").code, 5);
    EXPECT_EQ(call("walk x").code, 2);
    EXPECT_EQ(call("run").code, 2);
    EXPECT_EQ(call("--version").code, 0);
    EXPECT_EQ(call("run " + scenario("xdna_functional") + " --set run.max_time=\"1 us\"").code, 4);
    EXPECT_EQ(call("run " + scenario("xdna_functional") + " --set nonsense").code, 2);
    EXPECT_EQ(call("validate npu_micro --residuals").code, 2);  // no bands are made of it
    EXPECT_EQ(call("run " + scenario("xdna_functional") + " --out /proc/tilesim").code, 5);
    EXPECT_EQ(call("run " + scenario("xdna_functional") + " > /dev/full").code, 5);
    EXPECT_EQ(call("run --help > /dev/full").code, 5);
}

// Choosing takes this one some tenths of a second, and simulates nothing.
TEST(CommandLine, TheHostsTimeBoundsTheChoiceOfAMappingToo) {
    const std::string file = testing::TempDir() + "tilesim_choice.yaml";
    std::ofstream(file) << "device: lpddr5x_pim\nworkload: {gemv: {M: 12288, K: 4096, weights: "
                           "int8, input: int8, accumulate: int16}}\nrun: {max_wall_time: 1 ms}\n";
    const auto output = call("run " + file);
    EXPECT_EQ(output.code, 4);
    EXPECT_NE(output.text.find("over before the mapping was chosen"), output.text.npos)
        << output.text;
}

TEST(CommandLine, SetReachesTheDeviceAndIsRecorded) {
    const auto slow = call("run " + scenario("xdna_functional") +
                           " --format json --set device.fabric.request_latency=\"900 ns\"");
    const auto plain = call("run " + scenario("xdna_functional") + " --format json");
    const auto a = nlohmann::json::parse(slow.text);
    EXPECT_GT(a["cycles"], nlohmann::json::parse(plain.text)["cycles"]);
    EXPECT_EQ(a["provenance"]["overridden"][0], "device.fabric.request_latency");
}

TEST(CommandLine, EveryShippedScenarioAndDeviceIsValid) {
    for (const auto& file : std::filesystem::directory_iterator(kConfigs + "/devices")) {
        EXPECT_EQ(call("describe " + file.path().string()).code, 0) << file.path();
    }
    for (const auto& file : std::filesystem::directory_iterator(kConfigs + "/scenarios")) {
        EXPECT_EQ(call("describe " + file.path().string()).code, 0) << file.path();
    }
    const auto schema = nlohmann::json::parse(call("schema").text)["$defs"];
    EXPECT_TRUE(schema["sweep"]["properties"]["axes"]["items"]["properties"].contains("zip"));
    EXPECT_TRUE(schema["scenario"]["properties"]["mapping"]["properties"].contains("pimnast"));
    EXPECT_TRUE(schema["device_npu"]["properties"]["npu"]["properties"]["kernels"]["properties"]
                      ["modes"]["items"]["properties"]
                          .contains("fill_drain"));
    EXPECT_NE(call("lower " + scenario("xdna_functional")).text.find("descriptors:"),
              std::string::npos);
}

// What a sweep of a scenario written in its file prints.
std::string swept(const std::string& name, const std::string& file) {
    const std::string path = scratch(name + ".yaml");
    std::ofstream(path) << "scenario:\n" << file;
    const Output output =
        call("sweep " + path + " --quiet --jobs 1 --store " + scratch(name + ".db"));
    EXPECT_EQ(output.code, 0) << output.text;
    return output.text;
}

TEST(CommandLine, ASweepNamesAnAxisThatMattersAtNeitherEnd) {
    const std::string text =
        swept("axes",
              "  device: ddr5_5600\n"
              "  workload: {memory_stream: {pattern: random, requests: 200}}\n"
              "axes:\n"
              "  - {key: device.memory.controller.read_queue, values: [1, 512]}\n"
              "  - {key: device.memory.controller.page_cap, values: [2, 4]}\n");
    EXPECT_THAT(text, HasSubstr("page_cap: cannot matter to this scenario"));
    // One of 512 is never full, one of 1 is.
    EXPECT_THAT(text, Not(HasSubstr("read_queue: cannot matter")));
}

TEST(CommandLine, ASweepNamesAnAxisOfAModeThatNoKernelUses) {
    const std::string text =
        swept("modes",
              "  device: xdna2\n"
              "  workload: {core_kernel: {m: 64, k: 64, n: 64, a: int8, b: int8, c: int8}}\n"
              "axes:\n"
              "  - {key: 'device.npu.kernels.modes[0].fill_drain', values: [1 cycle, 2 cycle]}\n"
              "  - {key: 'device.npu.kernels.modes[1].fill_drain', values: [1 cycle, 2 cycle]}\n");
    EXPECT_THAT(text, HasSubstr("modes[1].fill_drain: cannot matter"));
    EXPECT_THAT(text, Not(HasSubstr("modes[0].fill_drain: cannot matter")));
}

TEST(CommandLine, EntriesOfAListThatCouldNotMatterStandTogether) {
    EXPECT_THAT(call("run " + scenario("xdna_core_kernel")).text,
                ContainsRegex("npu.kernels +modes.[0-9]+(, [0-9]+)+., [a-z_]+"));
}

TEST(CommandLine, TheTableHasTheMemorysEnergyOrWhyThereIsNone) {
    const auto given = call("run " + scenario("ddr4_energy"));
    ASSERT_EQ(given.code, 0) << given.text;
    EXPECT_TRUE(std::regex_search(given.text, std::regex(R"(memory energy .*total [0-9.]+ uJ)")))
        << given.text;
    const auto none = call("run " + scenario("lpddr5x_sequential"));
    ASSERT_EQ(none.code, 0) << none.text;
    EXPECT_TRUE(std::regex_search(
        none.text,
        std::regex(R"(memory energy +none: the device file gives no currents \(memory\.power\))")))
        << none.text;
}

}  // namespace
}  // namespace tilesim::validation
