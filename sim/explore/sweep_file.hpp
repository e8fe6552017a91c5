// A sweep file: a base scenario, the axes along which it varies, and which points are left out.
//
//     base: ../scenarios/xdna2_gemm_int8_int16.yaml      # or `scenario:` with one written here
//     set: {run.max_time: 1 s}                           # the same for every point
//     axes:                                              # the first varies slowest
//       - {key: workload.gemm.M, values: [512, 1024]}
//       - {key: device.npu.shim.outstanding_bursts, range: {from: 2, to: 32, factor: 2}}
//       - zip: {mapping.output_stationary.m_ct: [64, 96], mapping.output_stationary.n_ct: [96, 64]}
//       - {seeds: 3}
//     where: ["mapping.output_stationary.m_ct >= 64"]
//     limits: {time: 60 s, memory: 4 GiB}                # of one point, on the host
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "sim/explore/axis.hpp"
#include "sim/explore/expression.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

using Settings = std::vector<std::pair<std::string, std::string>>;  // key and value

struct Limits {
    std::chrono::milliseconds time{600'000};
    std::int64_t memory_bytes = std::int64_t{4} << 30;
};

struct SweepFile {
    std::string name;       // of the file, without folder and ending
    std::string text;       // as read
    std::string base_file;  // for messages and for what the scenario refers to
    std::string base_text;  // the scenario every point starts from
    Settings fixed;
    std::vector<Axis> axes;
    std::vector<std::pair<std::string, Expression>> where;  // as written, and parsed
    Limits limits;
    std::string axes_place, where_place;  // "file:line:column: axes: ", for messages
};

// Throws ConfigError with every problem found, IoError when a file cannot be read.
SweepFile load_sweep(const std::string& file);
SweepFile parse_sweep(const std::string& text, const std::string& file);

// The scenario a file is, or that a sweep file holds: what its points' commands run.
std::string scenario_text(const std::string& file);

// JSON Schema of sweep files; refers to `#/$defs/scenario` for a scenario written in one.
nlohmann::ordered_json sweep_schema();

}  // namespace tilesim::sim::explore
