#include "sim/session/round_sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace tilesim::sim::session {
namespace {

using arch::base::Femtoseconds;
using arch::memory::port::MemoryTotals;

constexpr int kRounds = 41;
constexpr std::int64_t kPeriod = 1'000'003;
constexpr std::int64_t kLaunch = 700'001;   // before the first work
constexpr std::int64_t kLeaving = 250'007;  // of a round's results
constexpr std::int64_t kBytes = 4099;       // read in a round

// How long a round takes, as a share of the period, from its number.
using Length = std::function<double(int)>;
constexpr int kSteps = 64;  // of a round
// How long a step takes, as a share of the period's, from its number.
using Pace = std::function<double(int)>;

// Rounds after a launch: the whole takes launch, all rounds and, as the first does, leaving.
struct Judged {
    WholeRun run;
    double whole = 0;
};
Judged sampled_steps(const Pace& pace, std::int64_t least_leaving = 0,
                     std::int64_t launch = kLaunch, int rounds = kRounds,
                     std::int64_t least_period = 0) {
    std::int64_t read = 0;
    RoundSampler sampler(
        rounds,
        [&read] {
            MemoryTotals totals;
            totals.bytes_read = read;
            return totals;
        },
        Femtoseconds{least_leaving}, Femtoseconds{least_period});
    auto time = static_cast<double>(launch);
    double first_done = 0;
    for (int step = 0; !sampler.enough() && step < kRounds * kSteps; ++step) {
        time += pace(step) * kPeriod / kSteps;
        if (step + 1 == kSteps) {
            first_done = time;
        }
        const double out = step >= kSteps && time >= first_done + kLeaving ? 1 : 0;
        const double done = (step + 1.0) / kSteps;
        read = static_cast<std::int64_t>(done * kBytes);
        sampler.note(Femtoseconds{static_cast<std::int64_t>(time)}, {done, out});
    }
    auto whole = static_cast<double>(launch + kLeaving);
    for (int step = 0; step < kRounds * kSteps; ++step) {
        whole += pace(step) * kPeriod / kSteps;
    }
    if (!sampler.enough()) {
        WholeRun run;
        run.time = Femtoseconds{static_cast<std::int64_t>(whole)};
        run.simulated = kRounds;
        return {run, whole};
    }
    return {sampler.whole(), whole};
}

Judged sampled(const Length& length, std::int64_t least_leaving = 0,
               std::int64_t launch = kLaunch) {
    return sampled_steps([&length](int step) { return length(step / kSteps); }, least_leaving,
                         launch);
}

void expect_within(const Judged& judged, double percent) {
    EXPECT_NEAR(static_cast<double>(judged.run.time.count()) / judged.whole, 1, percent / 100);
    EXPECT_LE(std::abs(static_cast<double>(judged.run.time.count()) / judged.whole - 1),
              judged.run.error_percent / 100);
}

TEST(RoundSampler, EqualRoundsAreExtrapolatedExactlyBeforeTheSecondEnds) {
    const Judged judged = sampled([](int) { return 1.0; });
    EXPECT_NEAR(static_cast<double>(judged.run.time.count()), judged.whole, 0.02 * kPeriod);
    EXPECT_EQ(judged.run.simulated, 1.25);
    EXPECT_NEAR(static_cast<double>(judged.run.memory.bytes_read), kRounds * kBytes, kBytes / 10.0);
    // 1 % of the rest, as rounds may differ by and still count as alike, and 0.8 for what comes
    // about later only.
    EXPECT_NEAR(judged.run.error_percent, 1.8 * (1 - 1.25 / kRounds), 0.01);
    // 1.2 % and what is read ahead of its round; of rows opened, what others may meet besides.
    EXPECT_NEAR(judged.run.memory_error_percent, 1.2 + 100.0 / kRounds, 0.01);
    EXPECT_NEAR(judged.run.activates_error_percent,
                judged.run.memory_error_percent + 20 * (1 - 1.25 / kRounds), 0.01);
}

// What was read during the launch makes the first two rounds short.
TEST(RoundSampler, RoundsShorterThanTheLaunchAreNotJudgedBeforeTheSecondEnds) {
    const auto length = [](int round) { return round < 2 ? 0.9 : 1.0; };
    EXPECT_EQ(sampled(length).run.simulated, 1.25);
    const Judged judged = sampled(length, 0, 3 * kPeriod);
    EXPECT_GT(judged.run.simulated, 2.5);
    expect_within(judged, 0.3);
}

// The second round's first quarter is short: the first look, after it, sees stretches that hold
// from a quarter of it to all, three quarters of what it lacks apart; the next sees it in all of
// them.
TEST(RoundSampler, TheSoonerRoundsAreJudgedTheMoreAlikeTheyHaveToBe) {
    const auto lacking = [](double share) {
        return [share](int step) { return step / (kSteps / 4) == 4 ? 1 - 4 * share : 1.0; };
    };
    EXPECT_EQ(sampled_steps(lacking(0.006)).run.simulated, 1.25);
    EXPECT_EQ(sampled_steps(lacking(0.007)).run.simulated, 1.5);
}

TEST(RoundSampler, FewerThanSixteenRoundsAreNotJudgedBeforeThreeQuartersOfTheSecond) {
    const auto even = [](int) { return 1.0; };
    EXPECT_EQ(sampled_steps(even, 0, kLaunch, 16).run.simulated, 1.25);
    EXPECT_EQ(sampled_steps(even, 0, kLaunch, 15).run.simulated, 1.75);
}

// Half of each round takes four fifths of it.
TEST(RoundSampler, TheRoundUnderWayEndsAsTheOneBeforeDid) {
    const Judged judged = sampled_steps([](int step) { return step % kSteps < 32 ? 1.6 : 0.4; });
    EXPECT_NE(std::fmod(judged.run.simulated, 1), 0);
    expect_within(judged, 0.1);
}

TEST(RoundSampler, ASlowFirstRoundDoesNotCountForTheRest) {
    const Judged judged = sampled([](int round) { return round == 0 ? 1.5 : 1.0; });
    expect_within(judged, 0.1);
    EXPECT_EQ(judged.run.simulated, 2.5);
}

TEST(RoundSampler, ASlowSecondRoundIsLeftOutWhenTheOthersAgree) {
    const Judged judged = sampled([](int round) { return round == 1 ? 1.06 : 1.0; });
    expect_within(judged, 0.3);
    EXPECT_LE(judged.run.simulated, 6);
    // Three rounds like each other, twice the deviation of their mean where rounds differ by the
    // least that is assumed, half a percent, and two comparisons say half of what many would; half
    // more, since they were compared until they agreed.
    const double of_mean = 2 * 0.5 * std::sqrt((1 + 2 / 2.0) / 3);
    EXPECT_NEAR(judged.run.error_percent,
                (1.5 * of_mean + 0.8) * (1 - judged.run.simulated / kRounds), 0.01);
}

// A launch of three rounds puts the first look off to the end of the third half. By then results
// are two rounds behind: one and a half are left, half of the one on its way.
TEST(RoundSampler, ResultsThatWaitInBuffersLeaveBehindTheLastRound) {
    constexpr std::int64_t kLeast = 500'009;
    RoundSampler sampler(
        kRounds, [] { return MemoryTotals{}; }, Femtoseconds{kLeast});
    const auto behind = 2.0;
    for (int step = 0; !sampler.enough(); ++step) {
        const double done = (step + 1.0) / kSteps;
        sampler.note(Femtoseconds{3 * kPeriod + static_cast<std::int64_t>(done * kPeriod)},
                     {done, std::max(0.0, done - behind)});
    }
    const WholeRun run = sampler.whole();
    EXPECT_EQ(run.simulated, 2.5);
    const double left = 1.5 * (kPeriod + kLeast) / 2;
    EXPECT_NEAR(static_cast<double>(run.time.count()), (3 + kRounds) * kPeriod + left, 10);
    const double open = 1.5 * (kPeriod - kLeast) / 2 / static_cast<double>(run.time.count());
    EXPECT_NEAR(run.error_percent, 1.8 * (1 - 2.5 / kRounds) + 100 * open, 0.01);
}

// Addresses come back to the same banks every four rounds: no two rounds in a row are the mean.
TEST(RoundSampler, APatternOfSeveralRoundsIsSeenTwiceBeforeItIsBelieved) {
    const Judged judged = sampled([](int round) {
        return std::array{0.8, 1.2, 1.15, 0.85}.at(round % 4);
    });
    expect_within(judged, 0.8);
    EXPECT_GE(judged.run.simulated, 8);
    EXPECT_LE(judged.run.simulated, 10);
}

// From one round to the next it changes little, and yet no few of them are the mean.
Length wave(double height) {
    return [height](int round) { return 1 + height * std::sin(2 * std::numbers::pi * round / 10); };
}

TEST(RoundSampler, AWaveOfManyRoundsIsFollowedToItsEnd) {
    const Judged judged = sampled(wave(0.08));
    expect_within(judged, 0.8);
    EXPECT_GE(judged.run.simulated, 15);
    EXPECT_LT(judged.run.simulated, kRounds);
}

// A sine of 10 % has a standard deviation of 7.1 %.
TEST(RoundSampler, AWideWaveOfManyRoundsIsNotExtrapolated) {
    EXPECT_EQ(sampled(wave(0.1)).run.simulated, kRounds);
}

// The first results had reads beside them; the last have none.
TEST(RoundSampler, TheLastResultsLeaveInNoMoreThanTwiceWhatTheirStreamsTake) {
    const std::int64_t streams = kLeaving / 5;
    const Judged slow = sampled([](int) { return 1.0; });
    const Judged fast = sampled([](int) { return 1.0; }, streams);
    EXPECT_NEAR(static_cast<double>((slow.run.time - fast.run.time).count()),
                static_cast<double>(kLeaving - 2 * streams), 0.02 * kPeriod);
}

TEST(RoundSampler, RoundsThatKeepGrowingSayHowFarTheyMayBeOff) {
    EXPECT_GT(sampled([](int round) { return 1 + 0.02 * round; }).run.error_percent, 1);
}

// Results need a period; eight rounds of buffers take them sooner.
TEST(RoundSampler, RoundsFasterThanTheirResultsCanLeaveAreNotExtrapolated) {
    const auto pace = [](int step) { return step < 8 * kSteps ? 0.4 : 1.0; };
    const auto judged = [&pace](std::int64_t least_period) {
        return sampled_steps(pace, 0, kLaunch, kRounds, least_period);
    };
    EXPECT_LT(judged(0).run.simulated, 8);
    EXPECT_LT(judged(4 * kPeriod / 10).run.simulated, 8);
    EXPECT_GT(judged(kPeriod).run.simulated, 8);
    EXPECT_NEAR(static_cast<double>(judged(kPeriod).run.time.count()), judged(kPeriod).whole,
                0.01 * judged(kPeriod).whole);
}

TEST(RoundSampler, FewRoundsAreSimulated) {
    EXPECT_FALSE(RoundSampler::pays(0));
    EXPECT_FALSE(RoundSampler::pays(5));
    EXPECT_TRUE(RoundSampler::pays(kRounds));
}

}  // namespace
}  // namespace tilesim::sim::session
