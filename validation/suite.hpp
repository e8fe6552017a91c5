// Reference rows against the model: predicted, measured, error, and MAPE per suite.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tilesim::validation {

struct Row {
    std::string id;  // "whole_array/xdna/int8/int16"
    std::string device;
    std::string unit;
    double measured = 0;
    double predicted = 0;
    std::string use;    // "calibrate" or "validate"
    std::string suite;  // "single_core", "whole_array"
    double error_percent() const { return (predicted / measured - 1.0) * 100.0; }
};

struct Summary {
    std::string suite;
    std::string use;
    int rows = 0;
    double mape_percent = 0;
    double worst_percent = 0;  // largest absolute error
};

struct SuiteResult {
    std::vector<Row> rows;
    std::vector<Summary> summaries;
    bool within_targets = true;  // validate rows: MAPE <= 2 %, none beyond 5 %
};

// `suite`: "npu". Every row runs in a process of its own, two at a time.
SuiteResult run_suite(const std::string& suite);

std::string to_table(const SuiteResult& result);
std::string to_csv(const SuiteResult& result);
nlohmann::ordered_json to_json(const SuiteResult& result);

}  // namespace tilesim::validation
