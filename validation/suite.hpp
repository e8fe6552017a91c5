// Reference rows against the model: predicted, measured, error, and MAPE per suite.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "validation/bounds.hpp"
#include "validation/rows.hpp"

namespace tilesim::validation {

struct Summary {
    std::string group;
    std::string use;
    int rows = 0;
    double mape_percent = 0;
    double worst_percent = 0;  // largest absolute error
    std::string missed = {};   // the suite's target, where validate rows miss it
};

struct SuiteResult {
    std::vector<Row> rows;
    std::vector<Summary> summaries;
    bool within_targets = true;  // validate rows, mean and worst
    Bounds bounds;               // of the suite's file
    BoundsCheck check;           // of the rows against them
    std::string note;            // what a reader of the rows must know
};

std::vector<std::string> suite_names();
// One of `suite_names()`. Every row runs in a process of its own, `jobs` at a time. With `rows`,
// only those whose name holds the text.
SuiteResult run_suite(const std::string& suite, std::size_t jobs, const std::string& rows = {});
std::string bounds_file(const std::string& suite);
std::string residuals_file(const std::string& suite);

// The errors of the rows that are runs like those a user makes, for the bands of predictions;
// empty: there are none.
std::string residuals_csv(const SuiteResult& result);

std::string to_table(const SuiteResult& result);
std::string to_csv(const SuiteResult& result);
nlohmann::ordered_json to_json(const SuiteResult& result);

}  // namespace tilesim::validation
