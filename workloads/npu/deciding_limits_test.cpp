#include "workloads/npu/deciding_limits.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace tilesim::workloads::npu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Tasks of three transfers each, of which one runs and the others queue.
std::vector<std::string> deciding(std::int64_t descriptors, std::int64_t depth) {
    arch::npu::NpuConfig config;
    config.shim_dma.descriptors = descriptors;
    config.shim_dma.task_queue_depth = depth;
    return deciding_limits(config, [](const arch::npu::NpuConfig& device) {
        return std::min(device.shim_dma.descriptors / 3, device.shim_dma.task_queue_depth + 1);
    });
}

TEST(DecidingLimits, ALimitDecidesWhereATenthOfItMakesAnotherNumberOfTasks) {
    EXPECT_THAT(deciding(48, 4), ElementsAre("npu.shim_dma.task_queue_depth"));
    EXPECT_THAT(deciding(9, 7), ElementsAre("npu.shim_dma.descriptors"));
}

TEST(DecidingLimits, OneOneWayIsEnough) {
    EXPECT_THAT(deciding(8, 7), ElementsAre("npu.shim_dma.descriptors"));  // nine: three tasks
    EXPECT_THAT(deciding(10, 7), IsEmpty());                               // nine or eleven: three
}

TEST(DecidingLimits, BothDecideWhereEachAllowsAsMuchAsTheOther) {
    EXPECT_THAT(deciding(15, 4),
                ElementsAre("npu.shim_dma.descriptors", "npu.shim_dma.task_queue_depth"));
}

}  // namespace
}  // namespace tilesim::workloads::npu
