#include "validation/suite.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "arch/base/check.hpp"
#include "sim/paths.hpp"

namespace tilesim::validation {

namespace {

struct Suite {
    const char* name;
    std::vector<Task> (*tasks)(const std::string& folder);
    double target_mape;  // percent, over validate rows
    double target_worst;
    const char* note = "";
};

constexpr double kNoTarget = std::numeric_limits<double>::infinity();

// The targets are design goals: the mean and the worst single row.
constexpr Suite kSuites[] = {{"npu", npu_tasks, 2.0, 5.0},
                             {"memory", memory_tasks, 2.0, 2.0},
                             {"pim", pim_tasks, 3.0, 3.0},
                             {"amx", amx_tasks, 5.0, 5.0},
                             {"versal", versal_tasks, 2.0, 2.0},
                             {"gpt2", gpt2_tasks, kNoTarget, kNoTarget,
                              "from_shapes: counted from the model's shape, no timing. predicted: "
                              "array simulated, its host stages and the processor alone from the "
                              "parameters under `host` of the device, none of them fitted to these "
                              "rows. No figure of these rows is an input."}};

// Runs `work` in a process of its own; the answer comes back through a pipe.
struct Worker {
    pid_t process = 0;
    int pipe = -1;

    explicit Worker(const std::function<double()>& work) {
        int ends[2] = {-1, -1};
        SIM_CHECK(::pipe(ends) == 0, "no pipe for a worker");
        process = ::fork();
        SIM_CHECK(process >= 0, "no process for a worker");
        if (process == 0) {
            ::close(ends[0]);
            double value = std::nan("");
            try {
                value = work();
            } catch (const std::exception& error) {
                fmt::print(stderr, "{}\n", error.what());
            }
            const ssize_t written = ::write(ends[1], &value, sizeof value);
            ::_exit(written == sizeof value ? 0 : 1);
        }
        ::close(ends[1]);
        pipe = ends[0];
    }
    double wait() const {
        double value = std::nan("");
        const ssize_t got = ::read(pipe, &value, sizeof value);
        ::close(pipe);
        ::waitpid(process, nullptr, 0);
        return got == sizeof value ? value : std::nan("");
    }
};

std::vector<double> run_all(const std::vector<const std::function<double()>*>& parts) {
    constexpr std::size_t kJobs = 2;
    std::vector<double> values;
    for (std::size_t i = 0; i < parts.size(); i += kJobs) {
        std::vector<Worker> workers;
        for (std::size_t j = i; j < std::min(i + kJobs, parts.size()); ++j) {
            workers.emplace_back(*parts[j]);
        }
        for (const Worker& worker : workers) {
            values.push_back(worker.wait());
        }
    }
    return values;
}

void summarize(SuiteResult& result, const Suite& suite) {
    std::vector<std::string> groups;  // in order of their first row
    for (const Row& row : result.rows) {
        if (std::find(groups.begin(), groups.end(), row.group) == groups.end()) {
            groups.push_back(row.group);
        }
    }
    for (const std::string& group : groups) {
        for (const char* use : {"calibrate", "validate"}) {
            Summary summary{group, use};
            for (const Row& row : result.rows) {
                if (row.group == group && row.use == use) {
                    ++summary.rows;
                    const double error = std::abs(row.error_percent());
                    summary.mape_percent += error;
                    summary.worst_percent =
                        std::isnan(error) ? error : std::max(summary.worst_percent, error);
                }
            }
            if (summary.rows == 0) {
                continue;
            }
            summary.mape_percent /= summary.rows;
            const bool good = summary.mape_percent <= suite.target_mape &&
                              summary.worst_percent <= suite.target_worst;
            result.within_targets = result.within_targets && (summary.use != "validate" || good);
            result.summaries.push_back(summary);
        }
    }
}

}  // namespace

std::vector<std::string> suite_names() {
    std::vector<std::string> names;
    for (const Suite& suite : kSuites) {
        names.emplace_back(suite.name);
    }
    return names;
}

std::string bounds_file(const std::string& suite) {
    return sim::validation_folder() + "/" + suite + "/bounds.csv";
}

SuiteResult run_suite(const std::string& name) {
    const Suite& suite = *std::find_if(std::begin(kSuites), std::end(kSuites),
                                       [&name](const Suite& each) { return each.name == name; });
    std::vector<Task> tasks = suite.tasks(sim::validation_folder() + "/" + name);
    std::vector<const std::function<double()>*> parts;
    for (const Task& task : tasks) {
        for (const auto& part : task.parts) {
            parts.push_back(&part);
        }
    }
    const std::vector<double> values = run_all(parts);
    SuiteResult result;
    auto next = values.begin();
    for (Task& task : tasks) {
        const auto end = next + static_cast<std::ptrdiff_t>(task.parts.size());
        task.row.predicted = task.combine({next, end});
        next = end;
        result.rows.push_back(task.row);
    }
    summarize(result, suite);
    result.bounds = read_bounds(bounds_file(name));
    result.check = check(result.bounds, result.rows);
    result.note = suite.note;
    return result;
}

std::string to_table(const SuiteResult& result) {
    std::string text = fmt::format("{:<58} {:>9} {:>10} {:>8}  {:<10} {}\n", "row", "measured",
                                   "predicted", "error", "unit", "use");
    for (const Row& row : result.rows) {
        text += fmt::format("{:<58} {:>9.{}f} {:>10.{}f} {:>+7.2f}%  {:<10} {}\n", row.id,
                            row.measured, row.measured < 1 ? 4 : 2, row.predicted,
                            row.measured < 1 ? 4 : 2, row.error_percent(), row.unit, row.use);
    }
    for (const Summary& summary : result.summaries) {
        text +=
            fmt::format("{}, {} rows: MAPE {:.2f} %, worst {:.2f} % over {} rows\n", summary.group,
                        summary.use, summary.mape_percent, summary.worst_percent, summary.rows);
    }
    return result.note.empty() ? text : text + result.note + "\n";
}

std::string to_csv(const SuiteResult& result) {
    std::string text = "id,device,measured,predicted,error_percent,use\n";
    for (const Row& row : result.rows) {
        text += fmt::format("{},{},{},{},{},{}\n", row.id, row.device, row.measured, row.predicted,
                            row.error_percent(), row.use);
    }
    return text;
}

nlohmann::ordered_json to_json(const SuiteResult& result) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Row& row : result.rows) {
        json.push_back({{"id", row.id},
                        {"device", row.device},
                        {"measured", row.measured},
                        {"predicted", row.predicted},
                        {"error_percent", row.error_percent()},
                        {"use", row.use}});
    }
    for (const Summary& summary : result.summaries) {
        json.push_back({{"summary", summary.group},
                        {"use", summary.use},
                        {"rows", summary.rows},
                        {"mape_percent", summary.mape_percent},
                        {"worst_percent", summary.worst_percent}});
    }
    return json;
}

}  // namespace tilesim::validation
