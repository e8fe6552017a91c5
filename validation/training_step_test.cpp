// Steps of training, run as a user does.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "validation/command_line_testing.hpp"

namespace tilesim::validation {
namespace {

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

TEST(TrainingStep, IsTheSumOfItsStages) {
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

TEST(TrainingStep, NamesWhatNoneOfItsCallsFeels) {
    const auto named = [](const std::string& offload, const std::string& key) {
        const Output output =
            call("run --format json " +
                 written(training("batch: 2, sequence: 16", kTiles + ", offload: " + offload)));
        EXPECT_EQ(output.code, 0) << output.text;
        const auto keys = nlohmann::json::parse(output.text)["not_exercised"];
        return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    EXPECT_TRUE(named("{}", "npu.cascade.fifo"));
    EXPECT_FALSE(named("{}", "npu.stream.hop_latency"));
    EXPECT_FALSE(named("{}", "host.clock"));
    const char* configured = "npu.command_processor.reconfiguration";
    EXPECT_TRUE(named("{}", configured));
    EXPECT_FALSE(named("{reconfiguration: whole_array}", configured));
}

TEST(TrainingStep, OneThatCannotBeIsRefused) {
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

}  // namespace
}  // namespace tilesim::validation
