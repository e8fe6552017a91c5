#include "workloads/default_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/candidate_search.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads {

namespace {

constexpr std::size_t kLookedAt = 400;
constexpr double kTried = 10;
constexpr double kVariantsTried = 4;
constexpr double kRivalsTried = 6;
constexpr std::size_t kVariedTwice = 12;
constexpr std::size_t kSecondVariants = 120;
constexpr double kOpen = 0.02;  // of what a sampled run takes
constexpr double kDecided = 2;
// A product of no more multiply-accumulates is simulated whole: that takes a moment, and sampling
// leaves open as much of it as mappings differ by.
constexpr double kWholeMacs = 1LL << 28;

std::size_t rounded(double tries) {
    return static_cast<std::size_t>(std::llround(tries));
}

double expectation(const Candidate& candidate) {
    return std::max(candidate.expected_ns, candidate.bound_ns());
}

// The most promising `most` of them, the best first.
std::vector<Candidate> promising_of(std::vector<Candidate> candidates, std::size_t most) {
    most = std::min(most, candidates.size());
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most),
                      candidates.end(), [](const Candidate& a, const Candidate& b) {
                          return expectation(a) < expectation(b);
                      });
    candidates.resize(most);
    return candidates;
}

// The fastest of the mappings tried.
class Trials {
  public:
    // `to_beat_ns`: what another mapping takes; 0: there is none.
    Trials(const Case& a_case, Runner& runner, double to_beat_ns = 0)
        : case_(a_case),
          runner_(runner),
          search_({}),
          to_beat_ns_(to_beat_ns),
          least_ns_(to_beat_ns) {}

    // How many times as many are tried: a small case takes a moment, and what is not its
    // multiplications (tasks, the first blocks, C's way out), which no estimate knows well, is the
    // more of it the smaller it is. The fewer, the longer those so far were simulated.
    double times_as_many() const {
        constexpr double kSmallMacs = 1LL << 31;
        constexpr double kMost = 5;
        constexpr double kLightEvents = 100'000;
        constexpr double kLightWithoutMacs = 10'000;
        const double small =
            macs() > 0 ? std::clamp(std::sqrt(kSmallMacs / macs()), 1.0, kMost) : kMost;
        const double light = macs() > 0 ? kLightEvents : kLightWithoutMacs;
        const double each = events_ / std::max(1.0, static_cast<double>(tries_));
        return std::max(1.0, small / std::max(1.0, each / light));
    }

    // Those that are not among them yet are tried, too.
    void offer(std::vector<Candidate> candidates) {
        for (Candidate& each : candidates) {
            if (known_.insert(each.mapping.dataflow().describe(each.mapping).dump()).second) {
                search_.add(each, least_ns_);
                offered_.push_back(std::move(each.mapping));
            }
        }
    }

    // Whether one of `most()` more of those offered is faster than all before.
    bool run(const std::function<std::size_t()>& most) {
        const double before_ns = least_ns_;
        for (std::size_t i = 0; i < most(); ++i) {
            // Without multiplications most of a small case is what no estimate knows well.
            const auto next = macs() > 0 ? search_.next_likely(least_ns_) : search_.next(least_ns_);
            if (!next) {
                break;
            }
            try_out(*next);
        }
        return least_ns_ < before_ns;
    }

    // What sampling leaves open of a short run is more than mappings differ by: those that may be
    // the fastest are simulated whole, `most` of them. Whether what was to beat is beaten.
    bool decide(std::size_t most) {
        std::erase_if(tried_, [this](const Trial& trial) {
            return to_beat_ns_ > 0 && trial.time_ns - trial.open_ns >= to_beat_ns_;
        });
        if (tried_.empty()) {
            return false;
        }
        std::stable_sort(tried_.begin(), tried_.end(),
                         [](const Trial& a, const Trial& b) { return a.time_ns < b.time_ns; });
        const Trial& first = tried_.front();
        if (first.open_ns <= kOpen * first.time_ns) {
            return to_beat_ns_ == 0 || first.time_ns < to_beat_ns_;
        }
        const double most_ns = first.time_ns + first.open_ns;
        least_ns_ = to_beat_ns_;
        for (const Trial& trial : tried_) {
            if (trial.open_ns == 0) {
                take(trial.mapping, trial.time_ns);
            } else if (most > 0 && trial.time_ns - trial.open_ns < most_ns) {
                note_whole(trial.mapping);
                --most;
            }
        }
        return to_beat_ns_ == 0 || least_ns_ < to_beat_ns_;
    }

    const Mapping& best() const { return best_; }
    double least_ns() const { return least_ns_; }
    std::size_t tried() const { return tries_; }
    // Why the first of those that cannot be run cannot; empty: all can.
    const std::string& refusal() const { return refusal_; }

  private:
    struct Trial {
        Mapping mapping;
        double time_ns = 0;
        double open_ns = 0;  // as much longer or shorter it may be
    };

    // 0: it is no product.
    double macs() const {
        const auto* gemm = case_.problem.find<GemmProblem>();
        return gemm != nullptr ? gemm->macs() : 0;
    }

    // What takes longer than the best loses, and need not end. Nothing: it cannot be run.
    std::optional<RunResult> simulated(const Mapping& mapping, bool sampled) {
        Case part = case_;
        part.mapping = mapping;
        part.run.functional = false;
        part.run.sampled = sampled;
        if (least_ns_ > 0) {
            part.run.max_time =
                std::min(part.run.max_time, arch::base::Femtoseconds{static_cast<std::int64_t>(
                                                least_ns_ * kFemtosecondsPerNanosecond)});
        }
        try {
            return runner_.run(part);
        } catch (const arch::base::config::ConfigError& error) {
            refusal_ = refusal_.empty() ? error.what() : refusal_;
            return std::nullopt;  // the program's own checks refuse it
        }
    }

