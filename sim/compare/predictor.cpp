#include "sim/compare/predictor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "arch/base/config.hpp"

namespace tilesim::sim::compare {

using arch::base::config::ConfigError;

std::vector<Vector> Predictor::errors(const std::vector<Values>& all) {
    const std::vector<explore::Simulated> done = simulated(all);
    std::vector<Vector> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
        result.push_back(errors_of(&done[i * runs_.size()], all[i]));
    }
    return result;
}

std::vector<std::optional<Vector>> Predictor::errors_where_possible(
    const std::vector<Values>& all) {
    const std::vector<explore::Simulated> done = simulated(all);
    std::vector<std::optional<Vector>> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto* first = &done[i * runs_.size()];
        const bool possible =
            std::all_of(first, first + runs_.size(), [](const auto& each) { return each.good(); });
        result.push_back(possible ? std::optional{errors_of(first, all[i])} : std::nullopt);
    }
    return result;
}

double Predictor::error(std::size_t run, const Values& values) {
    ++simulations_;
    return error_of(runs_[run], explore::simulate_all({job_of(runs_[run], values)}, 1)[0], values);
}

std::vector<explore::Simulated> Predictor::simulated(const std::vector<Values>& all) {
    std::vector<explore::Job> jobs;
    for (const Values& values : all) {
        for (const MeasuredRun& run : runs_) {
            jobs.push_back(job_of(run, values));
        }
    }
    simulations_ += static_cast<std::int64_t>(jobs.size());
    return explore::simulate_all(jobs, processes_);
}

Vector Predictor::errors_of(const explore::Simulated* next, const Values& values) const {
    Vector column;
    for (const MeasuredRun& run : runs_) {
        column.push_back(error_of(run, *next++, values));
    }
    return column;
}

explore::Job Predictor::job_of(const MeasuredRun& run, const Values& values) const {
    explore::Job job = run.job;
    job.overrides.emplace_back("device", device_);
    for (std::size_t i = 0; i < values.size(); ++i) {
        job.overrides.emplace_back("device." + parameters_[i].key, parameters_[i].text(values[i]));
    }
    return job;
}

std::string Predictor::tried(const Values& values) const {
    std::vector<std::string> set;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != parameters_[i].before) {
            set.push_back(fmt::format("{}={}", parameters_[i].key, parameters_[i].text(values[i])));
        }
    }
    return set.empty() ? ""
                       : fmt::format(
                             "the fit tried {} (a range keeps it from there: --fit "
                             "KEY=LEAST..MOST): ",
                             fmt::join(set, ", "));
}

double Predictor::error_of(const MeasuredRun& run, const explore::Simulated& simulated,
                           const Values& values) const {
    if (!simulated.good()) {
        throw ConfigError(fmt::format("{}: {}{}: {}", run.name, tried(values), simulated.status,
                                      simulated.error));
    }
    return std::log(simulated.result["time_ns"].get<double>() / run.time_ns);
}

}  // namespace tilesim::sim::compare
