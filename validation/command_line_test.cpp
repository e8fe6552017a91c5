// Runs the program as a user does: exit codes, messages, repeatability.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::validation {
namespace {

const std::string kProgram = std::string{TILESIM_BINARY_DIR} + "/tilesim";
const std::string kConfigs = std::string{TILESIM_SOURCE_DIR} + "/configs";

struct Output {
    int code = 0;
    std::string text;  // stdout and stderr
};

Output call(const std::string& arguments) {
    Output output;
    FILE* pipe = ::popen((kProgram + " " + arguments + " 2>&1").c_str(), "r");
    std::array<char, 4096> block{};
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) {
        output.text.append(block.data(), got);
    }
    output.code = WEXITSTATUS(::pclose(pipe));
    return output;
}

std::string scenario(const std::string& name) {
    return kConfigs + "/scenarios/" + name + ".yaml";
}

// A file of this test's own: each test is a process.
std::string scratch(const std::string& name) {
    static const arch::base::TemporaryFolder folder;
    return folder.path() / name;
}

std::string written(const std::string& text) {
    const std::string file = scratch("scenario.yaml");
    std::ofstream(file) << text;
    return file;
}

Output run_text(const std::string& text) {
    return call("run " + written(text));
}

const std::string kGood =
    "device: xdna\n"
    "workload: {gemm: {M: 128, K: 64, N: 128, a: int8, b: int8, c: int32}}\n"
    "mapping: {output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32}}\n";

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

// A transformer small enough to train in a moment.
std::string tiny_model() {
    const std::string file = scratch("tiny_model.yaml");
    std::ofstream(file) << "name: tiny\nlayers: 2\nhidden: 64\nheads: 4\nfeed_forward: 256\n"
                           "vocabulary: 300\npositions: 32\n";
    return file;
}

std::string training(const std::string& workload, const std::string& mapping,
                     const std::string& device = "xdna") {
    return "device: " + device + "\nworkload: {model: " + tiny_model() + ", " + workload +
           "}\nmapping: {" + mapping + "}\n";
}

const std::string kTiles =
    "output_stationary: {m_ct: 16, k_ct: 32, n_ct: 16, k_mt: 64, c_buffers: 2}";

TEST(CommandLine, ATrainingStepIsTheSumOfItsStages) {
    const auto run = [](const std::string& phase, const std::string& offload) {
        const Output output =
            call("run --format json " + written(training("batch: 2, sequence: 16, phase: " + phase,
                                                         kTiles + ", offload: " + offload)));
        EXPECT_EQ(output.code, 0) << output.text;
        return nlohmann::json::parse(output.text);
    };
    const auto step = run("step", "{}");
    double stages = 0;
    for (const auto& [name, ns] : step["details"]["stages_ns"].items()) {
        stages += ns.get<double>();
    }
    EXPECT_NEAR(stages, step["time_ns"], 1e-6 * stages);
    // Forward, backward and update are the step.
    const double forward = run("forward", "{}")["time_ns"];
    const double backward = run("backward", "{}")["time_ns"];
    const double update = step["details"]["phases"]["update"]["total_ns"];
    EXPECT_NEAR(forward + backward + update, step["time_ns"], 1e-6 * stages);
    // Every change of size costs a configuration of the array; xdna.yaml: 3.4 ms.
    const auto whole = run("step", "{reconfiguration: whole_array}");
    const double changes = step["details"]["size_changes"];
    EXPECT_NEAR(whole["time_ns"].get<double>() - step["time_ns"].get<double>(), changes * 3.4e6,
                1e-6 * changes * 3.4e6);
    // Row-major B lies as gradients need it, column-major B as the forward pass does.
    EXPECT_EQ(run("forward", "{}")["details"]["stages_ns"]["transpose_in"], 0.0);
    EXPECT_GT(run("forward", "{b_layout: row_major}")["details"]["stages_ns"]["transpose_in"], 0.0);
}

