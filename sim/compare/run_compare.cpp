#include "sim/compare/run_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "arch/base/units.hpp"
#include "sim/compare/csv_line.hpp"
#include "sim/explore/batch.hpp"

namespace tilesim::sim::compare {

namespace {

using arch::base::kPercent;
constexpr double kNanosecondsPerMicrosecond = 1e3;

}  // namespace

bool sets_keys(const std::string& text) {
    std::istringstream in(text);
    int at = 0;
    const std::vector<std::string> header = next_row(in, at);
    const bool timed = std::any_of(header.begin(), header.end(),
                                   [](const auto& name) { return name.starts_with("time_"); });
    return timed && std::any_of(header.begin(), header.end(), [](const auto& name) {
               return name == "scenario" || name.find('.') != name.npos;
           });
}

double RunComparison::Row::error_percent() const {
    return kPercent * (predicted_ns / measured_ns - 1);
}

bool RunComparison::complete() const {
    return std::all_of(rows.begin(), rows.end(),
                       [](const Row& row) { return row.problem.empty(); });
}

bool RunComparison::any_predicted() const {
    return std::any_of(rows.begin(), rows.end(),
                       [](const Row& row) { return row.problem.empty(); });
}

double RunComparison::mean_error_percent() const {
    double sum = 0;
    std::size_t count = 0;
    for (const Row& row : rows) {
        if (row.problem.empty()) {
            sum += std::abs(row.error_percent());
            ++count;
        }
    }
    return count == 0 ? 0 : sum / static_cast<double>(count);
}

double RunComparison::worst_error_percent() const {
    double worst = 0;
    for (const Row& row : rows) {
        if (row.problem.empty()) {
            worst = std::max(worst, std::abs(row.error_percent()));
        }
    }
    return worst;
}

RunComparison compare_runs(const std::vector<MeasuredRun>& runs, std::size_t processes) {
    std::vector<explore::Job> jobs;
    for (const MeasuredRun& run : runs) {
        jobs.push_back(run.job);
    }
    const std::vector<explore::Simulated> simulated = explore::simulate_all(jobs, processes);
    RunComparison comparison;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        RunComparison::Row row{runs[i].name, runs[i].time_ns, 0, ""};
        if (simulated[i].good()) {
            row.predicted_ns = simulated[i].result["time_ns"].get<double>();
        } else {
            row.problem = simulated[i].error.empty() ? simulated[i].status : simulated[i].error;
        }
        comparison.rows.push_back(std::move(row));
    }
    return comparison;
}

std::string to_table(const RunComparison& comparison) {
    std::string text =
        fmt::format("{:<28} {:>14} {:>14} {:>9}\n", "run", "measured us", "predicted us", "error");
    for (const RunComparison::Row& row : comparison.rows) {
        const double measured = row.measured_ns / kNanosecondsPerMicrosecond;
        text +=
            row.problem.empty()
                ? fmt::format("{:<28} {:>14.3f} {:>14.3f} {:>+8.2f}%\n", row.name, measured,
                              row.predicted_ns / kNanosecondsPerMicrosecond, row.error_percent())
                : fmt::format("{:<28} {:>14.3f} not predicted: {}\n", row.name, measured,
                              row.problem);
    }
    return !comparison.any_predicted() ? text + "no run could be predicted\n"
                                       : text + fmt::format("mean error {:.2f} %, worst {:.2f} %\n",
                                                            comparison.mean_error_percent(),
                                                            comparison.worst_error_percent());
}

nlohmann::ordered_json to_json(const RunComparison& comparison) {
    nlohmann::ordered_json json{{"runs", nlohmann::ordered_json::array()},
                                {"mean_error_percent", nullptr},
                                {"worst_error_percent", nullptr}};
    if (comparison.any_predicted()) {
        json["mean_error_percent"] = comparison.mean_error_percent();
        json["worst_error_percent"] = comparison.worst_error_percent();
    }
    for (const RunComparison::Row& row : comparison.rows) {
        nlohmann::ordered_json entry{{"run", row.name}, {"measured_ns", row.measured_ns}};
        if (row.problem.empty()) {
            entry["predicted_ns"] = row.predicted_ns;
            entry["error_percent"] = row.error_percent();
        } else {
            entry["problem"] = row.problem;
        }
        json["runs"].push_back(std::move(entry));
    }
    return json;
}

}  // namespace tilesim::sim::compare
