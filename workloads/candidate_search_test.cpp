#include "workloads/candidate_search.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilesim::workloads {
namespace {

// Mappings of one number.
class Numbers final : public Dataflow {
  public:
    std::string_view name() const override { return "numbers"; }
    bool serves(const Problem&, const Device&) const override { return false; }
    Mapping read(arch::base::config::Node&) const override { return {}; }
    nlohmann::ordered_json describe(const Mapping& mapping) const override {
        return {{"numbers", {{"k_ct", mapping.get<int>()}}}};
    }
    std::unique_ptr<Job> lower(const Case&, RunResult&) const override { return nullptr; }
};

// Mappings whose k_ct goes from 8 to 8 x as many, and what each is bound by.
class CandidateSearchTest : public testing::Test {
  protected:
    CandidateSearch search(const std::vector<double>& bounds) {
        std::vector<const Candidate*> list;
        candidates_.reserve(bounds.size());
        for (const double bound_ns : bounds) {
            Candidate candidate;
            candidate.mapping = {numbers_, 8 * static_cast<int>(candidates_.size() + 1)};
            candidate.least_ns = bound_ns;
            list.push_back(&candidates_.emplace_back(std::move(candidate)));
        }
        return CandidateSearch(list);
    }

  private:
    Numbers numbers_;
    std::vector<Candidate> candidates_;
};

TEST_F(CandidateSearchTest, OnlyABoundThatIsNoBetterThanTheBestRulesOut) {
    CandidateSearch of_three = search({30, 10, 20});
    EXPECT_EQ(of_three.next(20), 1U);
    EXPECT_FALSE(of_three.next(20));  // 20 is not faster than 20
    EXPECT_EQ(of_three.ruled_out(), 2);
    EXPECT_EQ(of_three.open(), 0);
}

TEST_F(CandidateSearchTest, WithoutABestTimeEveryOneIsTriedOnce) {
    CandidateSearch of_three = search({30, 10, 20});
    std::set<std::size_t> tried;
    while (const auto next = of_three.next(0)) {
        EXPECT_TRUE(tried.insert(*next).second);
    }
    EXPECT_EQ(tried.size(), 3U);
    EXPECT_EQ(of_three.ruled_out(), 0);
}

TEST_F(CandidateSearchTest, WhatWasSlowerThanExpectedMakesItsLikeComeLater) {
    // All expected alike; the last is far from the first two.
    CandidateSearch alike = search({10, 10, 10, 10, 10, 10, 10, 10});
    ASSERT_EQ(alike.next(0), 0U);
    alike.learn(0, 1000);
    EXPECT_GT(alike.next(0).value(), 2U);
}

TEST_F(CandidateSearchTest, TheLeastBoundOfTheRestIsWhatIsProven) {
    CandidateSearch of_three = search({30, 10, 20});
    EXPECT_EQ(of_three.least_bound_ns(), 10);
    of_three.take(1);
    EXPECT_EQ(of_three.least_bound_ns(), 20);
}

}  // namespace
}  // namespace tilesim::workloads
