// `run --sensitivity`, `run --devices` and `tune` as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/shell_testing.hpp"
#include "arch/base/temporary_folder_testing.hpp"
#include "sim/explore/size_table.hpp"

namespace tilesim::sim::explore {
namespace {

using nlohmann::json;

const std::string kProgram = std::string{TILESIM_BINARY_DIR} + "/tilesim";
const std::string kConfigs = std::string{TILESIM_SOURCE_DIR} + "/configs";
const std::string kSmall = kConfigs + "/scenarios/xdna_functional.yaml";

using Output = arch::base::ShellOutput;

Output call(const std::string& arguments) {
    return arch::base::shell(kProgram + " " + arguments + " 2> /dev/null");
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
    const Output output =
        call("run --search 0 --devices ddr5_5600,xdna,xdna2 " + kSmall + " --format json");
    ASSERT_EQ(output.code, 0);
    const json runs = json::parse(output.text);
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_LE(runs[0]["result"]["time_ns"], runs[1]["result"]["time_ns"]);
    EXPECT_EQ(runs[2]["device"], "ddr5_5600");
    EXPECT_EQ(runs[2]["status"], "invalid");
    EXPECT_EQ(call("run --devices nothing " + kSmall).code, 2);
}

TEST(Devices, WhatIsWrongWithTheScenarioOnEveryDeviceIsSaidOnce) {
    const arch::base::TemporaryFolder folder;
    const std::string file = (folder.path() / "s.yaml").string();
    std::ofstream(file) << "device: xdna\nworkload:\n  gemv: {M: 64, K: 64, weights: int8, "
                           "input: bf16, accumulate: bf16}\n";
    const Output output = arch::base::shell(
        kProgram + " run --search 0 --devices xdna,lpddr5x_pim " + file + " 2>&1");
    EXPECT_EQ(output.code, 2);
    const std::string said = file +
                             ":3:64: workload.gemv.accumulate: integer weights and inputs need an "
                             "integer accumulator";
    EXPECT_EQ(output.text.find(said), 0U) << output.text;
    EXPECT_EQ(output.text.find(said, 1), std::string::npos) << output.text;
}

// JSON holds the command that repeats a run, and so the name.
TEST(Devices, AFilesNameMayBeAnyBytes) {
    const arch::base::TemporaryFolder folder;
    const std::string file = "'" + (folder.path() / "a\xFF.yaml").string() + "'";
    std::filesystem::copy_file(kSmall, folder.path() / "a\xFF.yaml");
    const Output devices = call("run --search 0 --devices xdna --format json " + file);
    ASSERT_EQ(devices.code, 0);
    EXPECT_EQ(json::parse(devices.text)[0]["status"], "ok");
    const Output tuned =
        call("tune --simulations 2 --quiet --format json " + file + " --set run.functional=off");
    ASSERT_EQ(tuned.code, 0);
    EXPECT_TRUE(json::accept(tuned.text));
}

TEST(Devices, AMappingThatIsNotTheScenariosSaysWhy) {
    const Output output = call("run --search 0 --devices xdna,sapphire_rapids " + kSmall +
                               " --set run.functional=off --format json");
    ASSERT_EQ(output.code, 0);
    for (const json& run : json::parse(output.text)) {
        const std::string search = run["search"];
        EXPECT_EQ(search.find("not the scenario's: ") == 0, run["device"] == "sapphire_rapids")
            << search;
    }
}

TEST(Devices, WhatNeedsNoDramTrafficShowsNoBandwidth) {
    const Output output =
        call("run --search 0 --devices xdna,lpddr5x_pim " + kSmall + " --set run.functional=off");
    ASSERT_EQ(output.code, 0);
    const std::size_t row = output.text.find("\nlpddr5x_pim ");
    ASSERT_NE(row, output.text.npos) << output.text;
    const std::string pim = output.text.substr(row, output.text.find('\n', row + 1) - row);
    EXPECT_NE(pim.find("   -  "), pim.npos) << pim;
    EXPECT_EQ(output.text.find(" 0.00 "), output.text.npos) << output.text;
}

// A size that no device runs is none's, also between two that one device wins.
TEST(Devices, ASizeThatNobodyRunsIsNobodys) {
    SizeTable table;
    table.devices = {"a", "b"};
    const auto row = [](std::int64_t m, std::optional<double> a, std::optional<double> b,
                        std::optional<std::size_t> fastest) {
        return SizeTable::Row{"gemm", m, 8, 8, {a, b}, fastest, {}};
    };
    table.rows = {row(1, 10.0, 20.0, 0), row(4, std::nullopt, std::nullopt, std::nullopt),
                  row(16, 10.0, std::nullopt, 0), row(64, 30.0, 20.0, 1)};
    EXPECT_NE(to_table(table).find("fastest, gemm: a at 1, none at 4, a at 16, b at 64 rows; "
                                   "numbers between them are not simulated\n"),
              std::string::npos)
        << to_table(table);
}

// Two devices, of which the first leaves out so much.
std::string table_of(double first_us, double second_us, double left_out_us) {
    SizeTable table;
    table.devices = {"a", "b"};
    std::vector<BestRun> cells(2);
    cells[0].run.result["details"]["uncharged_ns"] = 1e3 * left_out_us;
    table.rows = {{"gemm",
                   4,
                   8,
                   8,
                   {1e3 * first_us, 1e3 * second_us},
                   first_us <= second_us ? 0U : 1U,
                   std::move(cells)}};
    return to_table(table);
}

TEST(Devices, ALeadThatMayBeNoneIsSaid) {
    using testing::HasSubstr;
    EXPECT_THAT(table_of(10, 10.9, 0), HasSubstr("close, gemm of 4 rows: a is 9.0 % ahead of b\n"));
    EXPECT_THAT(table_of(10.9, 10, 5), HasSubstr("close, gemm of 4 rows: b is 9.0 % ahead of a\n"));
    EXPECT_THAT(table_of(10, 11.1, 1), testing::Not(HasSubstr("close")));
    EXPECT_THAT(table_of(10, 13, 3.1),
                HasSubstr("close, gemm of 4 rows: a is 30.0 % ahead of b; with sums that it is not "
                          "charged, 3.100 us, it is behind\n"));
}

TEST(Devices, NamesAndQuestionsThatAreNoneAreRefused) {
    for (const char* wrong :
         {"--devices xdna,xdna3", "--devices xdna,,xdna2", "--devices xdna,", "--rows 1,2",
          "--devices xdna,xdna", "--devices xdna --sensitivity", "--devices xdna --out o",
          "--sensitivity --out o", "--devices xdna --trace t.json", "--sensitivity --vcd t.vcd",
          "--devices xdna --format csv", "--devices xdna --deadlock-graph d.dot",
          "--devices xdna --rows 0", "--devices xdna --rows 1,", "--devices xdna --rows 1,x",
          "--devices xdna --rows 4,4", "--sensitivity --percent nan", "--sensitivity --percent inf",
          "--devices xdna --search nan",
          "--devices xdna,xdna2 --set mapping.output_stationary.m_cc=4",
          // What the scenario's own device does not take is no mapping of another machine.
          "--devices xdna,sapphire_rapids --search 0 --set mapping.output_stationary.m_ct=4096",
          "--devices xdna,sapphire_rapids --search 0 --set mapping.amx.thread=4",
          "--devices sapphire_rapids --search 0 --set mapping.amx.threads=4"}) {
        EXPECT_EQ(call("run " + kSmall + " " + wrong).code, 2) << wrong;
    }
    EXPECT_EQ(call("run " + kConfigs + "/scenarios/ddr5_random.yaml --devices xdna --rows 2").code,
              2);
    const Output agents = arch::base::shell(
        kProgram + " run " + kConfigs + "/scenarios/agents_npu_and_cpu.yaml --devices xdna 2>&1");
    EXPECT_EQ(agents.code, 2);
    EXPECT_NE(agents.text.find("have devices of their own"), agents.text.npos) << agents.text;
}

TEST(Devices, MemoryIsFastestAtOneRowAndTheArrayAtMany) {
    const Output output = call("run --search 1 --devices xdna2,lpddr5x_pim --rows 1,4096 " +
                               kSmall + " --set run.functional=off --format json");
    ASSERT_EQ(output.code, 0);
    const json table = json::parse(output.text);
    ASSERT_EQ(table["rows"].size(), 2U);
    EXPECT_EQ(table["rows"][0]["fastest"], "lpddr5x_pim");
    EXPECT_EQ(table["rows"][1]["fastest"], "xdna2");
}

// A small model's, with more of its keys and of the workload's.
json rows_of_model(const std::string& devices, const std::string& of_model,
                   const std::string& of_workload) {
    const arch::base::TemporaryFolder folder;
    std::ofstream(folder.path() / "model.yaml")
        << "{name: tiny, layers: 3, hidden: 256, heads: 4, feed_forward: 512, vocabulary: 300"
        << of_model << "}\n";
    const std::string scenario = folder.path() / "s.yaml";
    std::ofstream(scenario) << "device: lpddr5x_pim\nworkload: {model: model.yaml, generate: 2"
                            << of_workload << "}\n";
    const Output output =
        call("run --search 0 --devices " + devices + " " + scenario + " --format json");
    EXPECT_EQ(output.code, 0) << output.text;
    return json::parse(output.text)["rows"];
}

TEST(Devices, AModelIsComparedProductByProduct) {
    const json rows = rows_of_model("xdna2,lpddr5x_pim", "", ", prompt: 32");
    ASSERT_EQ(rows.size(), 10U);  // four products and their sum, with 32 rows and with one
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        sum += 3 * rows[i]["time_ns"]["lpddr5x_pim"].get<double>();
    }
    EXPECT_EQ(rows[8]["product"], "all 3 layers");
    EXPECT_EQ(rows[8]["M"], 32);
    EXPECT_NEAR(rows[8]["time_ns"]["lpddr5x_pim"].get<double>(), sum, 1e-3);
}

// Two tokens choose two of four experts each: three of them are read, one token at each but one.
TEST(Devices, OfExpertsThoseThatTheTokensReadAreSummed) {
    const json rows = rows_of_model("lpddr5x_pim,gddr6_aim", ", experts: 4, experts_per_token: 2",
                                    ", batch: 2, place: {router: banks}");
    ASSERT_EQ(rows.size(), 6U);  // five products and their sum, with two tokens
    const auto time = [&](std::size_t i) {
        return rows[i]["time_ns"]["lpddr5x_pim"].get<double>();
    };
    EXPECT_EQ(rows[0]["M"], 2);
    EXPECT_EQ(rows[3]["product"], "fc1");
    EXPECT_EQ(rows[3]["M"], 1);
    EXPECT_EQ(rows[5]["M"], 2);
    EXPECT_NEAR(time(5), 3 * (time(0) + time(1) + time(2) + 3 * (time(3) + time(4))), 1e-3);
}

// The time a printed command gives.
double repeated(std::string command) {
    return json::parse(call(command.substr(sizeof "tilesim") + " --format json").text)["time_ns"];
}

TEST(Devices, EveryCellIsRepeatedByItsCommand) {
    const std::string gemm = kSmall + " --set run.functional=off";
    const json runs = json::parse(
        call("run " + gemm + " --search 2 --devices xdna,lpddr5x_pim --format json").text);
    for (const json& run : runs) {
        EXPECT_EQ(repeated(run["command"]), run["result"]["time_ns"]) << run["command"];
    }
    const json table = json::parse(
        call("run " + gemm + " --search 0 --devices xdna,xdna2 --rows 16 --format json").text);
    for (const json& cell : table["rows"][0]["cells"]) {
        EXPECT_EQ(repeated(cell["command"]),
                  table["rows"][0]["time_ns"][std::string{cell["device"]}])
            << cell["command"];
    }
}

TEST(Tune, IsNeverSlowerThanTheGivenOrTheDefaultMapping) {
    const std::string scenario = kSmall + " --set run.functional=off";
    const json given = json::parse(call("run " + scenario + " --format json").text);
    const Output output = call("tune " + scenario + " --simulations 8 --format json");
    ASSERT_EQ(output.code, 0);
    const json tuned = json::parse(output.text);
    EXPECT_LE(tuned["trials"][0]["time_ns"], given["time_ns"]);
    EXPECT_FALSE(tuned["trials"][0]["sampled"]);
    EXPECT_EQ(repeated(tuned["command"]), tuned["trials"][0]["time_ns"]);
    const auto from = [&](const char* origin) {
        for (const json& trial : tuned["trials"]) {
            if (trial["origin"] == origin) {
                return trial["time_ns"].get<double>();
            }
        }
        return 0.0;
    };
    EXPECT_GE(from("default"), tuned["trials"][0]["time_ns"]);
    EXPECT_EQ(from("given"), given["time_ns"]);
    EXPECT_EQ(call("tune " + kConfigs + "/scenarios/ddr5_random.yaml").code, 2);
}

TEST(Tune, AdvantagesAreWeighedWithRefreshesAtOtherMoments) {
    const std::string tune =
        "tune " + kSmall + " --set run.functional=off --simulations 4 --time 600 --format json";
    const json tuned = json::parse(call(tune).text);
    ASSERT_FALSE(tuned["advantages"].empty());
    const double best = tuned["trials"][0]["time_ns"];
    bool weighed = false;
    for (const json& advantage : tuned["advantages"]) {
        EXPECT_GE(advantage["percent"], 0);
        if (advantage["over"] == "next best") {
            const double next = tuned["trials"][1]["time_ns"];
            EXPECT_NEAR(advantage["percent"], 100 * (1 - best / next), 1e-9);
        }
        if (advantage.contains("least_percent")) {
            weighed = true;
            EXPECT_LE(advantage["least_percent"], advantage["most_percent"]);
            EXPECT_EQ(advantage["by_chance"],
                      advantage["percent"] <= 0 || advantage["least_percent"] <= 0);
        }
    }
    EXPECT_TRUE(weighed);
    const json unrefreshed = json::parse(call(tune + " --set device.memory.refresh=off").text);
    for (const json& advantage : unrefreshed["advantages"]) {
        EXPECT_FALSE(advantage.contains("least_percent"));
    }
}

TEST(Tune, NothingIsBetterThanWhatIsProven) {
    const std::string scenario = kConfigs + "/scenarios/pim_gemv.yaml";
    const json all = json::parse(call("tune " + scenario + " --exact --format json").text);
    EXPECT_EQ(all["left"], 0);
    for (const json& trial : all["trials"]) {
        if (trial["status"] == "ok") {
            EXPECT_GE(trial["time_ns"], trial["compute_ns"]);
        }
    }
    const double best = all["trials"][0]["time_ns"];
    const json some =
        json::parse(call("tune " + scenario + " --exact --simulations 3 --format json").text);
    const double found = some["trials"][0]["time_ns"];
    EXPECT_LE(found / best - 1, some["most_percent_faster"].get<double>() / 100 + 1e-9);
}

// Kernels that are stated to be shorter than the model's end sooner than those could.
TEST(Tune, KernelsOfStatedCyclesAreBoundByThese) {
    const arch::base::TemporaryFolder folder;
    const std::string scenario = (folder.path() / "s.yaml").string();
    for (const std::string of :
         {"device: xdna\n"
          "workload: {gemm: {M: 512, K: 1024, N: 512, a: int16, b: int16, c: int32}}\n"
          "mapping: {output_stationary: {m_ct: 32, k_ct: 64, n_ct: 32, k_mt: 64, c_buffers: 1}}\n",
          // Its calls hold the stream of A, too.
          "device: vck190\n"
          "workload: {gemm: {M: 256, K: 290, N: 256, a: int16, b: int16, c: int16}}\n"
          "mapping: {gotoblas: {m_r: 16, n_r: 4, m_c: 256, n_c: 256, k_c: 290}}\n"}) {
        std::ofstream(scenario) << of;
        for (const std::string stated : {"kernel_permille=50", "kernel_cycles=30"}) {
            const std::string set = scenario + " --set mapping." + stated + " --format json";
            const Output tuned = call("tune " + set + " --simulations 12 --exact");
            ASSERT_EQ(tuned.code, 0) << of << stated;
            for (const json& trial : json::parse(tuned.text)["trials"]) {
                EXPECT_GE(trial["time_ns"], trial["compute_ns"]) << of << stated;
            }
            const json result = json::parse(call("run " + set).text);
            EXPECT_GE(result["time_ns"], result["bounds"]["compute_ns"]) << of << stated;
        }
    }
}

// What lies between is neither tried nor ruled out.
TEST(Tune, ASpreadLooksAtMappingsThatLieEvenlyApart) {
    const std::string scenario = kConfigs + "/scenarios/pim_gemv.yaml";
    const json all = json::parse(call("tune " + scenario + " --all --format json").text);
    const json some = json::parse(call("tune " + scenario + " --spread 4 --format json").text);
    EXPECT_EQ(some["mappings"], all["mappings"]);
    EXPECT_LE(some["trials"].size(), all["trials"].size());
    EXPECT_GE(some["left"].get<int>(), all["mappings"].get<int>() - 4 - 1);  // and the default
    EXPECT_EQ(some["ruled_out"], 0);
    EXPECT_GE(some["trials"][0]["time_ns"], all["trials"][0]["time_ns"]);
}

TEST(Tune, FindsPlacementsInMemoryAndBlocksOfTilesToo) {
    for (const std::string name : {"pim_gemv", "amx_gemm_int8"}) {
        const std::string scenario = kConfigs + "/scenarios/" + name + ".yaml";
        const json given = json::parse(call("run " + scenario + " --format json").text);
        const Output output = call("tune " + scenario + " --time 10 --format json");
        ASSERT_EQ(output.code, 0) << name;
        EXPECT_LE(json::parse(output.text)["trials"][0]["time_ns"], given["time_ns"]) << name;
    }
}

// The winner's time is without them: it says so, and which would win with them.
TEST(Tune, APlacementWhosePartsNobodyAddsWinsWithAReservation) {
    const arch::base::TemporaryFolder folder;
    const std::string scenario = (folder.path() / "s.yaml").string();
    std::ofstream(scenario) << "device: lpddr5x_aim\nworkload: {gemv: {M: 256, K: 256}}\n";
    const std::string reservation =
        json::parse(call("tune " + scenario + " --format json").text)["reservation"];
    EXPECT_THAT(reservation, testing::HasSubstr("K in 2' is "));
    EXPECT_THAT(call("tune " + scenario).text, testing::HasSubstr(reservation));
    EXPECT_EQ(
        json::parse(call("tune " + scenario + " --set device.pim.split_reduction=soc --format json")
                        .text)["reservation"],
        "");
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

TEST(Tune, ADefaultBetweenItsStepsHasItsKernelTimeAndItsBytes) {
    const arch::base::TemporaryFolder temporary;
    const std::string scenario = temporary.path() / "small.yaml";
    std::ofstream{scenario} << "device: xdna\n"
                               "workload: {gemm: {M: 64, K: 64, N: 64, a: int8, b: int8, "
                               "c: int32}}\n";
    const json tuned =
        json::parse(call("tune " + scenario + " --simulations 2 --format json").text);
    int defaults = 0;
    for (const json& trial : tuned["trials"]) {
        if (trial["origin"] == "default") {
            ++defaults;
            EXPECT_GT(trial["compute_ns"], 0);
            EXPECT_GE(trial["dram_bytes"], 64 * 64 * (1 + 1 + 4));
        }
    }
    EXPECT_EQ(defaults, 1);
}

TEST(Schedulers, JobArraysAreCutToTheSitesLimit) {
    const arch::base::TemporaryFolder temporary;
    const std::string folder = temporary.path();
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
}

// With what it says on standard error.
Output swept(const std::string& text) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "axes.yaml";
    std::ofstream(file) << text;
    return arch::base::shell(kProgram + " sweep " + file + " --quiet --store " +
                             (folder.path() / "axes.db").string() + " 2>&1");
}

// Before hours are spent, where no simulation is needed to know; afterwards, of all others.
TEST(Sweep, NamesAxesThatChangeNothing) {
    const Output output = swept(
        "scenario:\n"
        "  device: sapphire_rapids\n"
        "  workload: {gemm: {M: 64, K: 64, N: 64, a: int8, b: int8, c: int32}}\n"
        "  mapping: {amx: {threads: 2}}\n"
        "axes:\n"
        "  - {key: workload.gemm.M, values: [32, 64]}\n"
        "  - {key: mapping.amx.threads_n, values: [0, 2, 1]}\n"
        "  - {key: run.seed, values: [1, 2]}\n");
    EXPECT_EQ(output.code, 0);
    const auto says = [&](const std::string& text) {
        return output.text.find(text) != output.text.npos;
    };
    EXPECT_TRUE(says("axis mapping.amx.threads_n: cannot matter to this scenario (each value was"));
    EXPECT_TRUE(says("axis mapping.amx.threads_n: changed nothing in 12 points"));
    EXPECT_TRUE(says("axis run.seed: changed nothing in 12 points")) << output.text;
    EXPECT_FALSE(says("axis run.seed: cannot"));
    EXPECT_FALSE(says("axis workload.gemm.M"));
}

// Where another axis changes the mapping, what does not matter to one may matter to the next.
TEST(Sweep, AxesAreTriedWithEachMappingBeforeTheyAreNamed) {
    const Output output = swept(
        "scenario:\n"
        "  device: xdna2\n"
        "  workload: {gemm: {M: 64, K: 256, N: 64, a: int8, b: int8, c: int32, b_layout: "
        "column_major}}\n"
        "axes:\n"
        "  - key: mapping\n"
        "    values: ['{output_stationary: {m_ct: 16, k_ct: 64, n_ct: 16}}', "
        "'{weight_stationary: {m_ct: 16, k_ct: 64, n_ct: 16, reduction: cascade}}']\n"
        "  - {key: device.npu.cascade.width, values: [32 B, 64 B]}\n"
        "  - {key: device.npu.programmable_logic.ram, values: [1 MiB, 2 MiB]}\n");
    EXPECT_EQ(output.text.find("axis device.npu.cascade.width"), output.text.npos) << output.text;
    EXPECT_NE(output.text.find("axis device.npu.programmable_logic.ram: cannot"), output.text.npos);
}

}  // namespace
}  // namespace tilesim::sim::explore
