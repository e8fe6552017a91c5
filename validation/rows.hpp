// Reference rows as tasks: what was measured, and how to predict it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tilesim::validation {

// What ran, where a row is a run whose time others like it tell: sim/band.hpp.
struct RowKind {
    std::string what;  // as sim::Residual has it; empty: no such run
    std::string types = {};
    double macs = 0;
    bool rate = true;  // the value grows as the time shrinks
    std::string host = {};
};

struct Row {
    std::string id;  // "whole_array/xdna/int8/int16"
    std::string device;
    std::string unit;
    double measured = 0;
    double predicted = 0;
    std::string use;    // "calibrate" or "validate"
    std::string group;  // rows summed up together: "single_core", "whole_array"
    RowKind kind = {};
    double error_percent() const {
        constexpr double kAll = 100.0;
        if (measured == 0) {  // counts: nothing or something
            return predicted == 0 ? 0 : kAll;
        }
        return (predicted / measured - 1.0) * kAll;
    }
};

struct Task {
    Row row;
    std::vector<std::function<double()>> parts;  // each called in a process of its own
    // The prediction from the parts' values; by default the first.
    std::function<double(const std::vector<double>&)> combine = [](const auto& values) {
        return values.front();
    };
};

// A line of a CSV file, by the names of its columns. What is not as asked for is a ConfigError that
// names the line.
class Record {
  public:
    Record() = default;
    Record(std::string place, std::map<std::string, std::string> fields)
        : place_(std::move(place)), fields_(std::move(fields)) {}

    const std::string& place() const { return place_; }
    bool contains(const std::string& column) const { return fields_.contains(column); }
    const std::string& at(const std::string& column) const;
    double number(const std::string& column) const;
    std::int64_t integer(const std::string& column) const;
    void set(const std::string& column, std::string value) { fields_[column] = std::move(value); }

  private:
    std::string place_;  // "rows.csv:7:1"
    std::map<std::string, std::string> fields_;
};

double product_of(const Record& record, std::initializer_list<const char*> columns);

// Lines after the header; empty ones and those that begin with # are left out. Throws IoError, and
// ConfigError of a line with more or fewer fields than the header.
std::vector<Record> read_csv(const std::string& file);

// Each suite's rows, from the CSV files in `folder`.
std::vector<Task> npu_tasks(const std::string& folder);
std::vector<Task> npu_design_tasks(const std::string& folder);
std::vector<Task> npu_ablation_tasks(const std::string& folder);
std::vector<Task> npu_aries_tasks(const std::string& folder);
std::vector<Task> npu_micro_tasks(const std::string& folder);
std::vector<Task> memory_tasks(const std::string& folder);
std::vector<Task> pim_tasks(const std::string& folder);
std::vector<Task> pim_model_tasks(const std::string& folder);
std::vector<Task> pim_design_tasks(const std::string& folder);
std::vector<Task> amx_tasks(const std::string& folder);
std::vector<Task> amx_measured_tasks(const std::string& folder);
std::vector<Task> avx512_tasks(const std::string& folder);
std::vector<Task> amx_public_tasks(const std::string& folder);
std::vector<Task> gpt2_tasks(const std::string& folder);
std::vector<Task> versal_tasks(const std::string& folder);

}  // namespace tilesim::validation
