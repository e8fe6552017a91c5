#include "workloads/npu/shim_columns.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tilesim::workloads::npu {
namespace {

std::vector<std::int64_t> parts_of(const arch::npu::NpuConfig& config) {
    const auto parts = ShimColumns::parts(config);
    return {parts.begin(), parts.end()};
}

TEST(ShimColumns, PartsAreTheHalvesAndWhatSmallerArraysHave) {
    using Parts = std::vector<std::int64_t>;
    arch::npu::NpuConfig config;
    config.shim_columns = {};
    for (const Parts& parts : {Parts{1}, Parts{4, 2, 1}, Parts{6, 4, 3, 2, 1}, Parts{8, 4, 2, 1},
                               Parts{12, 8, 6, 4, 3, 2, 1}, Parts{7, 4, 3, 2, 1}}) {
        config.columns = parts.front();
        EXPECT_EQ(parts_of(config), parts);
    }
}

TEST(ShimColumns, PartsAreOfTheColumnsWhoseShimHasADma) {
    arch::npu::NpuConfig config;
    config.columns = 8;
    config.shim_columns = {2, 3, 6};
    EXPECT_EQ(parts_of(config), (std::vector<std::int64_t>{3, 2, 1}));
    EXPECT_EQ(ShimColumns(config)[2], 6);
}

}  // namespace
}  // namespace tilesim::workloads::npu
