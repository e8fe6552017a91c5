// Traces made with deliberately other parameters: `compare` must name what was changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::sim::commands {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kProgram = std::string{TILESIM_BINARY_DIR} + "/tilesim";
const std::string kTraceScenario =
    std::string{TILESIM_SOURCE_DIR} + "/configs/scenarios/xdna_functional.yaml";

class CompareCommand : public testing::Test {
  protected:
    int call(const std::string& arguments) {
        const std::string command =
            "cd " + folder_.string() + " && " + kProgram + " " + arguments + " > out 2>&1";
        const int status = std::system(command.c_str());
        std::ostringstream text;
        text << std::ifstream(folder_ / "out").rdbuf();
        output_ = text.str();
        return WEXITSTATUS(status);
    }
    // Of a trace that is too far off.
    nlohmann::json as_json(const std::string& arguments) {
        EXPECT_EQ(call(arguments + " --format json"), 1);
        return nlohmann::json::parse(output_);
    }
    const arch::base::TemporaryFolder temporary_;
    const fs::path folder_ = temporary_.path();
    std::string output_;
};

TEST_F(CompareCommand, AgreesWithItself) {
    ASSERT_EQ(call("run " + kTraceScenario + " --trace t.json"), 0) << output_;
    EXPECT_EQ(call("compare " + kTraceScenario + " --against t.json"), 0) << output_;
    EXPECT_THAT(output_, HasSubstr("nothing stands out"));
    // As editors save it: with a mark in front.
    std::ofstream(folder_ / "marked.json")
        << "\xEF\xBB\xBF" << std::ifstream(folder_ / "t.json").rdbuf();
    EXPECT_EQ(call("compare " + kTraceScenario + " --against marked.json"), 0) << output_;
}

// What a compiler made of a design is no part of it: the rest of the difference is the model's.
TEST_F(CompareCommand, SimulatesAgainWithTheCompiledCodeOfTheTrace) {
    const std::string design =
        std::string{TILESIM_SOURCE_DIR} + "/configs/programs/scale.mlir --set device=xdna";
    ASSERT_EQ(call("run " + design +
                   " --set 'design.kernels.scale=300 cycle' --set design.kernels.finish=0cycle "
                   "--set 'device.npu.core.lock_cycles=14 cycle' --trace t.json"),
              0)
        << output_;
    const auto json = as_json("compare " + design + " --against t.json");
    EXPECT_GT(json["median_gap_error_percent"], 20);
    EXPECT_EQ(
        json["as_compiled"]["settings"],
        nlohmann::json({"device.npu.core.lock_cycles=14 cycle", "design.kernels.scale=300 cycle"}));
    EXPECT_EQ(json["as_compiled"]["median_gap_error_percent"], 0);
    // A stated cost stays.
    EXPECT_EQ(
        call("compare " + design + " --against t.json --set 'design.kernels.scale=100 cycle'"), 1);
    EXPECT_THAT(output_, HasSubstr("with locks and kernels as the trace has them, --set "
                                   "'device.npu.core.lock_cycles=14 cycle': median gap error"));
}

// Which of several functions has marked its code the design does not say: the one is taken with
// which the gaps are those of the trace.
TEST_F(CompareCommand, FindsWhichFunctionHasMarkedItsCode) {
    const std::string design =
        std::string{TILESIM_SOURCE_DIR} + "/configs/programs/lowered_loops.mlir";
    ASSERT_EQ(call("run " + design +
                   " --set 'design.marked=[other]' --set 'design.kernels.other=300 cycle' "
                   "--trace t.json"),
              0)
        << output_;
    const auto json = as_json("compare " + design + " --against t.json");
    EXPECT_EQ(json["as_compiled"]["settings"],
              nlohmann::json({"design.marked=[other]", "design.kernels.other=300 cycle"}));
    EXPECT_EQ(json["as_compiled"]["median_gap_error_percent"], 0);
    // What is stated stays.
    EXPECT_EQ(call("compare " + design + " --against t.json --set 'design.marked=[other]'"), 1);
    EXPECT_THAT(output_, HasSubstr("the trace has them, --set 'design.kernels.other=300 cycle': "
                                   "median gap error 0.0 %"));
}

