// `tilesim compare`: a measurement against its prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilesim::sim::compare {

struct CompareArguments {
    std::string file;
    std::vector<std::string> settings;
    std::string against;
    std::string format = "table";
    std::string html;                          // a page with the timelines; empty: none
    double tolerance = 5;                      // percent
    std::optional<std::int64_t> column_shift;  // left out: found from the trace
};

// Prints how far they are apart, and where; returns the exit code.
int compare(const CompareArguments& arguments);

}  // namespace tilesim::sim::compare
