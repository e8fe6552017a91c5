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
    Candidate expected(double expected_ns, int k_ct) const {
        Candidate candidate;
        candidate.mapping = {numbers_, k_ct};
        candidate.expected_ns = expected_ns;
        return candidate;
    }

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

// An estimate is believed to be right within a tenth before any has been tried.
TEST_F(CandidateSearchTest, OneThatIsExpectedToBeMuchSlowerIsNotLikelyButIsNext) {
    CandidateSearch of_two({});
    of_two.add(expected(10.9, 8));
    of_two.add(expected(11.2, 64));
    EXPECT_EQ(of_two.next_likely(10), 0U);
    EXPECT_FALSE(of_two.next_likely(10));
    EXPECT_EQ(of_two.next(10), 1U);
}

// Tried ones that were as expected make it sharper for all.
TEST_F(CandidateSearchTest, WhereEstimatesAreRightFewerAreLikely) {
    CandidateSearch of_many({});
    for (int i = 0; i < 30; ++i) {
        of_many.add(expected(10, 8));
        of_many.take(static_cast<std::size_t>(i));
        of_many.learn(static_cast<std::size_t>(i), 10);
    }
    of_many.add(expected(10.9, 4096));
    EXPECT_FALSE(of_many.next_likely(10));
}

// One that is expected to take 20 was stopped at 10: its like are no faster than expected.
TEST_F(CandidateSearchTest, AStoppedRunSaysNothingWhereMoreWasExpected) {
    CandidateSearch stopped({});
    CandidateSearch ended({});
    for (CandidateSearch* each : {&stopped, &ended}) {
        each->add(expected(20, 8));
        each->add(expected(20, 8));
        each->take(0);
    }
    stopped.learn_at_least(0, 10);
    ended.learn(0, 10);
    EXPECT_FALSE(stopped.next_likely(10));
    EXPECT_EQ(ended.next_likely(10), 1U);
}

// Ten were expected of it; what is added later knows of it, too.
TEST_F(CandidateSearchTest, OneThatTookLongerMakesItsLikeComeLaterWhetherItEndedOrWasStopped) {
    for (const bool ended : {true, false}) {
        CandidateSearch alike({});
        alike.add(expected(10, 8));
        alike.take(0);
        ended ? alike.learn(0, 1000) : alike.learn_at_least(0, 1000);
        alike.add(expected(10, 8));
        alike.add(expected(10, 64));
        EXPECT_EQ(alike.next(0), 2U) << ended;
    }
}

TEST_F(CandidateSearchTest, TheLeastBoundOfTheRestIsWhatIsProven) {
    CandidateSearch of_three = search({30, 10, 20});
    EXPECT_EQ(of_three.least_bound_ns(), 10);
    of_three.take(1);
    EXPECT_EQ(of_three.least_bound_ns(), 20);
}

}  // namespace
}  // namespace tilesim::workloads
