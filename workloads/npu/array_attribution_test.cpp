#include "workloads/npu/array_attribution.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "arch/base/stats.hpp"
#include "arch/npu/core/core_account.hpp"
#include "workloads/attribution.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads::npu {
namespace {

using enum arch::npu::PathPart;

ArrayFindings path(std::initializer_list<std::pair<arch::npu::PathPart, double>> parts) {
    ArrayFindings findings;
    for (const auto& [part, cycles] : parts) {
        findings.path[static_cast<std::size_t>(part)] = cycles;
    }
    return findings;
}

// Of an array with cores, a nanosecond a cycle for a path of 1000.
RunResult named(const ArrayFindings& findings, const GemmBounds& bounds = {},
                decltype(RunResult::where) where = {{"core", {{"multiply", 1}}}}) {
    RunResult result;
    result.mapping = nlohmann::ordered_json::object();
    result.time_ns = 1000;
    result.bounds = bounds;
    result.where = std::move(where);
    name_array_bottlenecks(result, findings);
    return result;
}

TEST(Bottlenecks, AreTheLongestPartsOfTheCriticalPath) {
    const RunResult result =
        named(path({{Dispatch, 31}, {Reading, 500}, {Multiply, 369}, {Locks, 100}}));
    EXPECT_EQ(result.bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(result.next_bottleneck, "core kernel: multiply");
    EXPECT_DOUBLE_EQ(result.most_saved_percent.value(), 50);
}

TEST(Bottlenecks, EveryPartHasAName) {
    const std::initializer_list<std::pair<arch::npu::PathPart, const char*>> names{
        {Dispatch, "dispatch"},
        {Writing, "shim descriptors not programmed in time"},
        {Copying, "host copies of B"},
        {Fetching, "descriptor fetches"},
        {Reading, "shim reads waiting for DRAM and its fabric"},
        {WritingMemory, "shim writes waiting for DRAM and its fabric"},
        {ShimStreamIn, "streams from the shims, a word a cycle"},
        {ShimStreamOut, "streams to the shims, a word a cycle"},
        {Stream, "streams between memory tiles and cores"},
        {CoreStream, "cores' own streams"},
        {CTransfer, "C transfer"},
        {Cascade, "cascade"},
        {Locks, "lock operations and kernel calls"},
        {Multiply, "core kernel: multiply"},
        {Zero, "core kernel: zero"},
        {Add, "core kernel: add"},
        {Vector, "core kernel: vector"},
        {Fixed, "core kernels of stated cost"}};
    EXPECT_EQ(names.size(), arch::npu::CriticalPath::kParts);
    for (const auto& [part, name] : names) {
        EXPECT_EQ(named(path({{part, 1000}})).bottleneck, name);
    }
}

TEST(Bottlenecks, PartsThatOneChangeMakesFasterCountTogether) {
    const auto run = [](double out) {
        return named(path({{Reading, 230},
                           {WritingMemory, 241},
                           {Stream, 150},
                           {ShimStreamIn, 181},
                           {ShimStreamOut, out}}));
    };
    EXPECT_EQ(run(100).bottleneck, "shim writes waiting for DRAM and its fabric");
    EXPECT_EQ(run(100).next_bottleneck, "streams from the shims, a word a cycle");
    EXPECT_EQ(run(180).bottleneck, "streams from the shims, a word a cycle");
    EXPECT_EQ(run(180).next_bottleneck, "shim writes waiting for DRAM and its fabric");
    EXPECT_EQ(run(182).bottleneck, "streams to the shims, a word a cycle");
}

// The way to memory needs its time too, and nothing of the launch's.
TEST(Bottlenecks, WhatOthersNeedBoundsWhatAFasterPartSaves) {
    const auto run = [](double busy) {
        ArrayFindings findings = path({{Dispatch, 200}, {ShimStreamIn, 800}});
        findings.way = {210, busy};
        return named(findings);
    };
    EXPECT_EQ(run(500).bottleneck, "streams from the shims, a word a cycle");
    EXPECT_DOUBLE_EQ(run(500).most_saved_percent.value(), 29);
    EXPECT_EQ(run(500).next_bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(run(0).next_bottleneck, "dispatch");
    EXPECT_EQ(run(699).bottleneck, "streams from the shims, a word a cycle");  // within a hundredth
    EXPECT_EQ(run(701).bottleneck, "dispatch");
    EXPECT_DOUBLE_EQ(run(701).most_saved_percent.value(), 20);
    EXPECT_EQ(run(701).next_bottleneck, "streams from the shims, a word a cycle");
}

TEST(Bottlenecks, TwoThatNeedAsLongMustBeFasterTogether) {
    const auto run = [](double busy) {
        ArrayFindings findings = path({{Dispatch, 200}, {ShimStreamIn, 800}});
        findings.way = {210, busy};
        return named(findings).faster_together;
    };
    EXPECT_EQ(run(701),
              (std::pair<std::string, std::string>("streams from the shims, a word a cycle",
                                                   "shim reads waiting for DRAM and its fabric")));
    EXPECT_FALSE(run(699));  // the streams are the bottleneck
    EXPECT_FALSE(run(0));
    EXPECT_FALSE(named(path({{Dispatch, 400}, {ShimStreamIn, 300}})).faster_together);
}

TEST(Bottlenecks, WhatTheProcessorWritesSoonerBeginsSooner) {
    ArrayFindings findings = path({{Dispatch, 100}, {Writing, 480}, {Reading, 420}});
    findings.shim_in = {580, 400};
    const RunResult result = named(findings);
    EXPECT_EQ(result.bottleneck, "shim descriptors not programmed in time");
    EXPECT_DOUBLE_EQ(result.most_saved_percent.value(), 48);
    EXPECT_EQ(result.next_bottleneck, "dispatch");  // reads of twice the speed save 20
}

TEST(Bottlenecks, KernelsStreamsAndMemoryNeedTheirBounds) {
    const auto saved = [](const ArrayFindings& findings, const GemmBounds& bounds) {
        ArrayFindings begun = findings;
        begun.first_task = 50;
        return named(begun, bounds).most_saved_percent.value();
    };
    const ArrayFindings reading = path({{Reading, 1000}});
    EXPECT_DOUBLE_EQ(saved(reading, {.compute_ns = 700}), 25);
    EXPECT_DOUBLE_EQ(saved(reading, {.stream_ns = 710}), 24);
    EXPECT_DOUBLE_EQ(saved(reading, {.memory_ns = 710}), 100);
    EXPECT_DOUBLE_EQ(saved(path({{Stream, 1000}}), {.memory_ns = 720}), 23);
    EXPECT_DOUBLE_EQ(saved(path({{Multiply, 1000}}), {.compute_ns = 700}), 100);
    EXPECT_DOUBLE_EQ(saved(path({{Zero, 1000}}), {.compute_ns = 700}), 25);
}

TEST(Bottlenecks, BusyChannelsOfShimsAndTheProcessorNeedTheirTime) {
    ArrayFindings findings = path({{Multiply, 1000}});
    findings.shim_in = {30, 510};
    findings.shim_out = {20, 530};
    EXPECT_DOUBLE_EQ(named(findings).most_saved_percent.value(), 45);
    const RunResult written = named(
        findings, {},
        {{"core", {{"multiply", 1}}}, {"command_processor", {{"writing", 550}, {"syncing", 7}}}});
    EXPECT_DOUBLE_EQ(written.most_saved_percent.value(), 44.3);
}

TEST(Bottlenecks, ChannelsOfDramThatHardlyLackARequestNeedTheirTime) {
    const auto saved = [](double idle) {
        return named(path({{Multiply, 1000}}), {},
                     {{"core", {{"multiply", 1}}},
                      {"dram_channel", {{"read", 900 - idle}, {"idle", idle}, {"row_miss", 100}}}})
            .most_saved_percent.value();
    };
    EXPECT_DOUBLE_EQ(saved(50), 5);
    EXPECT_DOUBLE_EQ(saved(51), 100);
}

// The rounds left out are like those simulated, and have no launch.
TEST(Bottlenecks, ASampledRunHasOneLaunch) {
    const auto run = [](double total, double way = 0) {
        RunResult result;
        result.mapping = nlohmann::ordered_json::object();
        result.sampled.emplace();
        result.time_ns = total;
        result.where = {{"core", {{"multiply", 1}}},
                        {"command_processor", {{"writing", 1}, {"waiting_for_token", total - 1}}}};
        ArrayFindings findings = path({{Dispatch, 600}, {Multiply, 300}, {Reading, 100}});
        findings.way = {600, way};
        name_array_bottlenecks(result, findings);
        return result;
    };
    EXPECT_EQ(run(1000).bottleneck, "dispatch");
    EXPECT_EQ(run(5000).bottleneck, "core kernel: multiply");
    EXPECT_DOUBLE_EQ(run(5000).most_saved_percent.value(), 66);       // three quarters of 4400
    EXPECT_DOUBLE_EQ(run(5000, 200).most_saved_percent.value(), 44);  // beside half of 4400
}

TEST(Bottlenecks, AnArrayWithoutCoresIsJudgedByItsShims) {
    const RunResult result =
        named(path({{Dispatch, 60}, {Reading, 40}, {WritingMemory, 50}, {ShimStreamIn, 10}}), {},
              {{"shim_mm2s0", {{"streaming", 10}}}});
    EXPECT_EQ(result.bottleneck, "shim channels waiting for DRAM and its fabric");
    EXPECT_EQ(result.next_bottleneck, "dispatch");
}

TEST(BusyShares, AreThoseOfEveryKernelOfACore) {
    using arch::npu::core::CoreState;
    for (const CoreState kernel : {CoreState::Multiply, CoreState::Zero, CoreState::Add,
                                   CoreState::Vector, CoreState::Fixed}) {
        arch::base::stats::Group array("npu");
        arch::npu::core::CoreStats core(array);
        core.time.enter(kernel, 30);
        core.time.enter(CoreState::Done, 90);
        core.time.charge_until(120);
        const auto shares = busy_shares(array);
        ASSERT_EQ(shares.size(), 1U) << arch::npu::core::kCoreStates[kernel].name;
        EXPECT_EQ(shares[0].second, 0.5);
    }
}

TEST(Bottlenecks, NothingIsNamedThatTookNoTime) {
    const RunResult result = named(path({{Multiply, 100}}));
    EXPECT_EQ(result.bottleneck, "core kernel: multiply");
    EXPECT_EQ(result.next_bottleneck, "none");
}

}  // namespace
}  // namespace tilesim::workloads::npu
