#include "workloads/amx/tiles/core_attribution.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "workloads/result.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

// Hundredths of the channels' time without a request, and moving data; the rest opens rows.
RunResult run(double idle, double read, const std::vector<Cause>& overlapped = {}) {
    RunResult result;
    result.where = {
        {"core",
         {{"multiply", 40},
          {"load_l2", 30},
          {"fill_buffers", 20},
          {"window", 10},
          {"finished", 95}}},
        {"dram_channel", {{"idle", idle}, {"read", read}, {"row_miss", 100 - idle - read}}}};
    name_core_bottlenecks(result, overlapped);
    return result;
}

TEST(CoreAttribution, StatesOfCoresAtWorkNameWhatToChange) {
    const RunResult result = run(10, 60);
    EXPECT_EQ(result.bottleneck, "core: multiply");
    EXPECT_EQ(result.next_bottleneck, "core: load_l2");
}

// Of 40 cycles, those of products behind which the next waited for its data.
TEST(CoreAttribution, MultiplyingThatLoadsOverlapIsTheirs) {
    EXPECT_EQ(run(10, 60, {{4, "load_l2"}}).bottleneck, "core: multiply");
    EXPECT_EQ(run(10, 60, {{6, "load_l2"}}).bottleneck, "core: load_l2");
    EXPECT_EQ(run(10, 60, {{6, "load_l2"}}).next_bottleneck, "core: multiply");
    EXPECT_EQ(run(10, 60, {{6, "load_l2"}, {15, "fill_buffers"}}).next_bottleneck,
              "core: fill_buffers");
    EXPECT_EQ(run(10, 60, {{40, "accumulator"}}).bottleneck, "core: multiply");
    EXPECT_EQ(run(5, 60, {{31, "window"}}).bottleneck, "DRAM");
    EXPECT_EQ(run(5, 60, {{31, "window"}}).next_bottleneck, "core: multiply");
}

TEST(CoreAttribution, WhereChannelsHardlyLackARequestTheWaitsForDataAreDrams) {
    const RunResult result = run(5, 60);
    EXPECT_EQ(result.bottleneck, "DRAM");
    EXPECT_EQ(result.next_bottleneck, "core: multiply");
    EXPECT_EQ(run(6, 60).bottleneck, "core: multiply");
}

TEST(CoreAttribution, WhereItsBussesNeedTwoThirdsOfTheTimeTheyAreDramsToo) {
    EXPECT_EQ(run(20, 67).bottleneck, "DRAM");
    EXPECT_EQ(run(20, 66).bottleneck, "core: multiply");
}

TEST(CoreAttribution, WithoutMemoryNothingIsDrams) {
    RunResult result;
    result.where = {{"core", {{"load_l2", 30}}}};
    name_core_bottlenecks(result);
    EXPECT_EQ(result.bottleneck, "core: load_l2");
    EXPECT_EQ(result.next_bottleneck, "none");
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
