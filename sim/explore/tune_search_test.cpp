#include "sim/explore/tune_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sim/scenario.hpp"

namespace tilesim::sim::explore {
namespace {

// Mappings of a GEMM whose k_ct goes from 8 to 8 x `count`, and what each is bound by.
std::vector<TuneCandidate> candidates(const std::vector<double>& bounds) {
    std::vector<TuneCandidate> list;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const std::string mapping = "{output_stationary: {m_ct: 16, n_ct: 16, k_ct: " +
                                    std::to_string(8 * (i + 1)) + "}}";
        const Scenario scenario = parse_scenario(
            "device: xdna2\nworkload: {gemm: {M: 64, K: 64, N: 128, a: int8, b: int8, c: int8}}\n",
            "test", {{"mapping", mapping}});
        workloads::GemmBounds bound;
        bound.compute_ns = bounds[i];
        list.push_back({{"", scenario.mapping, bound, 0, 0}});
    }
    return list;
}

TEST(TuneSearch, OnlyABoundThatIsNoBetterThanTheBestRulesOut) {
    TuneSearch search(candidates({30, 10, 20}));
    EXPECT_EQ(search.next(20), 1U);
    EXPECT_FALSE(search.next(20));  // 20 is not faster than 20
    EXPECT_EQ(search.ruled_out(), 2);
    EXPECT_EQ(search.open(), 0);
}

TEST(TuneSearch, WithoutABestTimeEveryOneIsTriedOnce) {
    TuneSearch search(candidates({30, 10, 20}));
    std::set<std::size_t> tried;
    while (const auto next = search.next(0)) {
        EXPECT_TRUE(tried.insert(*next).second);
    }
    EXPECT_EQ(tried.size(), 3U);
    EXPECT_EQ(search.ruled_out(), 0);
}

TEST(TuneSearch, WhatWasSlowerThanExpectedMakesItsLikeComeLater) {
    // All expected alike; the last is far from the first two.
    TuneSearch search(candidates({10, 10, 10, 10, 10, 10, 10, 10}));
    ASSERT_EQ(search.next(0), 0U);
    search.learn(0, 1000);
    EXPECT_GT(search.next(0).value(), 2U);
}

TEST(TuneSearch, TheLeastBoundOfTheRestIsWhatIsProven) {
    TuneSearch search(candidates({30, 10, 20}));
    EXPECT_EQ(search.least_bound_ns(), 10);
    search.take(1);
    EXPECT_EQ(search.least_bound_ns(), 20);
}

}  // namespace
}  // namespace tilesim::sim::explore
