// A number of a device that is fitted to measured runs, and the range it may have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/quantity.hpp"

namespace tilesim::sim::compare {

struct FittedParameter {
    std::string key;  // of the device: "fabric.request_latency"
    const arch::base::config::Dimension* dimension = nullptr;  // none: an integer
    std::int64_t before = 0, value = 0;                        // in the base unit
    std::int64_t least = 0, most = 0;                          // it may become
    double sensitivity = 0;    // mean change of time for a change of it, percent a percent
    double known_percent = 0;  // one standard deviation, by the errors left and those beside it

    std::string text(std::int64_t count) const;
    // The value so far by its logarithm from another, in three digits and within the range.
    std::int64_t moved(std::int64_t from, double logarithm) const;
    // The same, but at least by a digit.
    std::int64_t beside(std::int64_t from, double logarithm) const;
};

// "KEY=LEAST..MOST", or "KEY": a third of its value to three times that. None: the parameters whose
// comment in the device's file says they are calibrated. Throws ConfigError.
std::vector<FittedParameter> parameters_of(const std::string& device,
                                           const std::vector<std::string>& wanted);

}  // namespace tilesim::sim::compare