TEST(CommandLine, ATrainingStepThatCannotBeIsRefused) {
    const struct {
        std::string text;
        const char* message;
    } cases[] = {
        {training("batch: 0, sequence: 16", kTiles), "workload.batch: must be 1.."},
        {training("batch: 2", kTiles), "says batch and sequence"},
        {training("batch: 2, sequence: 33", kTiles), "workload.sequence: must be 1..32"},
        {training("batch: 1048576, sequence: 32", kTiles), "batch x sequence must be at most"},
        {training("batch: 2, sequence: 16, phase: forwards", kTiles), "did you mean 'forward'?"},
        {training("batch: 2, sequence: 16, prompt: 3", kTiles), "workload.prompt: unknown key"},
        {training("batch: 2, sequence: 16", kTiles, "lpddr5x_pim"),
         "needs an NPU with a `host` section"},
        {training("batch: 2, sequence: 16", "pimnast: {}"), "runs as offload, not as pimnast"},
        {training("batch: 2, sequence: 16", kTiles + ", offload: {result: int8}"),
         "no bf16 x bf16 -> int8 multiply"},
        {training("batch: 2, sequence: 16", kTiles + ", offload: {reconfigure: minimal}"),
         "unknown key; known are reconfiguration"},
        {training("batch: 2, sequence: 16", "output_stationary: {m_ct: 256, k_ct: 32, n_ct: 256}"),
         "a core has 65536 B"},
        {training("batch: 2, sequence: 16", kTiles) + "run: {functional: on}\n",
         "functional mode needs a gemm"},
        {std::regex_replace(training("batch: 2, sequence: 16", kTiles), std::regex("model: [^,]*"),
                            "model: gpt2_124"),
         "did you mean 'gpt2_124m'?"},
        {std::regex_replace(kGood, std::regex("n_ct: 32\\}"), "n_ct: 32}, offload: {}"),
         "not as offload"},
        {std::regex_replace(training("prompt: 16", kTiles), std::regex("batch.*"), ""),
         "says batch and sequence"},
    };
    for (const auto& [text, message] : cases) {
        const Output output = run_text(text);
        EXPECT_EQ(output.code, 2) << text << output.text;
        EXPECT_NE(output.text.find(message), std::string::npos) << text << output.text;
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
    EXPECT_EQ(call("run " + scenario("xdna_functional") + " --out /proc/tilesim").code, 5);
    EXPECT_EQ(call("run " + scenario("xdna_functional") + " > /dev/full").code, 5);
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

TEST(CommandLine, EveryShippedProgramEndsAsItsNameSays) {
    int programs = 0;
    for (const auto& file : std::filesystem::directory_iterator(kConfigs + "/programs")) {
        const std::string name = file.path().stem().string();
        if (file.path().extension() != ".yaml" && file.path().extension() != ".mlir") {
            continue;  // named by one of these, or by --set
        }
        std::filesystem::path scenario = file.path();
        if (file.path().extension() == ".mlir" &&
            std::filesystem::exists(scenario.replace_extension(".yaml"))) {
            continue;  // run by the scenario of its name, which has what only the host knows
        }
        const bool hangs = name.starts_with("deadlock") || name == "queue_overflow";
        const auto output = call("run " + file.path().string());
        EXPECT_EQ(output.code, hangs ? 3 : 0) << name << "\n" << output.text;
        EXPECT_EQ(output.text.find("waits for") != std::string::npos, hangs) << name;
        ++programs;
    }
    EXPECT_GE(programs, 10);
}

std::string program(const std::string& name) {
    return kConfigs + "/programs/" + name + ".yaml";
}

TEST(CommandLine, WhatIsKnownBeforeTheRunIsSaidBeforeIt) {
    const auto dead = call("run " + program("deadlock_no_token"));
    EXPECT_EQ(dead.code, 3);
    EXPECT_EQ(dead.text.find("before the run: certain deadlock: each waits for the next"), 0U)
        << dead.text;
    EXPECT_NE(call("run " + program("queue_overflow")).text.find("more than 5 tasks are pushed"),
              std::string::npos);
    std::ostringstream copy;
    copy << std::ifstream(program("copy")).rdbuf();
    const Output shorter = run_text(std::regex_replace(
        copy.str(), std::regex("buffer: input, length: 1024"), "buffer: input, length: 1000"));
    EXPECT_EQ(shorter.code, 2);
    EXPECT_NE(shorter.text.find("tile 0,1 s2mm0 expects 1024 words, tile 0,0 mm2s0 sends 1000"),
              std::string::npos)
        << shorter.text;
    const Output starved =
        run_text(std::regex_replace(copy.str(), std::regex("id: 1, buffer: box, length: 1024"),
                                    "id: 1, buffer: box, length: 1000"));
    EXPECT_EQ(starved.code, 2);
    EXPECT_NE(starved.text.find("tile 0,0 s2mm0 expects 1024 words, tile 0,1 mm2s0 sends 1000"),
              std::string::npos)
        << starved.text;
}

TEST(CommandLine, ASweepNamesAnAxisThatMattersAtNeitherEnd) {
    const std::string file = scratch("axes.yaml");
    std::ofstream(file) << "scenario:\n"
                           "  device: ddr5_5600\n"
                           "  workload: {memory_stream: {pattern: random, requests: 200}}\n"
                           "axes:\n"
                           "  - {key: device.memory.controller.read_queue, values: [1, 512]}\n"
                           "  - {key: device.memory.controller.page_cap, values: [2, 4]}\n";
    const Output swept = call("sweep " + file + " --quiet --jobs 1 --store " + scratch("axes.db"));
    EXPECT_EQ(swept.code, 0) << swept.text;
    EXPECT_NE(swept.text.find("page_cap: cannot matter to this scenario"), std::string::npos)
        << swept.text;
    // One of 512 is never full, one of 1 is.
    EXPECT_EQ(swept.text.find("read_queue: cannot matter"), std::string::npos) << swept.text;
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

TEST(CommandLine, TheSteadyStateIsNoFasterThanItsBound) {
    for (const char* name : {"double_buffering", "single_buffering", "add_one"}) {
        const auto result =
            nlohmann::json::parse(call("run " + program(name) + " --format json").text);
        const auto& period = result["bounds"]["period"];
        EXPECT_GT(period["cycles"], 0) << name;
        EXPECT_GE(period["simulated_cycles"], period["cycles"]) << name;
    }
}

TEST(CommandLine, TracingAProgramChangesNothing) {
    const std::string trace = scratch("program_trace.json");
    for (const char* name : {"cascade", "deadlock_lock_order"}) {
        const auto result_of = [&](const std::string& options) {
            const std::string out = scratch("traced");
            call("run " + program(name) + " --out " + out + options);
            std::ostringstream text;
            text << std::ifstream(out + "/result.json").rdbuf();
            // What is only watched, ports of switches, costs the simulator events of its own.
            return std::regex_replace(text.str(), std::regex("\"events\": [0-9]+"), "");
        };
        const std::string plain = result_of("");
        EXPECT_FALSE(plain.empty());
        EXPECT_EQ(plain, result_of(" --trace " + trace));
        EXPECT_GT(std::filesystem::file_size(trace), 100U);
    }
}

TEST(CommandLine, ALivelockIsNamedAndSlownessIsNot) {
    const auto livelock = call("run " + program("deadlock_livelock"));
    EXPECT_EQ(livelock.code, 3);
    EXPECT_NE(livelock.text.find("livelock: what still moves gives nobody anything"),
              std::string::npos);
    const auto slow = call("run " + program("double_buffering") + " --set run.max_time=\"70 us\"");
    EXPECT_EQ(slow.code, 4);
    EXPECT_NE(slow.text.find("not dead: last progress: cycle"), std::string::npos) << slow.text;
}

TEST(CommandLine, ADeadlockIsDrawn) {
    const std::string dot = scratch("deadlock.dot");
    EXPECT_EQ(call("run " + program("deadlock_lock_order") + " --deadlock-graph " + dot).code, 3);
    std::ostringstream text;
    text << std::ifstream(dot).rdbuf();
    EXPECT_NE(text.str().find("npu.tile(0,3).core\", color=red"), std::string::npos) << text.str();
    const std::string both = call("run " + program("deadlock_lock_order") + " --format json").text;
    const auto json = nlohmann::json::parse(both.substr(0, both.rfind("}\n") + 1));
    EXPECT_EQ(json["deadlock"]["waits"][0]["on"], "lock");
    EXPECT_GT(json["deadlock"]["last_progress_cycle"], 0);
}

TEST(CommandLine, ALoweredProgramRunsFromItsPrintedForm) {
    const std::string file = scratch("lowered.yaml");
    const auto cycles = [](const std::string& what) {
        const auto output = call("run " + what + " --format json");
        EXPECT_EQ(output.code, 0) << output.text;
        const std::size_t at = output.text.find("\"cycles\"");
        return output.text.substr(at, output.text.find(',', at) - at);
    };
    // aie1_chain has no sequence.
    for (const std::string& what :
         {scenario("xdna_functional"), scenario("vck190_gotoblas_functional"),
          kConfigs + "/programs/aie1_chain.mlir"}) {
        const auto lowered = call("lower " + what);
        std::ofstream(file) << lowered.text;
        EXPECT_EQ(cycles(file), cycles(what));
        // Printed again it is the same program.
        EXPECT_EQ(call("lower " + file).text, lowered.text.substr(lowered.text.find("device:")));
    }
}

}  // namespace
}  // namespace tilesim::validation
