#include "workloads/default_mapping.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "workloads/gemm.hpp"

namespace tilesim::workloads {
namespace {

// Mappings of one number, expected to be faster the smaller it is: a little, or by `step_ns`.
class CountedNumbers final : public Dataflow {
  public:
    explicit CountedNumbers(int count, double step_ns = 0.01) : count_(count), step_ns_(step_ns) {}
    std::string_view name() const override { return "numbers"; }
    bool serves(const Problem&, const Device&) const override { return true; }
    Mapping read(arch::base::config::Node&) const override { return {}; }
    nlohmann::ordered_json describe(const Mapping& mapping) const override {
        return {{"numbers", {{"k_ct", mapping.get<int>()}}}};
    }
    std::unique_ptr<Job> lower(const Case&, RunResult&) const override { return nullptr; }
    std::vector<Candidate> candidates(const Case&) const override {
        std::vector<Candidate> list;
        for (int i = 1; i <= count_; ++i) {
            list.push_back({"", {*this, i}, {}, kExpected + i * step_ns_});
        }
        return list;
    }

    // A step further, and back.
    std::vector<Candidate> variants(const Case&, const Mapping& mapping) const override {
        std::vector<Candidate> list;
        for (const int next : {mapping.get<int>() + kVariant, mapping.get<int>() - kVariant}) {
            if (next > 0 && next <= most_variant_) {
                list.push_back({"", {*this, next}, {}, kExpected});
            }
        }
        return list;
    }

    static constexpr double kExpected = 1000;
    static constexpr int kVariant = 1000;  // a number and those so much larger, one step each
    void vary(int most) { most_variant_ = most; }

  private:
    int count_;
    double step_ns_;
    int most_variant_ = 0;
};

// What each number takes, sampled and whole.
class Times final : public Runner {
  public:
    struct Time {
        double sampled_ns = 0, open_percent = 0, whole_ns = 0;
    };
    explicit Times(std::map<int, Time> times) : times_(std::move(times)) {}

    RunEnd run(const Case&, const Plan&, RunResult&) override { return RunEnd::Finished; }
    RunResult run(const Case& part) override {
        const int number = part.mapping.get<int>();
        const Time& time = times_.at(number);
        RunResult result;
        result.time_ns = part.run.sampled ? time.sampled_ns : time.whole_ns;
        if (part.run.sampled) {
            result.sampled = Sampling{};
            result.sampled->error_percent = time.open_percent;
        } else {
            whole.insert(number);
        }
        result.events = runs > 0 && later > 0 ? later : events;
        ++runs;
        return result;
    }

    std::set<int> whole;  // what was simulated whole
    int runs = 0;
    std::uint64_t events = 0;  // of each run
    std::uint64_t later = 0;   // of each but the first, where they are others

