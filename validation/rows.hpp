// Reference rows as tasks: what was measured, and how to predict it.
#pragma once

#include <functional>
#include <map>
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
    std::string group;  // rows summed up together: "single_core", "whole_array"
    double error_percent() const { return (predicted / measured - 1.0) * 100.0; }
};

struct Task {
    Row row;
    std::vector<std::function<double()>> parts;  // each called in a process of its own
    // The prediction from the parts' values; by default the first.
    std::function<double(const std::vector<double>&)> combine = [](const auto& values) {
        return values.front();
    };
};

using Record = std::map<std::string, std::string>;  // column -> value of a CSV line

// Lines after the header; empty ones and those that begin with # are left out. Throws IoError.
std::vector<Record> read_csv(const std::string& file);

// Each suite's rows, from the CSV files in `folder`.
std::vector<Task> npu_tasks(const std::string& folder);
std::vector<Task> memory_tasks(const std::string& folder);
std::vector<Task> pim_tasks(const std::string& folder);
std::vector<Task> amx_tasks(const std::string& folder);
std::vector<Task> gpt2_tasks(const std::string& folder);
std::vector<Task> versal_tasks(const std::string& folder);

}  // namespace tilesim::validation
