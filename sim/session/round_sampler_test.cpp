#include "sim/session/round_sampler.hpp"

#include <gtest/gtest.h>

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

// Rounds after a launch: the whole takes launch, all rounds and, as the first does, leaving.
struct Judged {
    WholeRun run;
    double whole = 0;
};
Judged sampled(const Length& length, std::int64_t least_leaving = 0,
               std::int64_t launch = kLaunch) {
    std::int64_t read = 0;
    RoundSampler sampler(
        kRounds,
        [&read] {
            MemoryTotals totals;
            totals.bytes_read = read;
            return totals;
        },
        Femtoseconds{least_leaving});
    auto began = static_cast<double>(launch);
    const double first_done = began + length(0) * kPeriod;
    for (int step = 1; !sampler.enough() && step <= kRounds * 64; ++step) {
        const int round = (step - 1) / 64;
        const double time = began + ((step - 1) % 64 + 1) / 64.0 * length(round) * kPeriod;
        if (step % 64 == 0) {
            began = time;
        }
        const double out = time >= first_done + kLeaving ? 1 : 0;
        read = static_cast<std::int64_t>(step / 64.0 * kBytes);
        sampler.note(Femtoseconds{static_cast<std::int64_t>(time)}, {step / 64.0, out});
    }
    auto whole = static_cast<double>(launch + kLeaving);
    for (int round = 0; round < kRounds; ++round) {
        whole += length(round) * kPeriod;
    }
    if (!sampler.enough()) {
        WholeRun run;
        run.time = Femtoseconds{static_cast<std::int64_t>(whole)};
        run.simulated = kRounds;
        return {run, whole};
    }
    return {sampler.whole(), whole};
}

void expect_within(const Judged& judged, double percent) {
    EXPECT_NEAR(static_cast<double>(judged.run.time.count()) / judged.whole, 1, percent / 100);
    EXPECT_LE(std::abs(static_cast<double>(judged.run.time.count()) / judged.whole - 1),
              judged.run.error_percent / 100);
}

TEST(RoundSampler, EqualRoundsAreExtrapolatedExactlyBeforeTheSecondEnds) {
    const Judged judged = sampled([](int) { return 1.0; });
    EXPECT_NEAR(static_cast<double>(judged.run.time.count()), judged.whole, 0.02 * kPeriod);
    EXPECT_EQ(judged.run.simulated, 1.75);
    EXPECT_NEAR(static_cast<double>(judged.run.memory.bytes_read), kRounds * kBytes, kBytes / 10.0);
    // 1 % of the rest, as rounds may differ by and still count as alike, and half of one for what
    // comes about later only.
    EXPECT_NEAR(judged.run.error_percent, 1.5 * (1 - 1.75 / kRounds), 0.01);
}

// What was read during the launch makes the first two rounds short.
TEST(RoundSampler, RoundsShorterThanTheLaunchAreNotJudgedBeforeTheSecondEnds) {
    const auto length = [](int round) { return round < 2 ? 0.9 : 1.0; };
    EXPECT_EQ(sampled(length).run.simulated, 1.75);
    const Judged judged = sampled(length, 0, 3 * kPeriod);
    EXPECT_GT(judged.run.simulated, 2.5);
    expect_within(judged, 0.3);
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

TEST(RoundSampler, FewRoundsAreSimulated) {
    EXPECT_FALSE(RoundSampler::pays(0));
    EXPECT_FALSE(RoundSampler::pays(5));
    EXPECT_TRUE(RoundSampler::pays(kRounds));
}

}  // namespace
}  // namespace tilesim::sim::session
