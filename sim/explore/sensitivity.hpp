// What a result depends on: every number of the device a little smaller and a little larger.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/explore/batch.hpp"

namespace tilesim::sim::explore {

struct Change {
    std::string value;
    std::string otherwise;               // tried where `value` cannot be built
    double ratio = 1;                    // of the value to that of the device
    double other_ratio = 1;              // of `otherwise`
    std::optional<double> time_percent;  // nothing where neither can
    bool differs = false;                // anything in the result but its bounds
    std::string refused;                 // why `value` cannot be built
};

struct Sensitivity {
    std::string key;    // "device.npu.clock"
    std::string value;  // as it is
    Change smaller, larger;
    std::vector<std::string> nearby;  // values too close to it to matter; none where it is coarse
    bool not_exercised = false;       // so says the run without a change
    double strength() const;          // the larger change, without its sign
    // By how many times as much the time changes as the number, at most, without its sign: doubling
    // a number that halves the time is as strong as 10 % that take 9 % off it.
    double elasticity() const;
};

struct SensitivityResult {
    double time_ns = 0;  // unchanged
    double percent = 0;
    // How far changes too small to matter move the time, beyond their share of what the full ones
    // do; nothing where no number can be changed by so little.
    std::optional<double> chance_percent;
    std::vector<Sensitivity> parameters;  // the strongest first

    bool by_chance(const Sensitivity& parameter) const;  // its effect is no larger than that
};

// Of all keys, or of these. From 100 % on a number is divided by what it is multiplied by: 100 is
// half and double. Throws ConfigError when the scenario does not run as it is.
SensitivityResult sensitivity(const Job& base, double percent, std::size_t processes,
                              const std::set<std::string>* only = nullptr);

std::string to_table(const SensitivityResult& result);
nlohmann::ordered_json to_json(const SensitivityResult& result);

}  // namespace tilesim::sim::explore
