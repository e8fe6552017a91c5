#include "sim/explore/cost_estimate.hpp"

#include <gtest/gtest.h>

namespace tilesim::sim::explore {
namespace {

TEST(CostEstimate, GrowsAsTheLargestTriedPointsDo) {
    const std::vector<TriedPoint> tried{{"a", 1, 0.5}, {"a", 100, 1}, {"a", 200, 2}, {"b", 1, 7}};
    EXPECT_DOUBLE_EQ(expected_wall_s(tried, "a", 400).value(), 4);
    EXPECT_DOUBLE_EQ(expected_wall_s(tried, "a", 150).value(), 2);  // the next larger one's
    EXPECT_DOUBLE_EQ(expected_wall_s(tried, "b", 3).value(), 21);
    EXPECT_FALSE(expected_wall_s(tried, "c", 1));
}

TEST(CostEstimate, PointsOfOneSizeHaveTheirMean) {
    const std::vector<TriedPoint> tried{{"a", 8, 1}, {"a", 8, 3}};
    EXPECT_DOUBLE_EQ(expected_wall_s(tried, "a", 8).value(), 2);
}

}  // namespace
}  // namespace tilesim::sim::explore
