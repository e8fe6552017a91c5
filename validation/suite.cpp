#include "validation/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "sim/console.hpp"
#include "sim/explore/worker_pool.hpp"
#include "workloads/paths.hpp"

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
constexpr Suite kSuites[] = {
    {"npu", npu_tasks, 2.0, 5.0},
    {"npu_designs", npu_design_tasks, 8.0, 20.0,
     "Designs by others, with what designs.csv says of their kernels. *_short: less than three "
     "launches long, so mostly host."},
    {"npu_ablations", npu_ablation_tasks, 3.0, 8.0},
    {"npu_aries", npu_aries_tasks, 6.0, 25.0},
    {"npu_micro", npu_micro_tasks, kNoTarget, kNoTarget,
     "long: 1024 words and more, where 10 % in the mean is asked for; "
     "gaps: 15 %. short: single shots, not monotonic."},
    {"memory", memory_tasks, 1.0, 2.0,
     "dramsys: DRAMSys 5.1 as released. dramsys_ready_time: with its rule "
     "that a shorter command goes first left out."},
    {"pim", pim_tasks, 1.5, 3.5},
    {"pim_model", pim_model_tasks, 1.0, 1.0,
     "geniepim: the authors' analytical model on equal rules (no host "
     "time, no accumulator loads, a row visit for results, its turns, one "
     "more of them each way, its write recovery). law: the same with the device's own numbers."},
    {"pim_designs", pim_design_tasks, 2.0, 5.0},
    {"amx", amx_tasks, 3.0, 8.0},
    {"amx_measured", amx_measured_tasks, kNoTarget, kNoTarget,
     "one core of a shared Emerald Rapids server: the least of many runs, "
     "to about 5 % up to the L2"},
    {"avx512", avx512_tasks, 8.0, kNoTarget,
     "one core of a shared Emerald Rapids server, measured to +-4 % in "
     "the L2, +-10 % in the L3, +-15 % in DRAM"},
    {"amx_public", amx_public_tasks, kNoTarget, kNoTarget,
     "published measurements of Sapphire Rapids; docs/amx.md says which "
     "families are not predicted"},
    {"versal", versal_tasks, 2.0, 2.0},
    {"gpt2", gpt2_tasks, kNoTarget, kNoTarget,
     "from_shapes: counted from the model's shape, no timing. predicted: "
     "array simulated, its host stages and the processor alone from the "
     "parameters under `host` of the device, none of them fitted to these "
     "rows. No figure of these rows is an input."}};

struct Part {
    const std::function<double()>* predict = nullptr;
    std::string row;
};

// Each part in a worker process; NaN where one did not end well.
std::vector<double> run_all(const std::vector<Part>& parts, std::size_t jobs) {
    constexpr std::chrono::milliseconds kPatience{1000};
    // Rows of whole sockets take minutes, of a machine that does other things an hour.
    const sim::explore::Limits limits{.time = std::chrono::hours{4}};
    std::vector<double> values(parts.size(), std::nan(""));
    sim::explore::WorkerPool pool(jobs, limits, [&parts](const std::string& task) {
        return fmt::format("{}", (*parts[std::stoul(task)].predict)());
    });
    std::size_t next = 0;
    const auto fill = [&] {
        for (; next < parts.size() && !pool.full(); ++next) {
            pool.start(next, std::to_string(next));
        }
    };
    for (fill(); !pool.idle(); fill()) {
        for (const sim::explore::WorkerReport& report : pool.wait(kPatience)) {
            if (report.end == sim::explore::WorkerReport::End::Answered) {
                values[report.id] = std::stod(report.text);
            } else {
                sim::complain(parts[report.id].row + ": " + report.text);
            }
        }
    }
    return values;
}

std::string target_of(const Suite& suite) {
    const std::string mean = fmt::format("{} % in the mean", suite.target_mape);
    return std::isinf(suite.target_worst) ? mean
                                          : mean + fmt::format(", {} % a row", suite.target_worst);
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
            Summary summary{.group = group, .use = use};
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
            if (summary.use == "validate" && !good) {
                summary.missed = target_of(suite);
                result.within_targets = false;
            }
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
    return workloads::validation_folder() + "/" + suite + "/bounds.csv";
}

std::string residuals_file(const std::string& suite) {
    return workloads::validation_folder() + "/" + suite + "/residuals.csv";
}

std::string residuals_csv(const SuiteResult& result) {
    const std::string head =
        "# What predictions like these were off by, for the bands of others: written by `tilesim "
        "validate SUITE --residuals`. error: logarithm of measured over predicted time.\n"
        "id,what,device,host,types,macs,error,use\n";
    std::string text;
    for (const Row& row : result.rows) {
        if (row.kind.what.empty() || !std::isfinite(row.predicted)) {
            continue;
        }
        const double error = std::log(row.measured / row.predicted) * (row.kind.rate ? -1 : 1);
        std::string id = row.id;
        std::replace(id.begin(), id.end(), ',', ';');
        text += fmt::format("{},{},{},{},{},{:.0f},{:.5f},{}\n", id, row.kind.what, row.device,
                            row.kind.host, row.kind.types, row.kind.macs, error, row.use);
    }
    return text.empty() ? text : head + text;
}

SuiteResult run_suite(const std::string& name, std::size_t jobs, const std::string& rows) {
    const Suite& suite = *std::find_if(std::begin(kSuites), std::end(kSuites),
                                       [&name](const Suite& each) { return each.name == name; });
    const Bounds bounds = read_bounds(bounds_file(name));  // what is wrong there is said at once
    std::vector<Task> tasks = suite.tasks(workloads::validation_folder() + "/" + name);
    const auto left_out = [&rows](const std::string& id) {
        return id.find(rows) == std::string::npos;
    };
    std::erase_if(tasks, [&](const Task& task) { return left_out(task.row.id); });
    std::vector<Part> parts;
    for (const Task& task : tasks) {
        for (const auto& part : task.parts) {
            parts.push_back({&part, task.row.id});
        }
    }
    const std::vector<double> values = run_all(parts, jobs);
    SuiteResult result;
    auto next = values.begin();
    for (Task& task : tasks) {
        const auto end = next + static_cast<std::ptrdiff_t>(task.parts.size());
        task.row.predicted = task.combine({next, end});
        next = end;
        result.rows.push_back(task.row);
    }
    summarize(result, suite);
    result.bounds = bounds;
    std::erase_if(result.bounds, [&](const auto& bound) { return left_out(bound.first); });
    result.check = check(result.bounds, result.rows);
    if (bounds.empty()) {
        result.check.broken = {why_no_bounds(bounds_file(name))};
    }
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
        text += fmt::format("{}, {} rows: MAPE {:.2f} %, worst {:.2f} % over {} rows{}\n",
                            summary.group, summary.use, summary.mape_percent, summary.worst_percent,
                            summary.rows,
                            summary.missed.empty() ? "" : "; misses the target: " + summary.missed);
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
                        {"worst_percent", summary.worst_percent},
                        {"target_missed", !summary.missed.empty()}});
    }
    return json;
}

}  // namespace tilesim::validation
