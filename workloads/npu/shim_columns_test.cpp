#include "workloads/npu/shim_columns.hpp"

#include <gtest/gtest.h>

namespace tilesim::workloads::npu {
namespace {

TEST(ShimColumns, AreThoseWhoseShimHasADma) {
    arch::npu::NpuConfig config;
    config.columns = 8;
    config.shim_columns = {2, 3, 6};
    EXPECT_EQ(ShimColumns::count(config), 3);
    EXPECT_EQ(ShimColumns(config)[2], 6);
    config.shim_columns = {};
    EXPECT_EQ(ShimColumns::count(config), 8);
    EXPECT_EQ(ShimColumns(config)[2], 2);
}

}  // namespace
}  // namespace tilesim::workloads::npu
