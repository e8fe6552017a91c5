#include "workloads/npu/array_attribution.hpp"

#include <gtest/gtest.h>

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

TEST(Bottlenecks, DispatchIsNotChargedToWhatWaitsForIt) {
    const RunResult result =
        array_run({{"command_processor", {{"dispatch", 900}, {"writing", 20}}},
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

TEST(Bottlenecks, StreamsThatNeverPauseBindWhateverTheCoresDo) {
    const auto bottleneck = [](double multiply) {
        return array_run({{"core", {{"multiply", multiply}, {"waiting_for_input", 397 - multiply}}},
                          {"shim_mm2s0", {{"streaming", 390}, {"idle", 7}}}})
            .bottleneck;
    };
    EXPECT_EQ(bottleneck(382), "streams from the shims, a word a cycle");
    EXPECT_EQ(bottleneck(383), "core kernel: multiply");
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

TEST(Bottlenecks, AProgramWithoutCoresIsJudgedByItsShims) {
    const RunResult result = array_run({{"command_processor", {{"dispatch", 60}}},
                                        {"shim_mm2s0", {{"streaming", 10}}},
                                        {"shim_s2mm0", {{"waiting_for_memory", 90}}}});
    EXPECT_EQ(result.bottleneck, "shim channels waiting for DRAM and its fabric");
    EXPECT_EQ(result.next_bottleneck, "dispatch");
}

TEST(Bottlenecks, NothingIsNamedThatTookNoTime) {
    const RunResult result = array_run({{"core", {{"multiply", 100}}}});
    EXPECT_EQ(result.bottleneck, "core kernel: multiply");
    EXPECT_EQ(result.next_bottleneck, "none");
}

}  // namespace
}  // namespace tilesim::workloads::npu
