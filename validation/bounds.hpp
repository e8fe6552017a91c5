// How far each reference row may be from its measurement: what the model has reached, and a margin.
// A bound is only ever made tighter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validation/rows.hpp"

namespace tilesim::validation {

using Bounds = std::map<std::string, double>;  // row -> greatest absolute error, percent

// The error and a tenth of it, or 0.1 points where that is more; rounded up to 0.001.
double bound_for(double error_percent);

struct BoundsCheck {
    std::vector<std::string> broken;  // a line for each row too far off, or without a bound
    std::vector<std::string> loose;   // a line for each bound that could be tighter
};

BoundsCheck check(const Bounds& bounds, const std::vector<Row>& rows);

// The bounds of these rows, none of them looser than in `bounds`: a row that breaks its bound keeps
// it, until the model is repaired or an edit by hand says why not.
Bounds tightened(const Bounds& bounds, const std::vector<Row>& rows);

// From a file of lines `id,bound_percent`; no file: no bounds. Throws ConfigError, IoError.
Bounds read_bounds(const std::string& file);
// What is to be said of a file that has given none.
std::string why_no_bounds(const std::string& file);
std::string to_csv(const Bounds& bounds, const std::vector<Row>& rows);  // in the rows' order

}  // namespace tilesim::validation
