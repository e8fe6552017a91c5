#include "workloads/default_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/candidate_search.hpp"

namespace tilesim::workloads {

namespace {

constexpr std::size_t kLookedAt = 400;
constexpr std::size_t kTried = 8;

double expectation(const Candidate& candidate) {
    return std::max(candidate.expected_ns, candidate.bound_ns());
}

}  // namespace

Choice best_expected(const Dataflow& dataflow, const Case& a_case, Runner& runner) {
    const std::vector<Candidate> candidates = dataflow.candidates(a_case);
    if (candidates.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("workload: no {} mapping fits this device and these types", dataflow.name()));
    }
    std::vector<const Candidate*> promising;
    for (const Candidate& candidate : candidates) {
        promising.push_back(&candidate);
    }
    const std::size_t looked_at = std::min(kLookedAt, candidates.size());
    std::partial_sort(promising.begin(), promising.begin() + static_cast<std::ptrdiff_t>(looked_at),
                      promising.end(), [](const Candidate* a, const Candidate* b) {
                          return expectation(*a) < expectation(*b);
                      });
    promising.resize(looked_at);
    CandidateSearch search(promising);
    const Candidate* best = promising.front();
    double least = 0;
    std::size_t tried = 0;
    for (; tried < kTried; ++tried) {
        const auto next = search.next(least);
        if (!next) {
            break;
        }
        Case part = a_case;
        part.mapping = promising[*next]->mapping;
        part.run.functional = false;
        part.run.sampled = true;
        if (least > 0) {  // what takes longer loses, and need not end
            part.run.max_time = std::min(
                part.run.max_time, arch::base::Femtoseconds{static_cast<std::int64_t>(
                                       least * kFemtosecondsPerNanosecond)});
        }
        const RunResult run = runner.run(part);
        if (run.status == Status::Ok && (least == 0 || run.time_ns < least)) {
            least = run.time_ns;
            best = promising[*next];
        }
        if (run.status == Status::Ok || run.status == Status::TimeLimit) {
            search.learn(*next, run.status == Status::Ok ? run.time_ns : least);
        }
    }
    return {best->mapping,
            fmt::format("no mapping given: chosen by simulating {} promising ones of {}, see "
                        "`mapping`",
                        tried, candidates.size())};
}

}  // namespace tilesim::workloads