// Each line is its own run: half of K is not the time of all of K.
TEST_F(CompareCommand, PredictsEachMeasuredRunWithItsKeys) {
    const std::string kernel =
        std::string{TILESIM_SOURCE_DIR} + "/configs/scenarios/xdna_core_kernel.yaml";
    const auto time_of = [&](const std::string& k) {
        EXPECT_EQ(call("run " + kernel + " --format json --set workload.core_kernel.k=" + k), 0);
        return nlohmann::json::parse(output_)["time_ns"].get<double>();
    };
    std::ofstream(folder_ / "runs.csv") << "workload.core_kernel.k,time_ns\n64," << time_of("64")
                                        << "\n128," << time_of("128") / 1.25 << "\n";
    EXPECT_EQ(call("compare " + kernel + " --against runs.csv"), 1);
    EXPECT_THAT(output_, HasSubstr("+0.00%"));
    EXPECT_THAT(output_, HasSubstr("+25.00%"));
    EXPECT_EQ(call("compare " + kernel + " --against runs.csv --tolerance 26"), 0) << output_;
    EXPECT_EQ(call("compare " + kernel + " --against runs.csv --set workload.core_kernel.k=8"), 1);
    EXPECT_THAT(output_, HasSubstr("--set workload.core_kernel.k: every run of runs.csv sets it"));
    EXPECT_EQ(call("compare " + kernel + " --against runs.csv --column-shift 1"), 1);
    EXPECT_THAT(output_, HasSubstr("--column-shift is of a trace's tiles, which runs.csv has not"));
    std::ofstream(folder_ / "runs.csv") << "workload.core_kernel.q,time_ns\n64,1000\n";
    EXPECT_EQ(call("compare " + kernel + " --against runs.csv"), 1);
    EXPECT_THAT(output_, HasSubstr("unknown key"));
    // Their median was compared with the scenario's own k.
    std::ofstream(folder_ / "runs.csv") << "k,time_ns\n64,1000\n128,2000\n";
    EXPECT_EQ(call("compare " + kernel + " --against runs.csv"), 1);
    EXPECT_THAT(output_, HasSubstr("runs.csv: column 'k' is no key; did you mean "
                                   "'workload.core_kernel.k'?"));
}

TEST_F(CompareCommand, NamesASlowerKernel) {
    ASSERT_EQ(call("run " + kTraceScenario + " --set mapping.kernel_cycles=2000 --trace t.json"),
              0);
    EXPECT_EQ(call("compare " + kTraceScenario + " --against t.json"), 1);
    EXPECT_THAT(output_, HasSubstr("most of the difference: the core kernel"));
}

TEST_F(CompareCommand, NamesASlowerFabric) {
    ASSERT_EQ(call("run " + kTraceScenario +
                   " --set device.fabric.request_latency='2 us' --trace t.json"),
              0);
    EXPECT_EQ(call("compare " + kTraceScenario + " --against t.json --html page.html"), 1);
    EXPECT_THAT(output_, HasSubstr("most of the difference: shim transfers"));
    std::ostringstream page;
    page << std::ifstream(folder_ / "page.html").rdbuf();
    EXPECT_THAT(page.str(), HasSubstr("\"timelines\":{\"core_trace for tile2,0\""));
}

TEST_F(CompareCommand, NamesAFabricWithFewerEntries) {
    ASSERT_EQ(
        call("run " + kTraceScenario + " --set device.fabric.link_clock=20MHz --trace t.json"), 0);
    EXPECT_EQ(call("compare " + kTraceScenario + " --against t.json"), 1);
    EXPECT_THAT(output_, HasSubstr("most of the difference: shim transfers"));
    EXPECT_THAT(output_, HasSubstr("reads waiting for the link or a page of the fabric: +"));
}

TEST_F(CompareCommand, ATraceOfALargerArrayIsRefused) {
    ASSERT_EQ(call("run " + kTraceScenario + " --set device=xdna2 --trace t.json"), 0) << output_;
    EXPECT_EQ(call("compare " + kTraceScenario + " --against t.json"), 1);
    EXPECT_THAT(output_, HasSubstr("is of xdna2, the scenario runs on xdna"));
}

TEST_F(CompareCommand, ATraceOfAnotherDeviceIsRefusedThoughItWouldFit) {
    ASSERT_EQ(call("run " + kTraceScenario + " --trace t.json"), 0) << output_;
    EXPECT_EQ(call("compare " + kTraceScenario + " --set device=xdna2 --against t.json"), 1);
    EXPECT_THAT(output_,
                HasSubstr("not comparable: t.json is of xdna, the scenario runs on xdna2"));
}

TEST_F(CompareCommand, WhatIsNotComparableIsSaid) {
    std::ofstream(folder_ / "runs.csv") << "device,time_us\nxdna2,5\n";
    EXPECT_EQ(call("compare " + kTraceScenario + " --against runs.csv"), 1);
    EXPECT_THAT(output_, HasSubstr("not comparable: runs.csv was measured on xdna2"));
    std::ofstream(folder_ / "short.json") << "[{\"name\":";
    EXPECT_EQ(call("compare " + kTraceScenario + " --against short.json"), 1);
    EXPECT_THAT(output_, HasSubstr("short.json:1:10: is no trace: no JSON from here on"));
    std::ofstream(folder_ / "nan.json") << "[\n  {\"ph\": \"B\", \"ts\": NaN},\n  {}]\n";
    EXPECT_EQ(call("compare " + kTraceScenario + " --against nan.json"), 1);
    EXPECT_THAT(output_, HasSubstr("nan.json:2:21: is no trace: no JSON from here on"));
    std::ofstream(folder_ / "unwritten.bin") << std::string(4096, '\0');
    EXPECT_EQ(call("compare " + kTraceScenario + " --against unwritten.bin"), 1);
    EXPECT_THAT(output_, HasSubstr("a trace buffer that nothing was written into"));
    std::ofstream(folder_ / "wide.json") << "\xFF\xFE" << std::string("[\0", 2);
    EXPECT_EQ(call("compare " + kTraceScenario + " --against wide.json"), 1);
    EXPECT_THAT(output_, HasSubstr("is text in UTF-16"));
    EXPECT_EQ(call("compare " + kTraceScenario + " --against nothing.json"), 5);
}

}  // namespace
}  // namespace tilesim::sim::commands
