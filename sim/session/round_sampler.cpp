#include "sim/session/round_sampler.hpp"

#include <algorithm>
#include <cmath>

#include "arch/base/units.hpp"

namespace tilesim::sim::session {

namespace {

constexpr std::size_t kParts = 16;  // marks a round
using arch::base::kPercent;
// Of many rounds this share is simulated, three at least: what differs from round to round evens out.
constexpr double kShare = 1.0 / 20;
constexpr double kFewestRounds = 3;
// Rounds that still change by more than this are followed further, but not for ever.
constexpr double kSettled = 0.004;
constexpr double kMostUnsettled = 6;
// What one round differs from the mean by, where no more were seen: addresses, refreshes.
constexpr double kAlikePercent = 1.2;

}  // namespace

void RoundSampler::note(arch::base::Femtoseconds now, const workloads::Rounds& at) {
    while (at.done * kParts >= static_cast<double>(marks_.size() + 1)) {
        marks_.push_back({now, totals_()});
    }
    if (!first_delivered_ && at.delivered >= 1) {
        first_delivered_ = now;
    }
}

// Mean length of the last `rounds` that end with this mark.
double RoundSampler::period_to(std::size_t mark, std::size_t rounds) const {
    return (time_at(mark) - time_at(mark - rounds * kParts)) / static_cast<double>(rounds);
}

double RoundSampler::simulated() const {
    return static_cast<double>(marks_.size()) / kParts;
}

// Whole rounds after the first quarter of the second, when the first is out of the way.
std::size_t RoundSampler::settled_rounds() const {
    constexpr double kStart = 1.25;
    return std::max<std::size_t>(1, static_cast<std::size_t>(simulated() - kStart));
}

// By how much a round that ends now differs from one that ended half a round ago.
double RoundSampler::drift() const {
    const std::size_t last = marks_.size() - 1;
    return std::abs(period_to(last, 1) - period_to(last - kParts / 2, 1)) / period_to(last, 1);
}

bool RoundSampler::enough() const {
    if (!first_delivered_ || simulated() < std::max(kFewestRounds, kShare * rounds_)) {
        return false;
    }
    return settled_rounds() > 2 || drift() <= kSettled || simulated() >= kMostUnsettled;
}

// Mean over the windows that end in the last quarter of a round: where in it the run was cut does
// not matter much.
double RoundSampler::period() const {
    const std::size_t last = marks_.size() - 1;
    double sum = 0;
    for (std::size_t back = 0; back < kParts / 4; ++back) {
        sum += period_to(last - back, settled_rounds());
    }
    return sum / (kParts / 4);
}

// Of the period: what is seen of it where several rounds were, else what is usual and the drift.
double RoundSampler::period_error_percent() const {
    const std::size_t rounds = settled_rounds();
    if (rounds <= 2) {
        return kAlikePercent + kPercent * drift();
    }
    const std::size_t last = marks_.size() - 1;
    const double mean = period_to(last, rounds);
    double squares = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        const double off = period_to(last - round * kParts, 1) / mean - 1;
        squares += off * off;
    }
    const auto count = static_cast<double>(rounds);
    constexpr double kSure = 2;  // standard deviations of a mean
    constexpr double kGrainPercent = 0.3;
    return kGrainPercent +
           kSure * kPercent * std::sqrt(squares / (count - 1)) / std::sqrt(count);
}

WholeRun RoundSampler::whole() const {
    const std::size_t last = marks_.size() - 1;
    WholeRun run;
    run.simulated = simulated();
    const double left = rounds_ - run.simulated;
    const double leaving = static_cast<double>(first_delivered_->count()) - time_at(kParts - 1);
    const double time = time_at(last) + left * period() + leaving;
    run.time = arch::base::Femtoseconds{static_cast<std::int64_t>(time)};
    run.error_percent = period_error_percent() * left * period() / time;
    const auto rounds = static_cast<double>(settled_rounds());
    const auto& before = marks_[last - settled_rounds() * kParts].memory;
    const auto& now = marks_[last].memory;
    using Sums = arch::memory::port::MemoryTotals;
    for (std::int64_t Sums::*const each :
         {&Sums::bytes_requested, &Sums::bytes_read, &Sums::bytes_written, &Sums::row_hits,
          &Sums::bursts, &Sums::activates, &Sums::refreshes}) {
        run.memory.*each =
            now.*each +
            std::llround(static_cast<double>(now.*each - before.*each) / rounds * left);
    }
    // What is read ahead of its round, and written after it, counts once.
    const double a_round =
        static_cast<double>(now.bytes_read + now.bytes_written - before.bytes_read -
                            before.bytes_written) /
        rounds;
    const auto all = static_cast<double>(run.memory.bytes_read + run.memory.bytes_written);
    run.memory_error_percent = all > 0 ? kAlikePercent + kPercent * a_round / all : 0;
    return run;
}

}  // namespace tilesim::sim::session