  private:
    std::map<int, Time> times_;
};

// No small one: of each ten, four and two are tried.
Case large_product() {
    Case a_case;
    a_case.problem = {gemm_kind(), GemmProblem{2048, 2048, 2048}};
    return a_case;
}

int chosen(int count, Times& times) {
    const CountedNumbers dataflow(count);
    const Case a_case = large_product();
    return best_expected(dataflow, a_case, times).mapping.get<int>();
}

TEST(DefaultMapping, WhatSamplingLeavesOpenIsDecidedByWholeRuns) {
    Times times({{1, {1000, 5, 1100}}, {2, {1040, 5, 1020}}, {3, {1200, 5, 1000}}});
    EXPECT_EQ(chosen(3, times), 2);
    EXPECT_EQ(times.whole, (std::set<int>{1, 2}));  // the third cannot be the fastest
}

// What sampling leaves open of it is what its mappings differ by.
TEST(DefaultMapping, ASmallProductIsSimulatedWhole) {
    const auto wholes = [](std::int64_t k) {
        Times runner({{1, {1000, 1, 1100}}, {2, {1005, 1, 1000}}});
        Case a_case;
        a_case.problem = {gemm_kind(), GemmProblem{1024, k, 1024}};
        best_expected(CountedNumbers(2), a_case, runner);
        return runner.whole.size();
    };
    EXPECT_EQ(wholes(256), 2U);
    EXPECT_EQ(wholes(257), 0U);
}

// Two hundred that all take what is expected of them.
std::map<int, Times::Time> all_alike() {
    std::map<int, Times::Time> times;
    for (int i = 1; i <= 200; ++i) {
        times[i] = {CountedNumbers::kExpected + 1, 1, CountedNumbers::kExpected + 1};
    }
    return times;
}

// A trial each and no variants: ten, or five times as many of a small product; then, as if varied,
// four, or as many times the square of that.
TEST(DefaultMapping, WhereTrialsTakeMoreEventsASmallProductGetsFewer) {
    const GemmProblem tiny{64, 64, 64};
    Case a_case;
    a_case.problem = {gemm_kind(), tiny};
    const auto tries = [&](std::uint64_t events, std::uint64_t later = 0) {
        Times runner(all_alike());
        runner.events = events;
        runner.later = later;
        best_expected(CountedNumbers(200), a_case, runner);
        return runner.runs;
    };
    EXPECT_EQ(tries(100'000), 50 + 100);
    EXPECT_EQ(tries(250'000), 20 + 16);
    EXPECT_EQ(tries(1'000'000), 10 + 4);
    EXPECT_EQ(tries(100'000, 2'000'000), 10 + 4);  // the first one was no measure of them
}

// What multiplies nothing is tried as often as a small product while a trial takes a tenth of its
// events, whether it is likely to win or not.
TEST(DefaultMapping, WithoutMultiplicationsAllAreTriedWhereThatIsSoonOver) {
    const auto tries = [](std::uint64_t events) {
        Times runner(all_alike());
        runner.events = events;
        best_expected(CountedNumbers(200), Case{}, runner);
        return runner.runs;
    };
    EXPECT_EQ(tries(10'000), 50 + 100);
    EXPECT_EQ(tries(25'000), 20 + 16);
    EXPECT_EQ(tries(50'000), 10 + 4);
    std::map<int, Times::Time> times;
    for (int i = 1; i <= 50; ++i) {  // as expected, but for the last, of which most was
        const double ns = i < 50 ? CountedNumbers::kExpected + i * 10 : 700;
        times[i] = {ns, 0, ns};
    }
    Times runner(times);
    EXPECT_EQ(best_expected(CountedNumbers(50, 10), Case{}, runner).mapping.get<int>(), 50);
}

TEST(DefaultMapping, OfAFewTheFastestIsTaken) {
    const CountedNumbers dataflow(5);
    const Case a_case = large_product();
    std::vector<Candidate> few = dataflow.candidates(a_case);
    few.pop_back();
    Times times({{1, {1000, 0, 1000}},
                 {2, {990, 0, 990}},
                 {3, {980, 0, 980}},
                 {4, {995, 0, 995}},
                 {5, {900, 0, 900}}});
    const Choice choice = fastest_of(std::move(few), a_case, times);
    EXPECT_EQ(choice.mapping.get<int>(), 3);
    EXPECT_EQ(choice.time_ns, 980);
    EXPECT_EQ(times.runs, 4);
}

// Six of a rival's mappings, or five times as many where the product is small.
TEST(DefaultMapping, ASmallProductTriesMoreOfARival) {
    const CountedNumbers rival(100);
    const Choice choice{{rival, 0}, "", CountedNumbers::kExpected};
    const auto tries = [&](std::int64_t size) {
        Times runner(all_alike());
        Case a_case;
        a_case.problem = {gemm_kind(), GemmProblem{size, size, size}};
        EXPECT_FALSE(faster_of(rival, choice, a_case, runner));
        return runner.runs;
    };
    EXPECT_EQ(tries(64), 30);
    EXPECT_EQ(tries(2048), 6);
}

TEST(DefaultMapping, AChoiceEndsWithTheHostsTime) {
    Times times({{1, {1000, 1, 1000}}, {2, {900, 1, 900}}});
    Case a_case;
    a_case.run.until = std::chrono::steady_clock::now();
    EXPECT_THROW(best_expected(CountedNumbers(2), a_case, times), HostTimeOver);
    EXPECT_EQ(times.runs, 0);
}

TEST(DefaultMapping, WhereNoneFitsTheReasonIsSaid) {
    Times times({});
    try {
        best_expected(CountedNumbers(0), Case{}, times, [] { return "column 0 has no shim"; });
        FAIL() << "none fits";
    } catch (const arch::base::config::ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("this size: column 0 has no shim"),
                  std::string::npos)
            << error.what();
    }
}

TEST(DefaultMapping, WhatIsKnownWellEnoughIsNotSimulatedAgain) {
    Times times({{1, {1000, 1, 1100}}, {2, {1005, 5, 1000}}});
    EXPECT_EQ(chosen(2, times), 1);
    EXPECT_TRUE(times.whole.empty());
}

// Step by step, if it is faster than what was chosen before.
TEST(DefaultMapping, ARivalThatWinsIsVaried) {
    CountedNumbers rival(1);
    rival.vary(2001);
    Case a_case;
    a_case.problem = {gemm_kind(), GemmProblem{64, 64, 64}};
    const Choice choice{{rival, 0}, "", 1000};
    Times faster({{1, {990, 0, 990}}, {1001, {980, 0, 980}}, {2001, {970, 0, 970}}});
    const auto found = faster_of(rival, choice, a_case, faster);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->mapping.get<int>(), 2001);
    Times slower({{1, {1010, 0, 1010}}, {1001, {980, 0, 980}}});
    EXPECT_FALSE(faster_of(rival, choice, a_case, slower));
}

// Two keys may have to change together; what has been tried once is not tried again.
TEST(DefaultMapping, WhatDiffersInTwoKeysIsTriedOnceWhereOneOfThemIsNoFaster) {
    CountedNumbers dataflow(1);
    dataflow.vary(2001);
    Case a_case;
    a_case.problem = {gemm_kind(), GemmProblem{64, 64, 64}};
    Times times({{1, {1000, 0, 1000}}, {1001, {1005, 0, 1005}}, {2001, {990, 0, 990}}});
    EXPECT_EQ(best_expected(dataflow, a_case, times).mapping.get<int>(), 2001);
    EXPECT_EQ(times.runs, 3);
}

// A fifth more is expected of a rival than what was chosen takes.
TEST(DefaultMapping, AnUnlikelyRivalIsNotSimulated) {
    const CountedNumbers rival(3);
    const Choice choice{{rival, 0}, "", CountedNumbers::kExpected / 1.2};
    Times times({});
    EXPECT_FALSE(faster_of(rival, choice, large_product(), times));
    EXPECT_EQ(times.runs, 0);
}

// What sampled runs are more promising by, whole runs do not keep.
TEST(DefaultMapping, WhatWasSimulatedWholeCompetesBeyondThoseDecided) {
    std::map<int, Times::Time> times{
        {1, {1000, 5, 1100}}, {2, {1001, 5, 1100}}, {3, {1002, 5, 1100}}, {4, {1040, 0, 1040}}};
    Times runner(times);
    EXPECT_EQ(chosen(4, runner), 4);
    EXPECT_EQ(runner.whole, (std::set<int>{1, 2}));
}

TEST(DefaultMapping, ARivalWinsByAWholeRunOnly) {
    const CountedNumbers rival(2);
    const Case a_case = large_product();
    const Choice choice{{rival, 0}, "", 1000};
    Times slower({{1, {990, 5, 1010}}, {2, {1030, 5, 1001}}});
    EXPECT_FALSE(faster_of(rival, choice, a_case, slower));
    EXPECT_EQ(slower.whole, (std::set<int>{1, 2}));
    Times faster({{1, {1030, 5, 990}}, {2, {1100, 5, 900}}});
    const auto found = faster_of(rival, choice, a_case, faster);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->mapping.get<int>(), 1);
    EXPECT_EQ(found->time_ns, 990);
    EXPECT_EQ(faster.whole, (std::set<int>{1}));
}

}  // namespace
}  // namespace tilesim::workloads
