#include "workloads/amx/tiles/core_attribution.hpp"

#include <gtest/gtest.h>

#include "workloads/result.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

RunResult run(double dram_idle) {
    RunResult result;
    result.where = {{"core",
                     {{"multiply", 40},
                      {"load_l2", 30},
                      {"fill_buffers", 20},
                      {"window", 10},
                      {"finished", 5}}},
                    {"dram_channel", {{"idle", dram_idle}, {"read", 100 - dram_idle}}}};
    name_core_bottlenecks(result);
    return result;
}

TEST(CoreAttribution, StatesOfTheCoresNameWhatToChange) {
    const RunResult result = run(10);
    EXPECT_EQ(result.bottleneck, "core: multiply");
    EXPECT_EQ(result.next_bottleneck, "core: load_l2");
}

TEST(CoreAttribution, WhereChannelsHardlyLackARequestTheWaitsForDataAreDrams) {
    const RunResult result = run(5);
    EXPECT_EQ(result.bottleneck, "DRAM");
    EXPECT_EQ(result.next_bottleneck, "core: multiply");
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
