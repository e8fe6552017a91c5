#include "workloads/default_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/candidate_search.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads {

namespace {

constexpr std::size_t kLookedAt = 400;
constexpr std::size_t kTried = 8;
constexpr std::size_t kVariantsTried = 3;
constexpr std::size_t kRivalsTried = 4;

// How many times as many are tried: a small product takes a moment, and what is not its
// multiplications (tasks, the first blocks, C's way out), which no estimate knows well, is most of
// it.
std::size_t times_as_many(const Problem& problem) {
    constexpr double kSmallMacs = 1 << 26;
    constexpr double kMost = 5;
    const auto* gemm = problem.find<GemmProblem>();
    return gemm == nullptr
               ? 1
               : static_cast<std::size_t>(std::clamp(kSmallMacs / gemm->macs(), 1.0, kMost));
}

double expectation(const Candidate& candidate) {
    return std::max(candidate.expected_ns, candidate.bound_ns());
}

// The most promising `most` of them, the best first.
std::vector<const Candidate*> promising_of(const std::vector<Candidate>& candidates,
                                           std::size_t most) {
    std::vector<const Candidate*> promising;
    for (const Candidate& candidate : candidates) {
        promising.push_back(&candidate);
    }
    most = std::min(most, promising.size());
    std::partial_sort(
        promising.begin(), promising.begin() + static_cast<std::ptrdiff_t>(most), promising.end(),
        [](const Candidate* a, const Candidate* b) { return expectation(*a) < expectation(*b); });
    promising.resize(most);
    return promising;
}

// The fastest of the mappings tried.
class Trials {
  public:
    // `least_ns`: what there is to beat; 0: nothing.
    Trials(const Case& a_case, Runner& runner, double least_ns = 0)
        : case_(a_case), runner_(runner), least_ns_(least_ns) {}

    // Whether one of `most` of them is faster than all before.
    bool run(const std::vector<const Candidate*>& candidates, std::size_t most) {
        const double before_ns = least_ns_;
        CandidateSearch search(candidates);
        for (std::size_t i = 0; i < most; ++i) {
            const auto next = search.next(least_ns_);
            if (!next) {
                break;
            }
            if (const auto time_ns = time_of(*candidates[*next])) {
                search.learn(*next, *time_ns);
            }
        }
        return least_ns_ < before_ns;
    }

    const Mapping& best() const { return best_; }
    double least_ns() const { return least_ns_; }
    std::size_t tried() const { return tried_; }

  private:
    // What takes longer than the best loses, and need not end: it takes at least that. Nothing: it
    // cannot be run.
    std::optional<double> time_of(const Candidate& candidate) {
        Case part = case_;
        part.mapping = candidate.mapping;
        part.run.functional = false;
        part.run.sampled = true;
        if (least_ns_ > 0) {
            part.run.max_time =
                std::min(part.run.max_time, arch::base::Femtoseconds{static_cast<std::int64_t>(
                                                least_ns_ * kFemtosecondsPerNanosecond)});
        }
        RunResult run;
        try {
            run = runner_.run(part);
        } catch (const arch::base::config::ConfigError&) {
            return std::nullopt;  // the program's own checks refuse it
        }
        ++tried_;
        if (best_.empty()) {
            best_ = candidate.mapping;
        }
        if (run.status == Status::TimeLimit && least_ns_ > 0) {
            return least_ns_;
        }
        if (run.status != Status::Ok) {
            return std::nullopt;
        }
        if (least_ns_ == 0 || run.time_ns < least_ns_) {
            least_ns_ = run.time_ns;
            best_ = candidate.mapping;
        }
        return run.time_ns;
    }

    const Case& case_;
    Runner& runner_;
    Mapping best_;
    double least_ns_;
    std::size_t tried_ = 0;
};

}  // namespace

Choice best_expected(const Dataflow& dataflow, const Case& a_case, Runner& runner) {
    const std::vector<Candidate> candidates = dataflow.candidates(a_case);
    Trials trials(a_case, runner);
    const std::size_t times = times_as_many(a_case.problem);
    trials.run(promising_of(candidates, kLookedAt), times * kTried);
    if (trials.best().empty()) {
        throw arch::base::config::ConfigError(fmt::format(
            "workload: no {} mapping fits this device and these types", dataflow.name()));
    }
    // A small product may be better off on a part of the array, whose transfers are fewer.
    for (std::size_t better = times; better > 0; --better) {
        const std::vector<Candidate> variants = dataflow.variants(a_case, trials.best());
        if (!trials.run(promising_of(variants, variants.size()), times * kVariantsTried)) {
            break;
        }
    }
    return {trials.best(),
            fmt::format("no mapping given: chosen by simulating {} promising ones of {}, see "
                        "`mapping`",
                        trials.tried(), candidates.size()),
            trials.least_ns()};
}

std::optional<Choice> faster_of(const Dataflow& rival, const Choice& choice, const Case& a_case,
                                Runner& runner) {
    const std::vector<Candidate> candidates = rival.candidates(a_case);
    Trials trials(a_case, runner, choice.time_ns);
    if (!trials.run(promising_of(candidates, kLookedAt), kRivalsTried)) {
        return std::nullopt;
    }
    return Choice{trials.best(),
                  fmt::format("no mapping given: {}, faster than the best of {} found, see "
                              "`mapping`",
                              rival.name(), choice.mapping.dataflow().name()),
                  trials.least_ns()};
}

}  // namespace tilesim::workloads
