#include "sim/explore/sweep_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arch/base/temporary_folder_testing.hpp"
#include "sim/explore/point.hpp"

namespace tilesim::sim::explore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string kBase =
    "scenario:\n"
    "  device: xdna\n"
    "  workload:\n"
    "    core_kernel: {m: 32, k: 64, n: 32, a: int8, b: int8, c: int8}\n";

SweepFile parsed(const std::string& rest) {
    return parse_sweep(kBase + rest, "sweep.yaml");
}

std::string message_of(const std::string& rest) {
    try {
        points_of(parsed(rest), {});
        return "";
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
}

TEST(Sweep, TheFirstAxisVariesSlowest) {
    const SweepFile sweep = parsed(
        "axes:\n"
        "  - {key: workload.core_kernel.m, values: [16, 32]}\n"
        "  - zip: {workload.core_kernel.k: [64, 128], workload.core_kernel.n: [32, 16]}\n");
    const std::vector<Point> points = points_of(sweep, {});
    ASSERT_EQ(points.size(), 4U);
    EXPECT_THAT(points[1].settings, ElementsAre(Pair("workload.core_kernel.m", "16"),
                                                Pair("workload.core_kernel.k", "128"),
                                                Pair("workload.core_kernel.n", "16")));
    EXPECT_THAT(points[2].settings[0], Pair("workload.core_kernel.m", "32"));
    EXPECT_EQ(points[3].ordinal, 4);
}

TEST(Sweep, ConditionsSeeAxesTheScenarioAndTheDevice) {
    const std::string axes = "axes: [{key: workload.core_kernel.m, values: [16, 32, 64]}]\n";
    EXPECT_EQ(
        points_of(parsed(axes + "where: ['workload.core_kernel.m <= workload.core_kernel.n']\n"),
                  {})
            .size(),
        2U);
    EXPECT_EQ(points_of(parsed(axes + "where: ['device.npu.columns == 4']\n"), {}).size(), 3U);
}

TEST(Sweep, ShardsPartitionThePoints) {
    const SweepFile sweep =
        parsed("axes: [{key: workload.core_kernel.m, range: {from: 16, to: 112, step: 16}}]\n");
    std::vector<std::int64_t> seen;
    for (std::int64_t shard = 1; shard <= 3; ++shard) {
        for (const Point& point : points_of(sweep, {shard, 3})) {
            seen.push_back(point.ordinal);
        }
    }
    EXPECT_THAT(seen, testing::UnorderedElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST(Sweep, EqualSimulationsHaveEqualHashesWhateverTheOrderOfTheAxes) {
    const std::string m = "{key: workload.core_kernel.m, values: [16]}";
    const std::string k = "{key: workload.core_kernel.k, values: [128]}";
    const auto hash = [](const std::string& axes) {
        return points_of(parsed("axes: [" + axes + "]\n"), {})[0].hash;
    };
    EXPECT_EQ(hash(m + ", " + k), hash(k + ", " + m));
    EXPECT_NE(hash(m + ", " + k), hash(m));
    EXPECT_NE(hash(m), hash(m + ", {key: device.npu.clock, values: [2 GHz]}"));
    EXPECT_NE(hash(m), hash(m + ", {key: device, values: [xdna2]}"));
}

TEST(Sweep, WhatNamedFilesHoldIsPartOfAPoint) {
    const arch::base::TemporaryFolder folder;
    const auto write = [&folder](const char* name, const std::string& text) {
        std::ofstream(folder.path() / name) << text;
    };
    const arch::base::TemporaryFolder elsewhere;
    const auto hash_in = [](const std::filesystem::path& place, const std::string& scenario) {
        const SweepFile sweep = parse_sweep(
            "scenario:\n  device: lpddr5x_pim\n  " + scenario + "\naxes: [{seeds: 1}]\n",
            place / "sweep.yaml");
        return points_of(sweep, {})[0].hash;
    };
    const auto hash_of = [&](const std::string& scenario) {
        return hash_in(folder.path(), scenario);
    };
    const auto hash = [&hash_of](const std::string& workload) {
        return hash_of("workload: " + workload);
    };
    const std::string model = "name: m\nlayers: 2\nhidden: 64\nheads: 4\nvocabulary: 300\n";
    write("m.yaml", model + "feed_forward: 256\n");
    const std::string workload =
        "{model: " + (folder.path() / "m.yaml").string() + ", generate: 1}";
    const std::string before = hash(workload);
    EXPECT_EQ(hash(workload), before);
    write("m.yaml", model + "feed_forward: 512\n");
    EXPECT_NE(hash(workload), before);
    // Counted from the file's folder as well.
    const std::string beside = "{model: m.yaml, generate: 1}";
    const std::string with_512 = hash(beside);
    write("m.yaml", model + "feed_forward: 256\n");
    EXPECT_NE(hash(beside), with_512);

    for (const char* scenario :
         {"workload: {memory_trace: named}", "pim_program: {file: named}",
          "pim_program: {aim_trace: named}", "design: {file: x.mlir, configuration: named}",
          "design: {file: x.mlir, words: {packets: named}}",
          "agents: {one: {workload: {memory_trace: named}}}"}) {
        write("named", "as it was");
        const std::string as_it_was = hash_of(scenario);
        write("named", "changed");
        EXPECT_NE(hash_of(scenario), as_it_was) << scenario;
        // Wherever it lies: shards on other machines are merged.
        std::filesystem::copy_file(folder.path() / "named", elsewhere.path() / "named",
                                   std::filesystem::copy_options::overwrite_existing);
        EXPECT_EQ(hash_in(elsewhere.path(), scenario), hash_of(scenario));
    }
}

// One document: what either part names, the other may take.
TEST(Sweep, AnchorsAreKnownInAllOfTheFile) {
    const std::string before =
        "axes: [{key: workload.core_kernel.m, values: &sizes [&one 16, 32]}]\n";
    const auto read = [](const std::string& text) { return parse_sweep(text, "sweep.yaml"); };
    const std::string scenario =
        "scenario:\n"
        "  device: xdna\n"
        "  workload: {core_kernel: {m: 32, k: &two 64, n: *one, a: int8, b: int8, c: int8}}\n";
    const std::string after = "where: ['workload.core_kernel.n == 16']\n";
    EXPECT_EQ(points_of(read(before + scenario + after), {}).size(), 2U);
    const SweepFile other = read(kBase.substr(0, kBase.find("k: 64")) + "k: &two 64" +
                                 kBase.substr(kBase.find(", n: 32")) +
                                 "axes: [{key: workload.core_kernel.m, values: [*two, 32]}]\n");
    EXPECT_EQ(other.axes.at(0).values.at(0).at(0), "64");
}

// Its points are told of it; the axis has nothing to do with it.
TEST(Sweep, AnUnknownKeyThatEndsLikeAnAxisIsNotTheAxis) {
    const std::string other =
        kBase.substr(0, kBase.find("m: 32")) + "device: 3, " + kBase.substr(kBase.find("m: 32"));
    EXPECT_EQ(parse_sweep(other + "axes: [{key: device, values: [xdna, xdna2]}]\n", "sweep.yaml")
                  .axes.size(),
              1U);
}

TEST(Sweep, BadFilesGiveLocatedErrors) {
    const std::string good = "axes: [{key: workload.core_kernel.m, values: [16, 32]}]\n";
    EXPECT_EQ(message_of(good), "");
    const struct {
        std::string text;
        const char* message;
    } cases[] = {
        {"", "sweep.yaml:1:1: axes: must list at least one axis"},
        {"axes: []\n", "sweep.yaml:5:1: axes: must list at least one axis"},
        {"axis: []\n" + good, "sweep.yaml:5:1: axis: unknown key; did you mean 'axes'?"},
        {"axes: [{key: workload.core_kernel.m, values: []}]\n",
         "sweep.yaml:5:38: axes[0].values: must list at least one value"},
        {"axes: [{key: workload.core_kernel.m}]\n", "axes[0]: must hold exactly one of values"},
        {"axes: [{key: workload.core_kernel.mm, values: [16]}]\n",
         "sweep.yaml:5:8: axes[0]: 'workload.core_kernel.mm': unknown key; did you mean 'm'?"},
        {"axes: [{key: device.npu.colums, values: [16]}]\n", "did you mean 'columns'?"},
        {"axes: [{key: workload.core_kernel, values: ['{mm: 16}']}]\n",
         "axes[0]: 'workload.core_kernel': workload.core_kernel.mm: unknown key; did you mean "
         "'m'?"},
        {"axes: [{key: workload.core_kernel.m, range: {from: 1, to: 2}}]\n",
         "axes[0].range: must hold exactly one of step, factor, points"},
        {"axes: [{zip: {a.b: [1], c.d: [1, 2]}}]\n",
         "must list as many values as 'a.b' (1), got 2"},
        {good + "where: ['device >']\n", "sweep.yaml:6:9: where[0]: column 9:"},
        {good + "where: [1]\n",
         "sweep.yaml:6:9: where[0]: column 1: a comparison must stand here in '1'"},
        {good + "where: ['workload.core_kernel.m > 99']\n",
         "sweep.yaml:6:1: where: leaves no point"},
        {good + "where: ['workload.core_kernel.m / 0 > 1']\n",
         "sweep.yaml:6:1: where: 'workload.core_kernel.m / 0 > 1': '/' by zero"},
        {good + "where: [\"device.npu.clock > '64 KiB'\"]\n",
         "sweep.yaml:6:1: where: 'device.npu.clock > '64 KiB'': '>' of Hz and B"},
        {"axes: [{key: workload.core_kernel.m, range: {from: 1, to: 10000, step: 1}}, "
         "{seeds: 10000}]\n",
         "sweep.yaml:5:1: axes: span 100000000 points; at most 10000000"},
        {good + "where: ['workload.nothing > 99']\n",
         "sweep.yaml:6:9: where[0]: 'workload.nothing' is no key of these points"},
        {good + "where: ['workload.core_kernel.kk > 9']\n",
         "did you mean 'workload.core_kernel.k'?"},
        {good + "limits: {time: 5}\n", "sweep.yaml:6:16: limits.time:"},
        {good + "base: x.yaml\n", "must hold exactly one of base, scenario"},
        {"axes: [{key: workload.core_kernel.m, values: [16, 32, 0x10]}]\n",
         "sweep.yaml:5:38: axes[0].values: value 3 is value 1 again: '0x10' and '16'"},
        {"axes: [{key: device.npu.core.memory, values: [65536 B, 32 KiB, 64 KiB]}]\n",
         "axes[0].values: value 3 is value 1 again: '64 KiB' and '65536 B'"},
        {"axes: [{key: device.npu.clock, values: [1 GHz, 1.0GHz, 1000 MHz]}]\n",
         "axes[0].values: value 3 is value 1 again: '1000 MHz' and '1 GHz'"},
        {"axes: [{key: device.memory.refresh, values: [on, off, true]}]\n",
         "axes[0].values: value 3 is value 1 again: 'true' and 'on'"},
        {"axes: [{zip: {workload.core_kernel.m: [16, 16, 16], device.npu.clock: [1 GHz, 2 GHz, "
         "1000 MHz]}}]\n",
         "axes[0].zip: value 3 is value 1 again: '16, 1000 MHz' and '16, 1 GHz'"},
        {"axes: [{key: 'workload.core_kernel[0]', values: [1]}]\n",
         "sweep.yaml:5:8: axes[0]: 'workload.core_kernel[0]': 'core_kernel' is no list"},
        {"axes: [{key: 'device.npu.kernels.modes[99].t', values: [1]}]\n",
         "sweep.yaml:5:8: axes[0]: 'device.npu.kernels.modes[99].t': there is no 'modes[99]'"},
        {"axes: [{key: 'device.npu.kernels.modes[x].t', values: [1]}]\n",
         "sweep.yaml:5:8: axes[0]: 'device.npu.kernels.modes[x].t': 'modes[x]': an entry of a"},
        {"axes: [{key: a..b, values: [1]}]\n", "sweep.yaml:5:8: axes[0]: 'a..b' is no key"},
        {"axes: [{seeds: 0}]\n", "axes[0].seeds: must be 1..100000, got 0"},
        {"axes: [{seeds: 2}, {key: run.seed, values: [1]}]\n", "axes[1]: 'run.seed' is set twice"},
        // One of the two would be lost.
        {"axes: [{key: workload.core_kernel, values: ['{k: 8}', '{k: 8, m: 16}']},\n"
         "       {key: workload.core_kernel.m, values: [16, 32]}]\n",
         "sweep.yaml:6:8: axes[1]: 'workload.core_kernel.m' is set twice: a value of "
         "'workload.core_kernel' holds it, too"},
        {"axes: [{key: workload.core_kernel.m, values: [16, 32]},\n"
         "       {zip: {workload: ['{core_kernel: {m: 16}}'], run.seed: [1]}}]\n",
         "axes[1]: 'workload.core_kernel.m' is set twice: a value of 'workload' holds it, too"},
        {"set: {workload.core_kernel: '{m: 8}'}\n" + good,
         "axes[0]: 'workload.core_kernel.m' is set twice"},
    };
    for (const auto& [text, message] : cases) {
        EXPECT_THAT(message_of(text), HasSubstr(message)) << text;
    }
}

TEST(Sweep, AnAxisMaySetAKeyOfWhatAnotherOneLeavesOpen) {
    EXPECT_EQ(message_of("axes: [{key: device, values: [xdna, xdna2]},\n"
                         "       {key: device.npu.clock, values: [1 GHz, 2 GHz]},\n"
                         "       {key: workload.core_kernel, values: ['{k: 8, n: 8, a: int8, b: "
                         "int8, c: int8}']},\n"
                         "       {key: workload.core_kernel.m, values: [16, 32]}]\n"),
              "");
}

// Two messages for one mistake send the reader after two.
TEST(Sweep, AnAxisWithNothingOrTooMuchIsSaidOnce) {
    for (const char* text : {"axes: [{key: workload.core_kernel.m}]\n",
                             "axes: [{key: workload.core_kernel.m, values: [16], "
                             "range: {from: 1, to: 4, step: 1}}]\n"}) {
        EXPECT_EQ(message_of(text),
                  "sweep.yaml:5:8: axes[0]: must hold exactly one of values, range, zip, seeds")
            << text;
    }
}

TEST(Sweep, ADesignIsABaseLikeAnyScenario) {
    const SweepFile sweep =
        parse_sweep("base: " + std::string{TILESIM_SOURCE_DIR} +
                        "/configs/programs/object_fifos.mlir\n"
                        "axes: [{key: design.object_fifos.in.depth, values: [1, 2]}]\n",
                    "sweep.yaml");
    EXPECT_EQ(sweep.base_text, "design: {file: \"object_fifos.mlir\"}\n");
    EXPECT_EQ(points_of(sweep, {}).size(), 2U);
    try {
        load_sweep("x.mlir");
        FAIL();
    } catch (const arch::base::config::ConfigError& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.mlir: is a design; `tilesim run x.mlir` runs it"));
    }
}

TEST(Sweep, EveryShippedFileHasPoints) {
    int files = 0;
    for (const auto& file :
         std::filesystem::directory_iterator(std::string{TILESIM_SOURCE_DIR} + "/configs/sweeps")) {
        EXPECT_FALSE(points_of(load_sweep(file.path()), {}).empty()) << file.path();
        ++files;
    }
    EXPECT_GE(files, 4);
}

TEST(Sweep, MayBeWrittenAsJson) {
    const SweepFile sweep = parse_sweep(
        R"({"scenario": {"device": "ddr5_5600", "workload": {"memory_stream": {"requests": 1}}},
            "axes": [{"key": "workload.memory_stream.outstanding", "values": [1, 2, 4]}]})",
        "s.json");
    EXPECT_EQ(points_of(sweep, {}).size(), 3U);
}

TEST(Sweep, ErrorsInAnInlineScenarioPointIntoTheSweepFile) {
    const SweepFile sweep = parsed("axes: [{seeds: 2}]\n");
    EXPECT_EQ(sweep.base_text.find("device: xdna"), std::string{" \n"}.size() + 10);
    EXPECT_EQ(sweep.base_text.find("axes"), std::string::npos);
}

}  // namespace
}  // namespace tilesim::sim::explore
