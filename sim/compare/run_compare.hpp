// Measured runs that differ in keys, each beside the prediction of a run with these keys.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/compare/measured_runs.hpp"

namespace tilesim::sim::compare {

// Whether a CSV file's columns name keys or scenarios: its lines are then runs of their own, not
// repetitions of one.
bool sets_keys(const std::string& text);

struct RunComparison {
    struct Row {
        std::string name;  // "runs.csv:2"
        double measured_ns = 0;
        double predicted_ns = 0;
        std::string problem;  // why there is no prediction

        double error_percent() const;
    };
    std::vector<Row> rows;

    bool complete() const;
    bool any_predicted() const;
    double mean_error_percent() const;
    double worst_error_percent() const;
};

// Simulates each run.
RunComparison compare_runs(const std::vector<MeasuredRun>& runs, std::size_t processes);

std::string to_table(const RunComparison& comparison);
nlohmann::ordered_json to_json(const RunComparison& comparison);

}  // namespace tilesim::sim::compare