    void try_out(std::size_t index) {
        case_.run.check_host_time();
        const Mapping& mapping = offered_[index];
        const bool whole = macs() > 0 && macs() <= kWholeMacs;
        const std::optional<RunResult> run = simulated(mapping, !whole);
        if (!run) {
            return;
        }
        ++tries_;
        events_ += static_cast<double>(run->events);
        if (best_.empty()) {
            best_ = mapping;
        }
        if (run->status == Status::TimeLimit && least_ns_ > 0) {
            search_.learn_at_least(index, least_ns_);
        }
        if (run->status != Status::Ok) {
            return;
        }
        search_.learn(index, run->time_ns);
        const double open = run->sampled ? run->sampled->error_percent / arch::base::kPercent : 0;
        tried_.push_back({mapping, run->time_ns, open * run->time_ns});
        take(mapping, run->time_ns);
    }

    void note_whole(const Mapping& mapping) {
        const std::optional<RunResult> run = simulated(mapping, false);
        if (run && run->status == Status::Ok) {
            take(mapping, run->time_ns);
        }
    }

    void take(const Mapping& mapping, double time_ns) {
        if (least_ns_ == 0 || time_ns < least_ns_) {
            least_ns_ = time_ns;
            best_ = mapping;
        }
    }

    const Case& case_;
    Runner& runner_;
    CandidateSearch search_;
    std::set<std::string> known_;
    std::vector<Mapping> offered_;
    Mapping best_;
    double to_beat_ns_;
    double least_ns_;
    std::vector<Trial> tried_;
    std::string refusal_;
    std::size_t tries_ = 0;
    double events_ = 0;  // of all their simulations
};

// What differs in one key from the fastest so far, and in two where one of them is promising: a
// larger tile may need a shorter block, another half of the array a buffer more.
void vary(const Dataflow& dataflow, const Case& a_case, Trials& trials) {
    std::vector<Candidate> near = dataflow.variants(a_case, trials.best());
    std::vector<Candidate> further;
    for (const Candidate& each : promising_of(near, kVariedTwice)) {
        for (Candidate& second : dataflow.variants(a_case, each.mapping)) {
            further.push_back(std::move(second));
        }
    }
    trials.offer(std::move(near));
    trials.offer(promising_of(std::move(further), kSecondVariants));
}

// A small product may be better off on a part of the array, whose transfers are fewer; that is
// several steps away, of which the next is taken where the last one helped.
void climb(const Dataflow& dataflow, const Case& a_case, Trials& trials) {
    const double times = trials.times_as_many();
    for (std::size_t better = rounded(times * times); better > 0; --better) {
        vary(dataflow, a_case, trials);
        if (!trials.run([&] { return rounded(times * times * kVariantsTried); })) {
            return;
        }
    }
}

}  // namespace

Choice best_expected(const Dataflow& dataflow, const Case& a_case, Runner& runner,
                     const std::function<std::string()>& why) {
    std::vector<Candidate> candidates = dataflow.candidates(a_case);
    Trials trials(a_case, runner);
    const std::size_t count = candidates.size();
    trials.offer(promising_of(std::move(candidates), kLookedAt));
    trials.run([&] { return rounded(trials.times_as_many() * kTried); });
    if (trials.best().empty()) {
        // Where every candidate's program is refused, the mappings as such may well fit.
        const std::string reason = !trials.refusal().empty() ? trials.refusal() : why ? why() : "";
        const bool free = a_case.mapping.empty();
        throw arch::base::config::ConfigError(
            fmt::format("{}: no {} mapping{} fits this device, these types and this size{}{}",
                        free ? "workload" : "mapping", dataflow.name(),
                        free ? "" : " with what it states", reason.empty() ? "" : ": ", reason));
    }
    climb(dataflow, a_case, trials);
    trials.decide(rounded(trials.times_as_many() * kDecided));
    return {trials.best(),
            fmt::format(
                "{} chosen by simulating {} promising ones of {}, see `mapping`",
                a_case.mapping.empty() ? "no mapping given:" : "what the mapping does not state is",
                trials.tried(), count),
            trials.least_ns()};
}

Choice fastest_of(std::vector<Candidate> candidates, const Case& a_case, Runner& runner) {
    Trials trials(a_case, runner);
    const std::size_t count = candidates.size();
    const Mapping expected = candidates.front().mapping;
    trials.offer(std::move(candidates));
    trials.run([count] { return count; });
    trials.decide(count);
    return {trials.best().empty() ? expected : trials.best(),
            fmt::format("no mapping given: the fastest of {} expected to be, see `mapping`", count),
            trials.least_ns()};
}

std::optional<Choice> faster_of(const Dataflow& rival, const Choice& choice, const Case& a_case,
                                Runner& runner) {
    Trials trials(a_case, runner, choice.time_ns);
    trials.offer(promising_of(rival.candidates(a_case), kLookedAt));
    if (trials.run([&] { return rounded(trials.times_as_many() * kRivalsTried); })) {
        climb(rival, a_case, trials);
    }
    if (!trials.decide(rounded(trials.times_as_many() * kDecided))) {
        return std::nullopt;
    }
    return Choice{trials.best(),
                  fmt::format("no mapping given: {}, faster than the best of {} found, see "
                              "`mapping`",
                              rival.name(), choice.mapping.dataflow().name()),
                  trials.least_ns()};
}

}  // namespace tilesim::workloads
