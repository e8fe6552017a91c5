#include "workloads/npu/array_attribution.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/stats.hpp"
#include "arch/npu/core/core_account.hpp"
#include "workloads/attribution.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads::npu {
namespace {

RunResult array_run(decltype(RunResult::where) where) {
    RunResult result;
    result.mapping = nlohmann::ordered_json::object();
    result.memory.emplace();
    result.where = std::move(where);
    name_array_bottlenecks(result);
    return result;
}

// One whose bounds are known.
RunResult bounded_run(double time_ns, const GemmBounds& bounds, decltype(RunResult::where) where,
                      bool sampled = false) {
    RunResult result;
    result.mapping = nlohmann::ordered_json::object();
    result.time_ns = time_ns;
    result.bounds = bounds;
    if (sampled) {
        result.sampled.emplace();
    }
    result.where = std::move(where);
    name_array_bottlenecks(result);
    return result;
}

TEST(Bottlenecks, DispatchIsNotChargedToWhatWaitsForIt) {
    const RunResult result = array_run(
        {{"command_processor", {{"dispatch", 900}, {"writing", 20}, {"waiting_for_token", 50}}},
         {"core", {{"add", 10}, {"waiting_for_host", 910}, {"waiting_for_input", 50}}},
         {"shim_mm2s0", {{"idle", 905}, {"waiting_for_memory", 30}}}});
    EXPECT_EQ(result.bottleneck, "dispatch");
    EXPECT_EQ(result.next_bottleneck, "shim reads waiting for DRAM and its fabric");
}

TEST(Bottlenecks, StarvedCoresNameWhatTheBusiestReaderWaitsFor) {
    const auto starved_by = [](double memory, double stream, double idle) {
        return array_run({{"core", {{"multiply", 100}, {"waiting_for_input", 300}}},
                          {"shim_mm2s0",
                           {{"streaming", 400 - memory - stream - idle},
                            {"waiting_for_memory", memory},
                            {"waiting_for_stream", stream},
                            {"idle", idle}}},
                          {"shim_mm2s1", {{"streaming", 13}, {"idle", 387}}}})
            .bottleneck;
    };
    EXPECT_EQ(starved_by(200, 50, 40), "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(starved_by(50, 200, 40), "streams between memory tiles and cores");
    EXPECT_EQ(starved_by(50, 40, 200), "shim descriptors not programmed in time");
    // Of 400 cycles it pauses in 37 and streams in 363, or pauses in 36.
    EXPECT_EQ(starved_by(31, 1, 5), "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(starved_by(30, 1, 5), "streams from the shims, a word a cycle");
}

// Of an array whose shims move nothing DRAM was named.
TEST(Bottlenecks, CoresThatNoShimFeedsWaitForEachOther) {
    EXPECT_EQ(array_run({{"core", {{"fixed_kernel", 100}, {"waiting_for_input", 300}}},
                         {"core_mm2s0", {{"streaming", 100}, {"waiting_for_lock", 300}}}})
                  .bottleneck,
              "cores waiting for each other");
}

TEST(Bottlenecks, StreamsThatNeverPauseBindWhateverTheCoresDo) {
    const auto bottleneck = [](double multiply) {
        return array_run({{"core", {{"multiply", multiply}, {"waiting_for_input", 397 - multiply}}},
                          {"shim_mm2s0", {{"streaming", 390}, {"idle", 7}}}})
            .bottleneck;
    };
    EXPECT_EQ(bottleneck(389), "streams from the shims, a word a cycle");
    EXPECT_EQ(bottleneck(390), "core kernel: multiply");
}

TEST(Bottlenecks, ReadersThatHardlyPauseBindWhateverTheCoresDo) {
    const auto bottleneck = [](double paused) {
        return array_run({{"core", {{"multiply", 500}, {"waiting_for_input", 480}}},
                          {"shim_mm2s0",
                           {{"streaming", 400},
                            {"waiting_for_memory", 900 - paused},
                            {"waiting_for_stream", paused}}}})
            .bottleneck;
    };
    EXPECT_EQ(bottleneck(20), "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(bottleneck(239), "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(bottleneck(240), "core kernel: multiply");
}

TEST(Bottlenecks, AProcessorThatHardlyPausesWhileCoresStarveBindsWhateverTheyDo) {
    const auto bottleneck = [](double waits, double starved) {
        return array_run({{"command_processor",
                           {{"dispatch", 100}, {"writing", 850}, {"waiting_for_token", waits}}},
                          {"core",
                           {{"multiply", 1050 - starved},
                            {"waiting_for_host", 100},
                            {"waiting_for_input", starved}}},
                          {"shim_mm2s0", {{"streaming", 400}, {"waiting_for_stream", 750}}},
                          {"memory_tile_mm2s0", {{"streaming", 400}}}})
            .bottleneck;
    };
    EXPECT_EQ(bottleneck(84, 171), "shim descriptors not programmed in time");
    EXPECT_EQ(bottleneck(85, 171), "core kernel: multiply");
    EXPECT_EQ(bottleneck(84, 169), "shim descriptors not programmed in time");
    EXPECT_EQ(bottleneck(84, 168), "core kernel: multiply");
}

TEST(Bottlenecks, ReadersAreIdleForResultsWhereTheProcessorWaitsForThem) {
    const auto starved_by = [](double writing, double write_waits) {
        return array_run(
                   {{"command_processor",
                     {{"writing", writing}, {"waiting_for_token", 400 - writing}}},
                    {"core", {{"multiply", 100}, {"waiting_for_input", 300}}},
                    {"shim_mm2s0", {{"streaming", 100}, {"waiting_for_memory", 90}, {"idle", 210}}},
                    {"shim_s2mm0",
                     {{"streaming", 300 - write_waits},
                      {"waiting_for_memory", write_waits},
                      {"waiting_for_stream", 100}}}})
            .bottleneck;
    };
    EXPECT_EQ(starved_by(200, 91), "shim descriptors not programmed in time");
    EXPECT_EQ(starved_by(199, 91), "shim writes waiting for DRAM and its fabric");
    EXPECT_EQ(starved_by(199, 90), "shim reads waiting for DRAM and its fabric");
}

TEST(Bottlenecks, AReaderWithoutRoomWaitsForTheOtherOperand) {
    const auto starved_by = [](double writing, double inner, double other) {
        return array_run({{"command_processor",
                           {{"writing", writing}, {"waiting_for_token", 400 - writing}}},
                          {"core", {{"multiply", 100}, {"waiting_for_input", 300}}},
                          {"memory_tile_mm2s0", {{"streaming", inner}}},
                          {"shim_mm2s0", {{"streaming", 90}, {"waiting_for_stream", 310}}},
                          {"shim_mm2s1",
                           {{"streaming", 150}, {"waiting_for_memory", other}, {"idle", 1}}}})
            .bottleneck;
    };
    EXPECT_EQ(starved_by(101, 101, 101), "streams between memory tiles and cores");
    EXPECT_EQ(starved_by(102, 101, 101), "shim descriptors not programmed in time");
    EXPECT_EQ(starved_by(101, 101, 102), "shim reads waiting for DRAM and its fabric");
}

TEST(Bottlenecks, CoresWithoutRoomForResultsNameWhatTheWritersWaitFor) {
    const auto full_by = [](double memory, double stream) {
        return array_run({{"core", {{"vector", 100}, {"waiting_for_output", 300}}},
                          {"shim_s2mm0",
                           {{"streaming", 400 - memory - stream},
                            {"waiting_for_memory", memory},
                            {"waiting_for_stream", stream}}}})
            .bottleneck;
    };
    EXPECT_EQ(full_by(51, 50), "shim writes waiting for DRAM and its fabric");
    EXPECT_EQ(full_by(50, 50), "C drain");
    // A writer that streams for 364 of 400 cycles waits for nobody.
    EXPECT_EQ(full_by(36, 0), "streams to the shims, a word a cycle");
}

TEST(Bottlenecks, VectorKernelsAreACause) {
    EXPECT_EQ(array_run({{"core", {{"vector", 100}, {"lock_operation", 90}}}}).bottleneck,
              "core kernel: vector");
}

TEST(Bottlenecks, ABoundLongerThanAnyCauseIsTheBottleneck) {
    const auto run = [](double stream_ns, double memory_ns) {
        return bounded_run(
            2000, {.stream_ns = stream_ns, .memory_ns = memory_ns},  // 2 ns a cycle
            {{"core", {{"multiply", 918}, {"waiting_for_input", 82}}},
             {"shim_mm2s0",
              {{"streaming", 500}, {"waiting_for_memory", 51}, {"waiting_for_stream", 449}}}});
    };
    EXPECT_EQ(run(1000, 1836).bottleneck, "core kernel: multiply");
    EXPECT_EQ(run(1000, 1838).bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(run(1000, 1838).next_bottleneck, "core kernel: multiply");
    EXPECT_EQ(run(1838, 1000).bottleneck, "streams between memory tiles and cores");
    EXPECT_EQ(run(1838, 1000).next_bottleneck, "core kernel: multiply");
}

// The way to memory is as wide as the streams are together: who is waited for tells which of them
// is named first, and neither is faster alone.
TEST(Bottlenecks, WhatNeedsAsLongAsTheBottleneckComesNext) {
    const auto run = [](double memory_waits) {
        return bounded_run(
            2000, {.compute_ns = 520, .stream_ns = 1838, .memory_ns = 1838},  // 2 ns a cycle
            {{"command_processor", {{"dispatch", 31}, {"waiting_for_token", 969}}},
             {"core", {{"multiply", 260}, {"waiting_for_input", 740}}},
             {"shim_mm2s0",
              {{"streaming", 919}, {"waiting_for_memory", memory_waits}, {"idle", 3}}}});
    };
    EXPECT_EQ(run(92).bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(run(92).next_bottleneck, "streams from the shims, a word a cycle");
    EXPECT_EQ(run(51).bottleneck, "streams from the shims, a word a cycle");
    EXPECT_EQ(run(51).next_bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_DOUBLE_EQ(run(51).most_saved_percent.value(), 5.0);  // 1000 - 31 - 919 of 1000
}

TEST(Bottlenecks, ChannelsOfDramThatHardlyLackARequestNeedTheirTime) {
    const auto run = [](double multiply, double idle) {
        return array_run(
            {{"core", {{"multiply", multiply}, {"waiting_for_input", 1000 - multiply}}},
             {"dram_channel",
              {{"read", 142}, {"write", 700}, {"idle", idle}, {"row_miss", 1158 - idle}}},
             {"shim_mm2s0", {{"streaming", 300}, {"waiting_for_stream", 700}}},
             {"shim_s2mm0", {{"streaming", 600}, {"waiting_for_memory", 100}}}});
    };
    EXPECT_EQ(run(949, 100).bottleneck, "shim writes waiting for DRAM and its fabric");
    EXPECT_EQ(run(949, 100).next_bottleneck, "core kernel: multiply");
    EXPECT_EQ(run(951, 100).bottleneck, "core kernel: multiply");
    EXPECT_EQ(run(951, 100).next_bottleneck, "shim writes waiting for DRAM and its fabric");
    EXPECT_EQ(run(949, 101).bottleneck, "core kernel: multiply");
    EXPECT_EQ(run(949, 101).next_bottleneck, "streams to the shims, a word a cycle");
}

TEST(Bottlenecks, StreamsNeedTheWordsOfResultsToo) {
    const auto next = [](double results) {
        return array_run({{"core", {{"vector", 400}, {"waiting_for_input", 50}}},
                          {"shim_mm2s0", {{"streaming", 301}, {"idle", 149}}},
                          {"shim_s2mm0", {{"streaming", results}, {"idle", 450 - results}}}})
            .next_bottleneck;
    };
    EXPECT_EQ(next(301), "streams from the shims, a word a cycle");
    EXPECT_EQ(next(302), "streams to the shims, a word a cycle");
}

// Their channels have not told yet in which cycles of a descriptor they waited.
TEST(Bottlenecks, StreamsOfASampledRunNeedWhatTheirBoundSays) {
    const RunResult result =
        bounded_run(1000, {.stream_ns = 307},
                    {{"core", {{"multiply", 601}, {"waiting_for_input", 399}}},
                     {"shim_mm2s0", {{"streaming", 100}, {"waiting_for_stream", 900}}},
                     {"shim_s2mm0", {{"streaming", 997}, {"idle", 3}}}},
                    true);
    EXPECT_EQ(result.bottleneck, "core kernel: multiply");
    EXPECT_EQ(result.next_bottleneck, "streams between memory tiles and cores");
}

// Cores with less work than the others lower the mean, not what the others need.
TEST(Bottlenecks, KernelsNeedTheTimeOfTheBusiestCore) {
    const auto run = [](double compute_ns) {
        return bounded_run(1000, {.compute_ns = compute_ns, .stream_ns = 500, .memory_ns = 701},
                           {{"core", {{"multiply", 690}, {"waiting_for_input", 310}}},
                            {"shim_mm2s0", {{"streaming", 401}, {"waiting_for_memory", 599}}}});
    };
    EXPECT_EQ(run(999).bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(run(1001).bottleneck, "core kernel: multiply");
    EXPECT_DOUBLE_EQ(run(1001).most_saved_percent.value(), 29.9);
}

TEST(Bottlenecks, ALaunchSavesWhateverElseNeeds) {
    const RunResult result = array_run({{"command_processor", {{"dispatch", 900}, {"writing", 20}}},
                                        {"core", {{"add", 10}, {"waiting_for_host", 910}}}});
    EXPECT_EQ(result.bottleneck, "dispatch");
    EXPECT_FALSE(result.most_saved_percent.has_value());
}

// Cores share the A of a row and the B of a column: channels that come sooner wait for the last.
TEST(Bottlenecks, TheChannelThatPausesLeastSetsThePaceOfItsClass) {
    using arch::base::stats::Group;
    using arch::base::stats::StateAccount;
    enum class State { Idle, Streaming, Stream, Memory };
    const std::vector<arch::base::stats::State> states{
        {"idle", ""}, {"streaming", ""}, {"waiting_for_stream", ""}, {"waiting_for_memory", ""}};
    struct Channel {
        Channel(Group& array, std::string_view name, std::vector<arch::base::stats::State> of)
            : group(array, name, "shim_mm2s0"),
              time(group, "time", arch::base::stats::Unit::Cycle, std::move(of)) {}
        Group group;
        StateAccount time;
    };
    Group array("npu");
    Channel early(array, "early", states);
    Channel last(array, "last", states);
    early.time.add(State::Streaming, 100);
    early.time.add(State::Stream, 900);
    last.time.add(State::Idle, 30);
    last.time.add(State::Streaming, 100);
    last.time.add(State::Stream, 70);
    last.time.add(State::Memory, 800);

    RunResult result;
    result.mapping = nlohmann::ordered_json::object();
    result.where = {{"command_processor", {{"writing", 120}, {"waiting_for_token", 880}}},
                    {"core", {{"multiply", 200}, {"waiting_for_input", 800}}}};
    const auto means = where_time_went(array);
    result.where.insert(result.where.end(), means.begin(), means.end());
    name_array_bottlenecks(result);
    EXPECT_EQ(result.bottleneck, "shim descriptors not programmed in time");
    name_array_bottlenecks(result, shim_pace(array));
    EXPECT_EQ(result.bottleneck, "shim reads waiting for DRAM and its fabric");
}

// Columns that begin late, one after the other, wait for memory while they run; twice the memory
// would spare what is beyond the processor's writes at most.
TEST(Bottlenecks, AProcessorThatWritesLongerThanAnyCauseIsTheBottleneck) {
    const auto run = [](double writing, double memory_ns) {
        RunResult result;
        result.mapping = nlohmann::ordered_json::object();
        result.time_ns = 2000;  // 2 ns a cycle
        result.bounds = GemmBounds{.stream_ns = 90, .memory_ns = memory_ns};
        result.where = {
            {"command_processor", {{"writing", writing}, {"waiting_for_token", 1000 - writing}}},
            {"core", {{"vector", 160}, {"waiting_for_input", 440}, {"done", 400}}},
            {"shim_mm2s0", {{"streaming", 90}, {"waiting_for_memory", 400}, {"idle", 510}}}};
        name_array_bottlenecks(result);
        return result;
    };
    EXPECT_EQ(run(441, 880).bottleneck, "shim descriptors not programmed in time");
    EXPECT_EQ(run(440, 880).bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(run(481, 960).bottleneck, "shim descriptors not programmed in time");
    EXPECT_EQ(run(481, 960).next_bottleneck, "shim reads waiting for DRAM and its fabric");
    EXPECT_EQ(run(481, 964).bottleneck, "shim reads waiting for DRAM and its fabric");
}

TEST(Bottlenecks, AProgramWithoutCoresIsJudgedByItsShims) {
    const RunResult result = array_run({{"command_processor", {{"dispatch", 60}}},
                                        {"shim_mm2s0", {{"streaming", 10}}},
                                        {"shim_s2mm0", {{"waiting_for_memory", 90}}}});
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
    const RunResult result = array_run({{"core", {{"multiply", 100}}}});
    EXPECT_EQ(result.bottleneck, "core kernel: multiply");
    EXPECT_EQ(result.next_bottleneck, "none");
}

}  // namespace
}  // namespace tilesim::workloads::npu
