#include "workloads/memory/streams/stream_attribution.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace tilesim::workloads::memory::streams {
namespace {

using arch::memory::controller::ChannelNeeds;
using arch::memory::controller::MemoryPart;
using arch::memory::controller::MemoryPath;
using enum MemoryPart;

MemoryPath path(std::initializer_list<std::pair<MemoryPart, std::int64_t>> parts) {
    MemoryPath path(0);
    for (const auto& [part, cycles] : parts) {
        path.charge(part, path.until() + cycles);
    }
    return path;
}

RunResult named(const StreamFindings& findings) {
    RunResult result;
    name_stream_bottlenecks(result, findings);
    return result;
}

TEST(StreamBottlenecks, AreTheLongestPartsOfThePath) {
    const std::initializer_list<std::pair<MemoryPart, const char*>> names{
        {DataBus, "DRAM: data bus"},
        {Rows, "DRAM: rows of a bank"},
        {Activates, "DRAM: activates of all banks"},
        {Turns, "DRAM: turns of the data bus"},
        {Refresh, "DRAM: refresh"},
        {CommandBus, "DRAM: command bus"},
        {Others, "requests of others"}};
    EXPECT_EQ(names.size() + 1, MemoryPath::kParts);
    for (const auto& [part, name] : names) {
        const RunResult result = named({path({{part, 700}, {Requests, 300}}), {}});
        EXPECT_EQ(result.bottleneck, name);
        EXPECT_EQ(result.next_bottleneck, "none");
        EXPECT_DOUBLE_EQ(result.most_saved_percent.value(), 70);
    }
}

// They come sooner, whatever they take: half of the time, where rows in half the time save a sixth.
TEST(StreamBottlenecks, RequestsThatComeOneAfterTheOtherAreToBeMore) {
    MemoryPath one(0);
    for (std::int64_t i = 0; i < 10; ++i) {
        one.charge_own(Rows, one.until() + 50);
        one.come(one.until() + 100);
    }
    const RunResult result = named({one, {}});
    EXPECT_EQ(result.bottleneck, "requests under way");
    EXPECT_EQ(result.next_bottleneck, "DRAM: rows of a bank");
    EXPECT_DOUBLE_EQ(result.most_saved_percent.value(), 100);
}

// Activates save at most what the busiest bank leaves.
TEST(StreamBottlenecks, WhatTheOthersNeedBoundsWhatAPartSaves) {
    const MemoryPath both = path({{Activates, 600}, {Rows, 300}, {DataBus, 100}});
    StreamFindings findings{both, {ChannelNeeds{.activates = 600, .rows = 950}}};
    RunResult result = named(findings);
    EXPECT_EQ(result.bottleneck, "DRAM: rows of a bank");
    EXPECT_EQ(result.next_bottleneck, "DRAM: activates of all banks");
    EXPECT_DOUBLE_EQ(result.most_saved_percent.value(), 30);
    findings.needs.front().rows = 500;
    result = named(findings);
    EXPECT_EQ(result.bottleneck, "DRAM: activates of all banks");
    EXPECT_EQ(result.next_bottleneck, "DRAM: rows of a bank");
    EXPECT_DOUBLE_EQ(result.most_saved_percent.value(), 50);
    findings.requests = 900;
    EXPECT_DOUBLE_EQ(named(findings).most_saved_percent.value(), 10);
}

// Data and turns share the bus; a refresh of all banks comes on top of whatever needs longest.
TEST(StreamBottlenecks, NeedsOfOneChannelAddUpWhereTheyDoNotOverlap) {
    const MemoryPath rows = path({{Rows, 1000}});
    const auto most = [&rows](const ChannelNeeds& needs) {
        return named({rows, {ChannelNeeds{}, needs}}).most_saved_percent.value();
    };
    EXPECT_DOUBLE_EQ(most({.data_bus = 400, .turns = 300}), 30);
    EXPECT_DOUBLE_EQ(most({.data_bus = 400, .turns = 300, .refresh = 200}), 10);
    EXPECT_DOUBLE_EQ(most({.activates = 400, .command_bus = 500}), 50);
    EXPECT_DOUBLE_EQ(most({.rows = 400, .command_bus = 500, .refresh = 100}), 40);
}

}  // namespace
}  // namespace tilesim::workloads::memory::streams
