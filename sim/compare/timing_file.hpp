// Measured run times: a CSV file of runs, or what XRT and mlir-aie host programs print.
#pragma once

#include <string>
#include <vector>

namespace tilesim::sim::compare {

struct Timing {
    std::vector<double> runs_ns;     // one a repetition
    std::string device;              // empty where the file does not say
    std::vector<std::string> notes;  // columns that say nothing about the time: "run", "comment"
};

// CSV: a header with a time column (time_ns, time_us, time_ms or time_s), perhaps `device`. Text:
// lines like "Avg NPU time: 512.5us." or "NPU time: 512us". Throws ConfigError when it is neither.
Timing parse_timing(const std::string& text, const std::string& file);

double median(std::vector<double> values);

}  // namespace tilesim::sim::compare
