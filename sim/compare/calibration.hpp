// A device's parameters fitted to runs that were measured on it.
//
// Gauss-Newton on the logarithms: the errors are relative, the parameters positive. Derivatives are
// differences of simulations. What the runs cannot tell is refused before anything is fitted.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/base/quantity.hpp"
#include "sim/compare/measured_runs.hpp"

namespace tilesim::sim::compare {

struct FittedParameter {
    std::string key;  // of the device: "fabric.request_latency"
    const arch::base::config::Dimension* dimension = nullptr;  // none: an integer
    std::int64_t before = 0, value = 0;                        // in the base unit
    std::int64_t least = 0, most = 0;                          // it may become
    double sensitivity = 0;    // mean change of time for a change of it, percent a percent
    double known_percent = 0;  // one standard deviation, by the errors left and those beside it

    std::string text(std::int64_t count) const;
};

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

// "KEY=LEAST..MOST", or "KEY": a third of its value to three times that. None: the parameters whose
// comment in the device's file says they are calibrated. Throws ConfigError.
std::vector<FittedParameter> parameters_of(const std::string& device,
                                           const std::vector<std::string>& wanted);

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
