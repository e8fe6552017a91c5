#include "sim/compare/timing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string_view>

#include "arch/base/config.hpp"
#include "sim/compare/csv_line.hpp"

namespace tilesim::sim::compare {

using arch::base::config::ConfigError;

namespace {

// The rows below the header, which is line `at`.
Timing parse_rows(std::istream& in, const std::vector<std::string>& header, int at,
                  const std::string& file) {
    const auto column = static_cast<std::size_t>(
        std::find_if(header.begin(), header.end(),
                     [](const auto& name) { return time_scale(name) > 0; }) -
        header.begin());
    const auto device = static_cast<std::size_t>(std::find(header.begin(), header.end(), "device") -
                                                 header.begin());
    Timing timing;
    for (std::size_t i = 0; i < header.size(); ++i) {
        if (i != column && i != device) {
            timing.notes.push_back(header[i]);
        }
    }
    for (auto fields = next_row(in, at); !fields.empty(); fields = next_row(in, at)) {
        if (fields.size() != header.size()) {
            throw ConfigError(fmt::format("{}:{}:1: has {} fields, the header {}", file, at,
                                          fields.size(), header.size()));
        }
        if (device < fields.size()) {
            if (!timing.runs_ns.empty() && timing.device != fields[device]) {
                throw ConfigError(
                    fmt::format("{}:{}:1: device: must be that of the runs before, '{}', got '{}'",
                                file, at, timing.device, fields[device]));
            }
            timing.device = fields[device];
        }
        timing.runs_ns.push_back(measured_nanoseconds(fields[column], header[column], file, at));
    }
    return timing;
}

// No runs where the text is no table of times.
Timing parse_csv(const std::string& text, const std::string& file) {
    std::istringstream in(text);
    int at = 0;
    const std::vector<std::string> header = next_row(in, at);
    const auto times = std::count_if(header.begin(), header.end(),
                                     [](const auto& name) { return time_scale(name) > 0; });
    if (times > 1) {
        throw ConfigError(fmt::format(
            "{}:{}:1: must have exactly one column of time_ns, time_us, time_ms, time_s", file,
            at));
    }
    if (times == 0) {
        return {};
    }
    require_table_text(text, file);
    return parse_rows(in, header, at, file);
}

std::string_view without_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// The time that a text begins with, 0.5 ms; nothing where it does not.
std::optional<double> printed_nanoseconds(std::string_view text) {
    text = without_blanks(text);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto value = positive_number(std::string{text.substr(0, digits)});
    text = without_blanks(text.substr(digits));
    const auto of_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const std::string unit{text.begin(), std::find_if_not(text.begin(), text.end(), of_word)};
    const double nanoseconds = value.value_or(0) * nanoseconds_in(unit);
    return is_simulated_time(nanoseconds) ? std::optional{nanoseconds} : std::nullopt;
}

// The average is the measurement where it is printed; minimum and maximum are its spread.
Timing parse_text(std::string_view text) {
    constexpr std::string_view kMachine = "NPU ";
    constexpr std::string_view kWork = "matmul ";
    constexpr std::string_view kTime = "time:";
    Timing timing;
    for (std::size_t at = text.find(kMachine); at != text.npos; at = text.find(kMachine, at + 1)) {
        const std::string_view before = text.substr(0, at);
        std::string_view rest = text.substr(at + kMachine.size());
        rest.remove_prefix(rest.starts_with(kWork) ? kWork.size() : 0);
        if (!rest.starts_with(kTime) || before.ends_with("Min ") || before.ends_with("Max ")) {
            continue;
        }
        if (const auto time = printed_nanoseconds(rest.substr(kTime.size()))) {
            timing.runs_ns.push_back(*time);
        }
    }
    return timing;
}

}  // namespace

Timing parse_timing(const std::string& text, const std::string& file) {
    Timing timing = parse_csv(text, file);
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
