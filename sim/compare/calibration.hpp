// A device's parameters fitted to runs that were measured on it.
//
// Gauss-Newton on the logarithms: the errors are relative, the parameters positive. Derivatives are
// differences of simulations. What the runs cannot tell is refused before anything is fitted.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/compare/fitted_parameter.hpp"
#include "sim/compare/measured_runs.hpp"

namespace tilesim::sim::compare {

struct CalibratedRun {
    std::string name;
    double measured_ns = 0;
    double before_percent = 0, after_percent = 0;  // errors of the prediction
    double left_out_percent = 0;                   // fitted without this run
};

struct Calibration {
    std::string device;
    std::vector<FittedParameter> parameters;
    std::vector<CalibratedRun> runs;
    std::int64_t simulations = 0;

    double mean_error(double CalibratedRun::*which) const;
};

// Throws ConfigError where the runs cannot tell the parameters, with the reason.
Calibration calibrate(const std::string& device, std::vector<FittedParameter> parameters,
                      const std::vector<MeasuredRun>& runs, std::size_t processes);

std::string to_table(const Calibration& calibration);
nlohmann::ordered_json to_json(const Calibration& calibration);

// Where the memory of a device goes whose file is this.
std::string memory_file_beside(const std::string& file);
// Writes the device's file with the new values, and beside it that of its memory where one of those
// is in there.
void write_device(const Calibration& calibration, const std::string& against,
                  const std::string& file);

}  // namespace tilesim::sim::compare
