#include "sim/session/round_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "arch/base/units.hpp"

namespace tilesim::sim::session {

namespace {

constexpr std::size_t kParts = 16;  // marks a round
using arch::base::kPercent;
// The earliest looks, a quarter or half of a round apart: whether all stretches of a round that end
// in the last quarter take about the same. The first begin right after the launch, while results of
// the round before are not yet on their way, so the sooner the look the more alike they have to be.
// Only where launching takes no longer than a round: with shorter ones, the first few work on what
// was read meanwhile.
struct EarlyLook {
    std::size_t marks;  // seen by then
    std::size_t first;  // part of a round a stretch begins at
    double spread_percent;
};
constexpr EarlyLook kEarlyLooks[] = {
    {5 * kParts / 4, 1, 0.5}, {6 * kParts / 4, kParts / 4, 0.5}, {7 * kParts / 4, kParts / 2, 1}};
constexpr double kLongestFirst = 2;  // rounds' time, launch included
// Of fewer rounds launch and end are so much that a little more is simulated: the last early look.
constexpr double kManyRounds = 16;
// Looked at every half round from here on: the first round is out of the way, and one and a half
// have followed it.
constexpr std::size_t kFirstLook = 5 * kParts / 2;
// Stretches of a round, wherever they begin, that differ by no more are all alike.
constexpr double kCalmPercent = 1;
// The mean of several rounds is taken when this is known of the whole.
constexpr double kWantedPercent = 1;
constexpr double kSure = 2;  // standard deviations of a mean
// Rounds that swing so widely for so long follow two cycles that meet, rows of C and banks: how
// that goes on is not seen from a part of it.
constexpr double kWidePercent = 6;
constexpr std::size_t kLongWave = 16;
// Rounds not seen differ at least so much from those seen: refreshes, rows of the DRAM.
constexpr double kGrainPercent = 0.5;

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double swing_percent(const std::vector<double>& lengths) {
    const double mean = mean_of(lengths);
    double squares = 0;
    for (const double length : lengths) {
        squares += std::pow(kPercent * (length / mean - 1), 2);
    }
    return std::sqrt(squares / static_cast<double>(lengths.size()));
}

}  // namespace

bool RoundSampler::note(arch::base::Femtoseconds now, const workloads::Rounds& at) {
    const std::size_t before = marks_.size();
    while (at.done * kParts >= static_cast<double>(marks_.size() + 1)) {
        marks_.push_back({now, totals_()});
        if (marks_.size() < kFirstLook) {
            stride_ = stride_ ? stride_ : lasting(early_stride());
        } else if (marks_.size() % (kParts / 2) == 0) {
            stride_ = lasting(calm_stride());
            if (!stride_) {
                stride_ = lasting(repeated_stride());
            }
        }
    }
    behind_ = at.done - at.delivered;
    if (!first_delivered_ && at.delivered >= 1) {
        first_delivered_ = now;
    }
    return marks_.size() > before;
}

// Rounds that are faster than their results can leave fill buffers on the way, and will slow down.
std::optional<RoundSampler::Stride> RoundSampler::lasting(
    const std::optional<Stride>& stride) const {
    constexpr double kOfMean = 0.95;  // rows of these addresses may need a little less
    const bool lasts =
        stride && stride->period >= kOfMean * static_cast<double>(least_period_.count());
    return lasts ? stride : std::nullopt;
}

double RoundSampler::simulated() const {
    return static_cast<double>(marks_.size()) / kParts;
}

// Of long rounds, before the second has ended.
std::optional<RoundSampler::Stride> RoundSampler::early_stride() const {
    const auto* look =
        std::find_if(std::begin(kEarlyLooks), std::end(kEarlyLooks),
                     [this](const EarlyLook& each) { return each.marks == marks_.size(); });
    if (look == std::end(kEarlyLooks) ||
        (rounds_ < kManyRounds && std::next(look) != std::end(kEarlyLooks))) {
        return std::nullopt;
    }
    const std::optional<Stride> stride = stride_after(look->first, look->spread_percent);
    return stride && time_at(kParts - 1) <= kLongestFirst * stride->period ? stride : std::nullopt;
}

// Of the first rounds after the first.
std::optional<RoundSampler::Stride> RoundSampler::calm_stride() const {
    if (marks_.size() >= 3 * kParts) {
        return std::nullopt;  // whole rounds tell more
    }
    return stride_after(kParts, kCalmPercent);
}

// When every stretch as long as a round, from this part on, takes about the same.
std::optional<RoundSampler::Stride> RoundSampler::stride_after(std::size_t part,
                                                               double spread_percent) const {
    std::vector<double> lengths;
    for (std::size_t mark = part + kParts - 1; mark < marks_.size(); ++mark) {
        lengths.push_back(time_at(mark) - time_at(mark - kParts));
    }
    const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
    const double mean = mean_of(lengths);
    const double spread = kPercent * (*most - *least) / mean;
    if (spread > spread_percent) {
        return std::nullopt;
    }
    return Stride{mean, 1 + spread / 2, 1};
}

// Of the whole rounds that end now: patterns of one, two, ... rounds, each seen twice.
std::optional<RoundSampler::Stride> RoundSampler::repeated_stride() const {
    std::vector<double> lengths;  // the last first
    for (std::size_t end = marks_.size() - 1; end + 1 >= 2 * kParts; end -= kParts) {
        lengths.push_back(time_at(end) - time_at(end - kParts));
    }
    if (lengths.size() >= kLongWave && swing_percent(lengths) > kWidePercent) {
        return std::nullopt;
    }
    std::optional<Stride> best;
    const auto consider = [&best](const std::optional<Stride>& stride) {
        if (stride && (!best || stride->error_percent < best->error_percent)) {
            best = stride;
        }
    };
    for (std::size_t pattern = 1; 2 * pattern <= lengths.size(); ++pattern) {
        consider(stride_over(lengths, pattern));
    }
    if (lengths.size() >= 3) {  // the second round may still be of another kind
        lengths.pop_back();
        consider(stride_over(lengths, 1));
    }
    if (!best || best->error_percent * share_left() > kWantedPercent) {
        return std::nullopt;
    }
    return best;
}

// The error is that of a mean of rounds, each of which differs from the one a pattern before.
std::optional<RoundSampler::Stride> RoundSampler::stride_over(const std::vector<double>& lengths,
                                                              std::size_t pattern) const {
    const std::size_t rounds = lengths.size() / pattern * pattern;
    if (rounds < 2 * pattern) {
        return std::nullopt;
    }
    const double mean =
        std::accumulate(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(rounds),
                        0.0) /
        static_cast<double>(rounds);
    double squares = 0;
    for (std::size_t i = 0; i + pattern < lengths.size(); ++i) {
        const double off = kPercent * (lengths[i] - lengths[i + pattern]) / mean;
        squares += off * off / 2;
    }
    const auto compared = static_cast<double>(lengths.size() - pattern);
    double about_mean = 0;  // slow changes differ little from one round to the next
    if (pattern == 1) {
        for (const double length : lengths) {
            about_mean += std::pow(kPercent * (length / mean - 1), 2);
        }
    }
    // Few comparisons say little.
    const double variance =
        std::max({squares / compared, about_mean / compared, kGrainPercent * kGrainPercent}) *
        (1 + 2 / compared);
    constexpr double kFound = 1.3;  // a pattern that was looked for
    return Stride{
        mean,
        (pattern > 1 ? kFound : 1) * kSure * std::sqrt(variance / static_cast<double>(rounds)),
        rounds};
}

// The last results leave with no reads beside them: sooner than the first, which had; not sooner
// than their streams move them.
RoundSampler::Leaving RoundSampler::leaving() const {
    const auto least = static_cast<double>(least_leaving_.count());
    const double first = first_delivered_
                             ? static_cast<double>(first_delivered_->count()) - time_at(kParts - 1)
                             : 2 * least;
    if (least == 0) {
        return {first, 0};
    }
    // Results that leave more slowly than they are made wait in buffers: of the round that is on
    // its way about half is left. Without reads they leave at something between a period and least.
    if (const double waiting = behind_ - 0.5; waiting > 1) {
        return {waiting * (stride_->period + least) / 2,
                waiting * std::abs(stride_->period - least) / 2};
    }
    constexpr double kMore = 1.7;  // of the least, that the memory may take beyond it
    return {std::clamp(first, least, 2 * least), kMore * least};
}

// Femtoseconds that as many rounds take from the last mark on: what is more than whole ones goes
// as it did a round before.
double RoundSampler::time_of(double rounds) const {
    const double whole = std::floor(rounds);
    const double marks = (rounds - whole) * kParts;
    const auto from = marks_.size() - 1 - kParts;
    const auto to = from + static_cast<std::size_t>(marks);
    const double within = marks - std::floor(marks);
    return whole * stride_->period + time_at(to) - time_at(from) +
           within * (time_at(to + 1) - time_at(to));
}

WholeRun RoundSampler::whole() const {
    const std::size_t last = marks_.size() - 1;
    WholeRun run;
    run.simulated = simulated();
    const double left = rounds_ - run.simulated;
    const Leaving out = leaving();
    const double time = time_at(last) + time_of(left) + out.time;
    run.time = arch::base::Femtoseconds{static_cast<std::int64_t>(time)};
    // Rounds that are compared until they agree may do so by chance, and some things come about
    // later only: as much as lets what is stated hold of 95 in 100 points of two seeds (77, 78) of
    // validation/sampling_test.py; its table has those of another.
    constexpr double kAgreed = 1.5;
    constexpr double kBeyond = 0.8;
    const bool compared = stride_->rounds > 1;
    run.error_percent =
        ((compared ? kAgreed : 1) * stride_->error_percent + kBeyond) * share_left() +
        kPercent * out.error / time;
    const auto rounds = static_cast<double>(stride_->rounds);
    const auto& before = marks_[last - stride_->rounds * kParts].memory;
    const auto& now = marks_[last].memory;
    using Sums = arch::memory::port::MemoryTotals;
    for (std::int64_t Sums::*const each :
         {&Sums::bytes_requested, &Sums::bytes_read, &Sums::bytes_written, &Sums::row_hits,
          &Sums::bursts, &Sums::activates, &Sums::refreshes}) {
        run.memory.*each =
            now.*each + std::llround(static_cast<double>(now.*each - before.*each) / rounds * left);
    }
    // What is read ahead of its round, and written after it, counts once.
    constexpr double kAlikePercent = 1.2;  // what one round differs from the mean by
    const double a_round = static_cast<double>(now.bytes_read + now.bytes_written -
                                               before.bytes_read - before.bytes_written) /
                           rounds;
    const auto all = static_cast<double>(run.memory.bytes_read + run.memory.bytes_written);
    run.memory_error_percent = all > 0 ? kAlikePercent + kPercent * a_round / all : 0;
    // Rows are opened as addresses meet, and later rounds have others: what lets it hold of 45 in
    // 47 points like those of validation/sampling_test.py.
    constexpr double kOtherRowsPercent = 20;
    run.activates_error_percent =
        all > 0 ? run.memory_error_percent + kOtherRowsPercent * share_left() : 0;
    return run;
}

}  // namespace tilesim::sim::session
