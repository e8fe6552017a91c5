// Runs that were measured: a CSV file, a run a line.
//
//     scenario,workload.gemm.M,mapping.output_stationary.k_mt,time_us
//     gemm.yaml,4096,432,4233.1
//
// `scenario` is a file beside the CSV file; every other column but the time sets the key it names
// (an empty field sets nothing). The time's column is time_ns, time_us, time_ms or time_s.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/batch.hpp"

namespace tilesim::sim::compare {

struct MeasuredRun {
    std::string name;  // "runs.csv:2"
    explore::Job job;
    double time_ns = 0;
};

// `scenario`: for files without such a column. Throws ConfigError with file and line.
std::vector<MeasuredRun> read_measured_runs(const std::string& file, const std::string& scenario);

}  // namespace tilesim::sim::compare
