#include "sim/compare/measured_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "arch/base/config.hpp"
#include "sim/compare/csv_line.hpp"
#include "sim/explore/sweep_file.hpp"

namespace tilesim::sim::compare {

using arch::base::config::ConfigError;
using arch::base::config::IoError;

namespace {

class RunsReader {
  public:
    RunsReader(std::string file, std::string scenario)
        : file_(std::move(file)), scenario_(std::move(scenario)) {}

    std::vector<MeasuredRun> read() {
        const std::string text = arch::base::config::read_file(file_);
        require_table_text(text, file_);
        std::istringstream in(text);
        int at = 0;
        header_ = next_row(in, at);
        if (!header_.empty()) {
            check_header(at);
        }
        for (auto fields = next_row(in, at); !fields.empty(); fields = next_row(in, at)) {
            runs_.push_back(run_of(fields, at));
        }
        if (runs_.empty()) {
            throw ConfigError(fmt::format("{}: holds no run", file_));
        }
        return std::move(runs_);
    }

  private:
    void check_header(int at) const {
        const auto times = std::count_if(header_.begin(), header_.end(),
                                         [](const auto& name) { return time_scale(name) > 0; });
        if (times != 1) {
            throw ConfigError(
                fmt::format("{}:{}:1: must have exactly one column of time_ns, time_us, time_ms, "
                            "time_s",
                            file_, at));
        }
        for (const std::string& name : header_) {
            if (time_scale(name) == 0 && name != "scenario" && name != "device" &&
                name.find('.') == name.npos) {
                throw ConfigError(fmt::format(
                    "{}:{}:1: column '{}' is neither scenario, device, a time nor a key", file_, at,
                    name));
            }
            if (std::count(header_.begin(), header_.end(), name) > 1) {
                throw ConfigError(
                    fmt::format("{}:{}:1: column '{}' stands twice", file_, at, name));
            }
        }
    }

    MeasuredRun run_of(const std::vector<std::string>& fields, int at) {
        if (fields.size() != header_.size()) {
            throw ConfigError(fmt::format("{}:{}:1: has {} fields, the header {}", file_, at,
                                          fields.size(), header_.size()));
        }
        MeasuredRun run;
        run.name = fmt::format("{}:{}", std::filesystem::path{file_}.filename().string(), at);
        run.job.file = scenario_;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (time_scale(header_[i]) > 0) {
                run.time_ns = measured_nanoseconds(fields[i], header_[i], file_, at);
            } else if (fields[i].empty()) {
                continue;  // what --scenario and the scenario say
            } else if (header_[i] == "scenario") {
                run.job.file = (std::filesystem::path{file_}.parent_path() / fields[i]).string();
            } else {
                run.job.overrides.emplace_back(header_[i], fields[i]);
            }
        }
        if (run.job.file.empty()) {
            throw ConfigError(fmt::format(
                "{}:{}:1: names no scenario: give the file a column of that name, or --scenario",
                file_, at));
        }
        try {
            run.job.text = text_of(run.job.file);
        } catch (const IoError& error) {
            throw IoError(fmt::format("{}:{}:1: scenario: {}", file_, at, error.what()));
        }
        return run;
    }

    const std::string& text_of(const std::string& scenario) {
        auto& text = texts_[scenario];
        if (text.empty()) {
            text = explore::scenario_text(scenario);
        }
        return text;
    }

    std::string file_, scenario_;
    std::vector<std::string> header_;
    std::map<std::string, std::string> texts_;
    std::vector<MeasuredRun> runs_;
};

}  // namespace

std::vector<MeasuredRun> read_measured_runs(const std::string& file, const std::string& scenario) {
    return RunsReader(file, scenario).read();
}

}  // namespace tilesim::sim::compare
