#include "workloads/default_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tilesim::workloads {

namespace {

constexpr std::size_t kTried = 8;

double expectation(const Candidate& candidate) {
    return std::max(candidate.expected_ns, candidate.bound_ns());
}

}  // namespace

Choice best_expected(const Dataflow& dataflow, const Case& a_case, Runner& runner) {
    std::vector<Candidate> candidates = dataflow.candidates(a_case);
    if (candidates.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("workload: no {} mapping fits this device and these types", dataflow.name()));
    }
    const std::size_t all = candidates.size();
    const std::size_t tried = std::min(kTried, all);
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(tried),
                      candidates.end(), [](const Candidate& a, const Candidate& b) {
                          return expectation(a) < expectation(b);
                      });
    candidates.resize(tried);
    const Candidate* best = &candidates.front();
    double least = 0;
    for (const Candidate& candidate : candidates) {
        Case part = a_case;
        part.mapping = candidate.mapping;
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
            best = &candidate;
        }
    }
    return {best->mapping,
            fmt::format("no mapping given: chosen by simulating the {} most promising of {}, see "
                        "`mapping`",
                        tried, all)};
}

}  // namespace tilesim::workloads
