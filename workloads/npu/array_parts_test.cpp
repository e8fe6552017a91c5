#include "workloads/npu/array_parts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tilesim::workloads::npu {
namespace {

TEST(ArrayParts, AreTheHalvesAndWhatSmallerArraysHave) {
    using Parts = std::vector<std::int64_t>;
    for (const Parts& expected : {Parts{1}, Parts{4, 2, 1}, Parts{6, 4, 3, 2, 1}, Parts{8, 4, 2, 1},
                                  Parts{12, 8, 6, 4, 3, 2, 1}, Parts{7, 4, 3, 2, 1}}) {
        const auto parts = parts_of(expected.front());
        EXPECT_EQ(Parts(parts.begin(), parts.end()), expected);
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu
