// The model of a device as a function of some of its numbers, by simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/compare/fitted_parameter.hpp"
#include "sim/compare/least_squares.hpp"
#include "sim/compare/measured_runs.hpp"
#include "sim/explore/batch.hpp"

namespace tilesim::sim::compare {

using Values = std::vector<std::int64_t>;  // one a parameter, in its base unit

// Refers to what it is made of.
class Predictor {
  public:
    Predictor(const std::string& device, const std::vector<FittedParameter>& parameters,
              const std::vector<MeasuredRun>& runs, std::size_t processes)
        : device_(device), parameters_(parameters), runs_(runs), processes_(processes) {}

    // Logarithms of predicted over measured time, a row a run, for each of these values. Throws
    // ConfigError where a run is refused.
    std::vector<Vector> errors(const std::vector<Values>& all);

    // Nothing for values with which a run is refused.
    std::vector<std::optional<Vector>> errors_where_possible(const std::vector<Values>& all);

    double error(std::size_t run, const Values& values);

    std::int64_t simulations() const { return simulations_; }

  private:
    // All runs with each of these values.
    std::vector<explore::Simulated> simulated(const std::vector<Values>& all);
    Vector errors_of(const explore::Simulated* next, const Values& values) const;
    explore::Job job_of(const MeasuredRun& run, const Values& values) const;
    // What the fit has set otherwise than the device's file; empty: nothing.
    std::string tried(const Values& values) const;
    double error_of(const MeasuredRun& run, const explore::Simulated& simulated,
                    const Values& values) const;

    const std::string& device_;
    const std::vector<FittedParameter>& parameters_;
    const std::vector<MeasuredRun>& runs_;
    std::size_t processes_;
    std::int64_t simulations_ = 0;
};

}  // namespace tilesim::sim::compare
