#include "sim/compare/timing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string_view>

#include "arch/base/config.hpp"
#include "sim/compare/csv_line.hpp"

namespace tilesim::sim::compare {

using arch::base::config::ConfigError;

namespace {

struct TimeUnit {
    std::string_view name;
    double nanoseconds;
};
constexpr TimeUnit kUnits[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

// 0 where there is no such unit.
double nanoseconds_in(std::string_view name) {
    for (const TimeUnit& unit : kUnits) {
        if (unit.name == name) {
            return unit.nanoseconds;
        }
    }
    return 0;
}

Timing parse_csv(std::istream& in, const std::vector<std::string>& header, std::size_t column,
                 double scale, const std::string& file) {
    Timing timing;
    const auto device = std::find(header.begin(), header.end(), "device") - header.begin();
    const auto of_device = static_cast<std::size_t>(device);
    int at = 1;
    for (std::string line; std::getline(in, line);) {
        ++at;
        if (line.empty() || line[0] == '#') {
            continue;
        }
        const std::vector<std::string> fields = fields_of(line);
        const auto value = column < fields.size() ? positive_number(fields[column]) : std::nullopt;
        if (!value) {
            throw ConfigError(fmt::format("{}:{}:1: {}: must be a time above 0, got '{}'", file, at,
                                          header[column],
                                          column < fields.size() ? fields[column] : ""));
        }
        timing.runs_ns.push_back(*value * scale);
        if (of_device < fields.size()) {
            if (timing.runs_ns.size() > 1 && timing.device != fields[of_device]) {
                throw ConfigError(fmt::format(
                    "{}:{}:1: device: '{}', but '{}' before it: without keys all lines are "
                    "repetitions of one run",
                    file, at, fields[of_device], timing.device));
            }
            timing.device = fields[of_device];
        }
    }
    return timing;
}

// The average is the measurement where it is printed; minimum and maximum are its spread.
Timing parse_text(const std::string& text) {
    Timing timing;
    const std::regex time(R"((?:Avg |Average )?NPU (?:matmul )?time: *([0-9.]+) *(ns|us|ms|s)\b)");
    for (std::sregex_iterator at(text.begin(), text.end(), time), end; at != end; ++at) {
        if (const auto value = positive_number((*at)[1].str())) {
            if (at->prefix().str().ends_with("Min ") || at->prefix().str().ends_with("Max ")) {
                continue;
            }
            timing.runs_ns.push_back(*value * nanoseconds_in((*at)[2].str()));
        }
    }
    return timing;
}

}  // namespace

Timing parse_timing(const std::string& text, const std::string& file) {
    std::istringstream in(text);
    std::string first;
    std::getline(in, first);
    const std::vector<std::string> header = fields_of(first);
    Timing timing;
    const auto scale_of = [](const std::string& name) {
        return name.starts_with("time_") ? nanoseconds_in(name.substr(5)) : 0;
    };
    const auto holds_times = [&](const std::string& name) { return scale_of(name) > 0; };
    if (std::count_if(header.begin(), header.end(), holds_times) > 1) {
        throw ConfigError(fmt::format(
            "{}:1:1: must have exactly one column of time_ns, time_us, time_ms, time_s", file));
    }
    const auto column = std::find_if(header.begin(), header.end(), holds_times);
    if (column != header.end()) {
        timing = parse_csv(in, header, static_cast<std::size_t>(column - header.begin()),
                           scale_of(*column), file);
    }
    if (timing.runs_ns.empty()) {
        timing = parse_text(text);
    }
    if (timing.runs_ns.empty()) {
        throw ConfigError(fmt::format(
            "{}: no run times: needs a column time_ns, time_us, time_ms or time_s, or lines like "
            "'Avg NPU time: 512us'",
            file));
    }
    return timing;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tilesim::sim::compare
