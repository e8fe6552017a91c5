#include "sim/session/round_sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilesim::sim::session {
namespace {

using arch::base::Femtoseconds;
using arch::memory::port::MemoryTotals;

constexpr double kRounds = 41;
constexpr std::int64_t kPeriod = 1'000'003;
constexpr std::int64_t kLaunch = 700'001;   // before the first work
constexpr std::int64_t kLeaving = 250'007;  // of a round's results
constexpr std::int64_t kBytes = 4099;       // read in a round

// Rounds of equal length after a launch: the whole takes launch + rounds x period + leaving.
WholeRun sampled(double first_longer, double grows = 0) {
    std::int64_t read = 0;
    RoundSampler sampler(kRounds, [&read] {
        MemoryTotals totals;
        totals.bytes_read = read;
        return totals;
    });
    for (int step = 1; !sampler.enough() && step < 41 * 64; ++step) {
        const double done = step / 64.0;
        const double longer = std::min(done, 1.0) * first_longer + done * done / 2 * grows;
        const double time = kLaunch + (done + longer) * kPeriod;
        const double first = kLaunch + (1 + first_longer + grows / 2) * kPeriod;
        const double out = time >= first + kLeaving ? 1 : 0;
        read = static_cast<std::int64_t>(done * kBytes);
        sampler.note(Femtoseconds{static_cast<std::int64_t>(time)}, {done, out});
    }
    return sampler.whole();
}

TEST(RoundSampler, EqualRoundsAreExtrapolatedExactly) {
    const WholeRun run = sampled(0);
    const double whole = kLaunch + kRounds * kPeriod + kLeaving;
    EXPECT_NEAR(static_cast<double>(run.time.count()), whole, 0.02 * kPeriod);
    EXPECT_LT(run.simulated, 3.5);
    EXPECT_NEAR(static_cast<double>(run.memory.bytes_read), kRounds * kBytes, kBytes / 10.0);
    EXPECT_LT(run.error_percent, 1.2);
}

TEST(RoundSampler, ASlowFirstRoundDoesNotCountForTheRest) {
    const WholeRun run = sampled(0.5);
    const double whole = kLaunch + (kRounds + 0.5) * kPeriod + kLeaving;
    EXPECT_NEAR(static_cast<double>(run.time.count()) / whole, 1, 0.01);
    EXPECT_LT(run.simulated, 7);
}

TEST(RoundSampler, RoundsThatKeepGrowingSayHowFarTheyMayBeOff) {
    EXPECT_GT(sampled(0, 0.02).error_percent, 1);
}

TEST(RoundSampler, FewRoundsAreSimulated) {
    EXPECT_FALSE(RoundSampler::pays(0));
    EXPECT_FALSE(RoundSampler::pays(5));
    EXPECT_TRUE(RoundSampler::pays(kRounds));
}

}  // namespace
}  // namespace tilesim::sim::session
