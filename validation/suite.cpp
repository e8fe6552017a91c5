#include "validation/suite.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "arch/base/check.hpp"
#include "arch/base/config.hpp"
#include "sim/paths.hpp"
#include "sim/system/run.hpp"

namespace tilesim::validation {

namespace {

constexpr double kTargetMape = 2.0;
constexpr double kTargetWorst = 5.0;

using Record = std::map<std::string, std::string>;  // column -> value of a CSV line

std::vector<Record> read_csv(const std::string& file) {
    std::ifstream in(file);
    if (!in) {
        throw arch::base::config::IoError(fmt::format("{}: cannot be read", file));
    }
    std::vector<std::string> header;
    std::vector<Record> records;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ',');) {
            fields.push_back(field);
        }
        if (header.empty()) {
            header = fields;
            continue;
        }
        Record record;
        for (std::size_t i = 0; i < header.size(); ++i) {
            record[header[i]] = i < fields.size() ? fields[i] : "";
        }
        records.push_back(record);
    }
    return records;
}

std::string gemm_scenario(const Record& r, const std::string& extra) {
    const auto& at = [&r](const char* key) { return r.at(key); };
    return fmt::format(
        "device: {}\n"
        "workload: {{gemm: {{M: {}, K: {}, N: {}, a: {}, b: {}, c: {}, b_layout: column_major}}}}\n"
        "mapping:\n"
        "  output_stationary: {{m_ct: {}, k_ct: {}, n_ct: {}, k_mt: {}, c_buffers: 1, "
        "shim_bds: overlapped}}\n{}",
        at("device"), at("M"), at("K"), at("N"), at("a_dtype"), at("a_dtype"), at("c_dtype"),
        at("m_ct"), at("k_ct"), at("n_ct"), at("k_mt"), extra);
}

double throughput(const std::string& text) {
    return sim::system::run(sim::parse_scenario(text, "reference row", {})).tops;
}

// The row's transfers with idle cores: A, B and C bytes over the run's time.
double bandwidth(const std::string& text) {
    const sim::RunResult result = sim::system::run(sim::parse_scenario(text, "reference row", {}));
    return result.bounds->dram_bytes / result.time_ns;
}

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

struct Task {
    Row row;
    std::function<double()> predict;
};

Task single_core_task(const Record& r) {
    Task task;
    task.row = {fmt::format("single_core/{}/{}/{}/{}x{}x{}", r.at("device"), r.at("a_dtype"),
                            r.at("c_dtype"), r.at("m_ct"), r.at("k_ct"), r.at("n_ct")),
                r.at("device"),
                "MAC/cycle",
                std::stod(r.at("macs_per_cycle")),
                0,
                r.at("use"),
                "single_core"};
    const std::string text = fmt::format(
        "device: {}\nworkload: {{core_kernel: {{m: {}, k: {}, n: {}, a: {}, b: {}, c: {}}}}}\n",
        r.at("device"), r.at("m_ct"), r.at("k_ct"), r.at("n_ct"), r.at("a_dtype"), r.at("b_dtype"),
        r.at("c_dtype"));
    task.predict = [text] {
        return sim::system::run(sim::parse_scenario(text, "reference row", {})).macs_per_cycle;
    };
    return task;
}

std::vector<Task> whole_array_tasks(const std::vector<Record>& records) {
    std::vector<Task> tasks;
    std::map<std::string, Record> first_of_device;
    for (const Record& r : records) {
        const std::string& quantity = r.at("quantity");
        Task task;
        task.row = {fmt::format("whole_array/{}/{}", r.at("device"), quantity),
                    r.at("device"),
                    r.at("unit"),
                    std::stod(r.at("value")),
                    0,
                    r.at("use"),
                    "whole_array"};
        if (quantity == "throughput") {
            first_of_device.try_emplace(r.at("device"), r);
            task.row.id = fmt::format("whole_array/{}/{}/{}/k_mt={}", r.at("device"),
                                      r.at("a_dtype"), r.at("c_dtype"), r.at("k_mt"));
            task.predict = [text = gemm_scenario(r, "")] { return throughput(text); };
        } else if (quantity == "effective_dram_bandwidth") {
            task.predict =
                [text = gemm_scenario(first_of_device.at(r.at("device")), "  kernel_cycles: 0\n")] {
                    return bandwidth(text);
                };
        } else {  // a parameter of the device, shown for completeness
            task.predict = [device = r.at("device")] {
                constexpr double kFemtosecondsPerMillisecond = 1e12;
                return static_cast<double>(sim::load_device(device, {})
                                               .npu->command_processor.reconfiguration.count()) /
                       kFemtosecondsPerMillisecond;
            };
        }
        tasks.push_back(task);
    }
    return tasks;
}

void summarize(SuiteResult& result) {
    for (const char* suite : {"single_core", "whole_array"}) {
        for (const char* use : {"calibrate", "validate"}) {
            Summary summary{suite, use};
            for (const Row& row : result.rows) {
                if (row.suite == suite && row.use == use) {
                    ++summary.rows;
                    const double error = std::abs(row.error_percent());
                    summary.mape_percent += error;
                    summary.worst_percent =
                        std::isnan(error) ? error : std::max(summary.worst_percent, error);
                }
            }
            summary.mape_percent /= summary.rows;
            const bool good =
                summary.mape_percent <= kTargetMape && summary.worst_percent <= kTargetWorst;
            result.within_targets = result.within_targets && (summary.use != "validate" || good);
            result.summaries.push_back(summary);
        }
    }
}

}  // namespace

SuiteResult run_suite(const std::string& suite) {
    const std::string folder = sim::validation_folder() + "/" + suite;
    std::vector<Task> tasks;
    for (const Record& record : read_csv(folder + "/single_core.csv")) {
        tasks.push_back(single_core_task(record));
    }
    for (Task& task : whole_array_tasks(read_csv(folder + "/whole_array.csv"))) {
        tasks.push_back(std::move(task));
    }
    SuiteResult result;
    constexpr std::size_t kJobs = 2;
    for (std::size_t i = 0; i < tasks.size(); i += kJobs) {
        std::vector<Worker> workers;
        for (std::size_t j = i; j < std::min(i + kJobs, tasks.size()); ++j) {
            workers.emplace_back(tasks[j].predict);
        }
        for (std::size_t j = 0; j < workers.size(); ++j) {
            tasks[i + j].row.predicted = workers[j].wait();
            result.rows.push_back(tasks[i + j].row);
        }
    }
    summarize(result);
    return result;
}

std::string to_table(const SuiteResult& result) {
    std::string text = fmt::format("{:<58} {:>9} {:>10} {:>8}  {:<10} {}\n", "row", "measured",
                                   "predicted", "error", "unit", "use");
    for (const Row& row : result.rows) {
        text += fmt::format("{:<58} {:>9.2f} {:>10.2f} {:>+7.2f}%  {:<10} {}\n", row.id,
                            row.measured, row.predicted, row.error_percent(), row.unit, row.use);
    }
    for (const Summary& summary : result.summaries) {
        text +=
            fmt::format("{}, {} rows: MAPE {:.2f} %, worst {:.2f} % over {} rows\n", summary.suite,
                        summary.use, summary.mape_percent, summary.worst_percent, summary.rows);
    }
    return text;
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
        json.push_back({{"summary", summary.suite},
                        {"use", summary.use},
                        {"rows", summary.rows},
                        {"mape_percent", summary.mape_percent},
                        {"worst_percent", summary.worst_percent}});
    }
    return json;
}

}  // namespace tilesim::validation
