#include "workloads/amx/tiles/core_attribution.hpp"

#include <gtest/gtest.h>

#include "workloads/result.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

// Hundredths of the channels' time without a request, and moving data; the rest opens rows.
RunResult run(double idle, double read) {
    RunResult result;
    result.where = {
        {"core",
         {{"multiply", 40},
          {"load_l2", 30},
          {"fill_buffers", 20},
          {"window", 10},
          {"finished", 95}}},
        {"dram_channel", {{"idle", idle}, {"read", read}, {"row_miss", 100 - idle - read}}}};
    name_core_bottlenecks(result);
    return result;
}

TEST(CoreAttribution, StatesOfCoresAtWorkNameWhatToChange) {
    const RunResult result = run(10, 60);
    EXPECT_EQ(result.bottleneck, "core: multiply");
    EXPECT_EQ(result.next_bottleneck, "core: load_l2");
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
