// Scenarios of reference rows, as text.
#pragma once

#include <string>

#include "validation/rows.hpp"

namespace tilesim::validation {

// The output-stationary GEMM a row describes; `extra`: further lines of its mapping. Columns the
// row lacks are B by columns, one C buffer, overlapped descriptors.
std::string gemm_scenario(const Record& record, const std::string& extra);

}  // namespace tilesim::validation
