// How far a prediction may be off: what reference rows near it were off by.
//
// `tilesim validate SUITE --residuals` writes each row's error (validation/SUITE/residuals.csv);
// these files are read here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/result.hpp"

namespace tilesim::sim {

// A reference row: what ran, on what, and the error of its prediction.
struct Residual {
    std::string what;  // dataflow or kind of problem; where data lie, where that matters
    std::string device;
    std::string host;     // profile of the machine that launched it; empty: none of its own
    std::string types;    // "int8/int32": operands and result
    double macs = 0;      // 0: not known
    double error = 0;     // logarithm of measured over predicted time
    bool fitted = false;  // a parameter was set on it
    std::string suite = {};
};

struct Band {
    double low_ns = 0, high_ns = 0;  // nine of ten measurements lie between them
    std::int64_t rows = 0;           // it is from
    std::string far;                 // what about the run nothing was measured of; empty: nothing
};

// Rows of the shipped suites; read once.
const std::vector<Residual>& shipped_residuals();

// Of a time that was predicted; nothing where too few rows are of its kind.
std::optional<Band> band_of(const Residual& run, double time_ns,
                            const std::vector<Residual>& residuals);
std::optional<Band> band_of(const workloads::RunResult& result);

// The result's own description among residuals; its error is open.
Residual described(const workloads::RunResult& result);

}  // namespace tilesim::sim
