// `run --sensitivity`, `run --devices` and `tune` as a user calls them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::explore {
namespace {

using nlohmann::json;

const std::string kProgram = std::string{TILESIM_BINARY_DIR} + "/tilesim";
const std::string kConfigs = std::string{TILESIM_SOURCE_DIR} + "/configs";
const std::string kSmall = kConfigs + "/scenarios/xdna_functional.yaml";

struct Output {
    int code = 0;
    std::string text;  // stdout
};

Output call(const std::string& arguments) {
    Output output;
    FILE* pipe = ::popen((kProgram + " " + arguments + " 2> /dev/null").c_str(), "r");
    std::array<char, 4096> block{};
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) {
        output.text.append(block.data(), got);
    }
    output.code = WEXITSTATUS(::pclose(pipe));
    return output;
}

TEST(Sensitivity, AFasterDeviceIsNeverSlowerAndTheRestIsListed) {
    const Output output = call("run " + kSmall +
                               " --set run.functional=off --sensitivity --percent 50 --format "
                               "json");
    ASSERT_EQ(output.code, 0);
    const json result = json::parse(output.text);
    const auto change = [&](const std::string& key, const char* side) -> json {
        for (const json& parameter : result["parameters"]) {
            if (parameter["key"] == key) {
                return parameter[side]["time_change_percent"];
            }
        }
        return nullptr;
    };
    EXPECT_GT(change("device.fabric.request_latency", "larger").get<double>(), 0);
    EXPECT_LT(change("device.fabric.request_latency", "smaller").get<double>(), 0);
    EXPECT_LT(change("device.npu.clock", "larger").get<double>(), 0);
    EXPECT_EQ(change("device.npu.core_dma.wrap_bits", "larger"), 0);
    // A power of two is halved and doubled instead.
    EXPECT_FALSE(change("device.npu.shim.burst", "smaller").is_null());
}

TEST(Devices, TheFastestStandsFirstAndMisfitsLast) {
    const Output output = call("run --devices ddr5_5600,xdna,xdna2 " + kSmall + " --format json");
    ASSERT_EQ(output.code, 0);
    const json runs = json::parse(output.text);
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_LE(runs[0]["result"]["time_ns"], runs[1]["result"]["time_ns"]);
    EXPECT_EQ(runs[2]["device"], "ddr5_5600");
    EXPECT_EQ(runs[2]["status"], "invalid");
    EXPECT_EQ(call("run --devices nothing " + kSmall).code, 2);
}

TEST(Tune, FindsAMappingNoWorseThanTheScenarios) {
    const std::string scenario = kSmall + " --set run.functional=off";
    const json given = json::parse(call("run " + scenario + " --format json").text);
    const Output output = call("tune " + scenario + " --simulations 8 --format json");
    ASSERT_EQ(output.code, 0);
    const json tuned = json::parse(output.text);
    EXPECT_LE(tuned["trials"][0]["time_ns"], given["time_ns"]);
    EXPECT_LE(tuned["trials"].size(), 8U);
    EXPECT_EQ(call("tune " + kConfigs + "/scenarios/ddr5_random.yaml").code, 2);
}

TEST(Tune, FindsPlacementsInMemoryAndBlocksOfTilesToo) {
    for (const std::string name : {"pim_gemv", "amx_gemm_int8"}) {
        const std::string scenario = kConfigs + "/scenarios/" + name + ".yaml";
        const json given = json::parse(call("run " + scenario + " --format json").text);
        const Output output = call("tune " + scenario + " --format json");
        ASSERT_EQ(output.code, 0) << name;
        EXPECT_LE(json::parse(output.text)["trials"][0]["time_ns"], given["time_ns"]) << name;
    }
}

TEST(Tune, TheSaturatedBlockIsTheShortestThatIsAboutAsFast) {
    const Output output =
        call("tune " + kSmall + " --set run.functional=off --simulations 4 --format json");
    const json tuned = json::parse(output.text);
    const double chosen = tuned["saturated"]["time_ns"];
    EXPECT_LE(chosen, 1.01 * tuned["trials"][0]["time_ns"].get<double>());
    for (const json& shorter : tuned["shorter_k_mt"]) {
        if (shorter["mapping"]["output_stationary"]["k_mt"] ==
            tuned["saturated"]["mapping"]["output_stationary"]["k_mt"]) {
            break;  // those before it are slower
        }
        EXPECT_GT(shorter["time_ns"], 1.01 * tuned["trials"][0]["time_ns"].get<double>());
    }
}

TEST(Schedulers, JobArraysAreCutToTheSitesLimit) {
    const std::string folder = testing::TempDir() + "tilesim_array_" + std::to_string(::getpid());
    const std::string sweep = kConfigs + "/sweeps/xdna_tile_shapes.yaml --array-limit 7 --folder ";
    const Output slurm = call("sweep --slurm " + sweep + folder);
    ASSERT_EQ(slurm.code, 0);
    EXPECT_NE(slurm.text.find("200 points in 7 tasks"), std::string::npos);
    ASSERT_EQ(call("sweep --condor " + sweep + folder).code, 0);
    // A task does its shard wherever it runs.
    ASSERT_EQ(std::system(("cd / && SLURM_ARRAY_TASK_ID=7 sh " + folder +
                           "/job.sh > /dev/null && "
                           "sh " +
                           folder + "/merge.sh > /dev/null")
                              .c_str()),
              0);
    EXPECT_NE(call("sweep --show " + folder + "/results.db").text.find("28/28"), std::string::npos);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tilesim::sim::explore
