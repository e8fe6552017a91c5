#include "sim/explore/cost_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilesim::sim::explore {
namespace {

constexpr double kTwofold = 2;

void expect_within(double factor, double got, double wanted) {
    EXPECT_LT(got, wanted * factor);
    EXPECT_GT(got, wanted / factor);
}

PointFeatures sized(double work) {
    return {std::log(work), {}, {}};
}

TEST(CostLaw, CostGrowsWithTheWorkWhereOneSizeIsKnown) {
    const CostLaw law({{sized(1), 0.5}});
    expect_within(3, law.at(sized(100)).wall_s, 50);
    EXPECT_GT(law.at(sized(100)).log_error, 1);
    expect_within(1.1, law.at(sized(1)).wall_s, 0.5);
}

TEST(CostLaw, ACostThatDoesNotGrowIsSeenFromTwoSizes) {
    const CostLaw law({{sized(1), 3}, {sized(1024), 4}});
    expect_within(1.3, law.at(sized(32)).wall_s, 3.5);
    expect_within(kTwofold, law.at(sized(4096)).wall_s, 4);
}

TEST(CostLaw, ANumberOfItsOwnAddsAPowerAndAWordAFactor) {
    const auto at = [](double number, std::size_t word) {
        return PointFeatures{0, {std::log(number)}, {word}};
    };
    const auto cost = [](double number, std::size_t word) {
        return 0.1 * std::sqrt(number) * (word == 0 ? 1 : 5);
    };
    std::vector<TriedPoint> tried;
    for (const auto& [number, word] :
         {std::pair{1.0, 0}, {4.0, 0}, {16.0, 0}, {1.0, 1}, {4.0, 1}}) {
        tried.push_back({at(number, word), cost(number, word)});
    }
    const CostLaw law(tried);
    expect_within(kTwofold, law.at(at(16, 1)).wall_s, cost(16, 1));
    expect_within(1.2, law.at(at(8, 0)).wall_s, cost(8, 0));
}

TEST(CostLaw, WhatLiesFarFromEverythingTriedIsLeastCertain) {
    const CostLaw law({{sized(1), 1}, {sized(4), 4}});
    EXPECT_LT(law.at(sized(2)).log_error, law.at(sized(64)).log_error);
    EXPECT_LT(law.at(sized(64)).log_error, law.at(sized(1024)).log_error);
    EXPECT_LT(law.at(sized(1)).log_error, 0.15);
}

}  // namespace
}  // namespace tilesim::sim::explore
