#include "sim/compare/amx_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "arch/amx/amx_config.hpp"
#include "arch/base/config.hpp"
#include "sim/compare/amx_kernel.hpp"
#include "sim/compare/csv_line.hpp"
#include "sim/session/session.hpp"
#include "workloads/amx/tiles/amx_dataflow.hpp"
#include "workloads/amx/tiles/kernel_text.hpp"
#include "workloads/paths.hpp"

namespace tilesim::sim::compare {

namespace fs = std::filesystem;
using arch::base::config::ConfigError;

namespace {

constexpr const char* kExtension = ".amx";
constexpr const char* kClockKernel = "tdp.amx";  // independent products: their rate is documented

// A CSV line by its header's names.
class Record {
  public:
    Record(const std::string& file, int line, const std::vector<std::string>& header,
           const std::vector<std::string>& fields)
        : file_(file), line_(line), header_(header), fields_(fields) {}

    const std::string& text(const std::string& column) const {
        static const std::string none;
        const auto at = static_cast<std::size_t>(std::find(header_.begin(), header_.end(), column) -
                                                 header_.begin());
        return at < fields_.size() ? fields_[at] : none;
    }
    double number(const std::string& column) const {
        const auto value = positive_number(text(column));
        if (!value) {
            fail(column, "a number above 0");
        }
        return *value;
    }
    // 0 where the column is missing or empty.
    double optional_number(const std::string& column) const {
        return text(column).empty() ? 0 : number(column);
    }
    [[noreturn]] void fail(const std::string& column, const std::string& allowed) const {
        const auto at = std::find(header_.begin(), header_.end(), column) - header_.begin();
        throw ConfigError(fmt::format("{}:{}:1: {} (column {}): must be {}, got '{}'", file_, line_,
                                      column, at + 1, allowed, text(column)));
    }

  private:
    const std::string& file_;
    int line_;
    const std::vector<std::string>& header_;
    const std::vector<std::string>& fields_;
};

AmxMeasurement measurement_of(const Record& record, int line) {
    AmxMeasurement m;
    m.line = line;
    m.kernel = record.text("kernel");
    if (m.kernel.empty()) {
        record.fail("kernel", "the name of a kernel's file");
    }
    m.core_cycles = record.text("unit") == "core_cycles";
    if (!m.core_cycles && record.text("unit") != "tsc_cycles") {
        record.fail("unit", "core_cycles or tsc_cycles");
    }
    m.least = record.number("cyc_min");
    m.median = record.number("cyc_median");
    if (m.median < m.least) {
        record.fail("cyc_median", fmt::format("at least cyc_min, {}", record.text("cyc_min")));
    }
    m.tsc = record.optional_number("tsc");
    m.ghz = record.optional_number("ghz");
    m.repetitions = record.text("reps");
    m.host = record.text("host");
    return m;
}

// Where kernels of the CSV file's names are found.
class Kernels {
  public:
    Kernels(const sim::Scenario& scenario, const std::string& scenario_file,
            const std::string& measured_file)
        : scenario_(scenario) {
        fs::path beside = fs::path(measured_file).parent_path();
        add_folder(fs::path(workloads::validation_folder()) / "amx" / "kernels");
        add_folder(beside.empty() ? fs::path(".") : beside);
        scenario_name_ = fs::path(scenario_file).stem().string() + kExtension;
        if (const auto* program =
                scenario.problem.find<workloads::amx::tiles::AmxProgramWorkload>()) {
            // Of the same name, the text itself is meant and not what `tilesim lower` makes of it.
            const std::string own = fs::path(program->file).filename().string();
            files_[own] = program->path;
            scenario_name_ = own == scenario_name_ ? std::string{} : scenario_name_;
        }
    }

    // Empty, with the reason in `problem`, where there is no such kernel or it cannot run.
    std::optional<AmxKernelRun> run(const std::string& kernel, std::string& problem) {
        try {
            if (kernel == scenario_name_) {
                return run_scenario();
            }
            const auto file = files_.find(kernel);
            if (file != files_.end()) {
                return run_amx_kernel(scenario_, arch::base::config::read_file(file->second),
                                      file->second);
            }
            problem = "no such kernel beside the CSV file, among the shipped ones or the scenario" +
                      arch::base::config::did_you_mean(kernel, names());
        } catch (const ConfigError& error) {
            problem = error.what();
        }
        return std::nullopt;
    }

  private:
    void add_folder(const fs::path& folder) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            if (entry.path().extension() == kExtension) {
                files_[entry.path().filename().string()] = entry.path().string();
            }
        }
    }
    AmxKernelRun run_scenario() const {
        AmxKernelRun run;
        for (const arch::amx::program::Program& program : workloads::amx::tiles::read_kernel(
                 session::Session().lowered_text(scenario_), scenario_name_, 1)) {
            const AmxKernelRun work = work_of(program);
            run.operations += work.operations;
            run.bytes += work.bytes;
        }
        run.cycles = static_cast<double>(session::Session().run_whole(scenario_).cycles);
        return run;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> names{scenario_name_};
        for (const auto& [name, path] : files_) {
            names.push_back(name);
        }
        return names;
    }

    const sim::Scenario& scenario_;
    std::string scenario_name_;                 // what `tilesim lower` prints of it
    std::map<std::string, std::string> files_;  // name and path
};

// Core cycles in one of the time-stamp counter, from the products measured on the same host.
std::optional<double> clock_ratio(const std::vector<AmxMeasurement>& measured,
                                  const AmxMeasurement& row, Kernels& kernels) {
    for (const AmxMeasurement& other : measured) {
        if (other.kernel == kClockKernel && !other.core_cycles && other.host == row.host) {
            std::string problem;
            if (const auto run = kernels.run(kClockKernel, problem)) {
                return run->cycles / other.median;
            }
        }
    }
    return std::nullopt;
}

double rate(double work, double cycles) {
    return work / cycles;
}

// What a kernel is made of: products where it has any, otherwise bytes.
bool multiplies(const AmxRow& row) {
    return row.operations > 0;
}

std::string clock_text(const AmxRow& row) {
    const AmxMeasurement& m = row.measured;
    if (m.ghz > 0) {
        return fmt::format("{:.2f} GHz", m.ghz);
    }
    return m.tsc > 0 ? fmt::format("{:.2f} TSC", row.median() / m.tsc) : "-";
}

}  // namespace

bool is_amx_timing(const std::string& text) {
    std::istringstream in(text);
    int at = 0;
    const std::vector<std::string> header = next_row(in, at);
    return std::find(header.begin(), header.end(), "kernel") != header.end() &&
           std::any_of(header.begin(), header.end(),
                       [](const std::string& name) { return name.starts_with("cyc_"); });
}

std::vector<AmxMeasurement> parse_amx_timing(const std::string& text, const std::string& file) {
    require_table_text(text, file);
    std::vector<AmxMeasurement> measured;
    std::istringstream in(text);
    int at = 0;
    const std::vector<std::string> header = next_row(in, at);
    for (const char* column : {"kernel", "unit", "cyc_min", "cyc_median"}) {
        if (std::find(header.begin(), header.end(), column) == header.end()) {
            throw ConfigError(fmt::format(
                "{}:{}:1: no column '{}', which tilesim_amx_measure writes", file, at, column));
        }
    }
    for (auto fields = next_row(in, at); !fields.empty(); fields = next_row(in, at)) {
        measured.push_back(measurement_of({file, at, header, fields}, at));
    }
    if (measured.empty()) {
        throw ConfigError(fmt::format("{}: no rows", file));
    }
    return measured;
}

AmxComparison compare_amx(const sim::Scenario& scenario, const std::string& scenario_file,
                          const std::vector<AmxMeasurement>& measured, const std::string& file) {
    constexpr double kGiga = 1e9;
    const auto* amx = scenario.device.find<arch::amx::AmxConfig>();
    if (amx == nullptr) {
        throw ConfigError(fmt::format(
            "not comparable: {} was measured on AMX cores, the scenario's device {} has none", file,
            scenario.device.name));
    }
    AmxComparison result;
    result.device = scenario.device.name;
    result.clock_ghz = static_cast<double>(arch::amx::at_work(*amx, 1).clock.count()) / kGiga;
    Kernels kernels(scenario, scenario_file, file);
    std::map<std::string, std::pair<std::optional<AmxKernelRun>, std::string>> runs;
    for (const AmxMeasurement& m : measured) {
        const auto [run, fresh] = runs.try_emplace(m.kernel);
        if (fresh) {
            run->second.first = kernels.run(m.kernel, run->second.second);
        }
        std::string problem = run->second.second;
        const std::optional<double> ratio =
            m.core_cycles ? std::optional{1.0} : clock_ratio(measured, m, kernels);
        if (problem.empty() && !ratio) {
            problem = fmt::format(
                "cycles of the time-stamp counter are no core cycles: measure {} beside it, whose "
                "products take 16",
                kClockKernel);
        }
        if (!problem.empty()) {
            result.refused.push_back(
                fmt::format("{}:{}:1: {}: {}", file, m.line, m.kernel, problem));
            continue;
        }
        const AmxKernelRun& predicted = *run->second.first;
        AmxRow row{m, *ratio, predicted.cycles, predicted.operations, predicted.bytes};
        result.mean_error_percent += std::abs(row.error_percent());
        result.worst_error_percent =
            std::max(result.worst_error_percent, std::abs(row.error_percent()));
        result.rows.push_back(std::move(row));
    }
    if (result.rows.empty()) {
        std::string reasons = fmt::format("not comparable: no row of {} can be simulated", file);
        for (const std::string& refused : result.refused) {
            reasons += "\n" + refused;
        }
        throw ConfigError(reasons);
    }
    result.mean_error_percent /= static_cast<double>(result.rows.size());
    return result;
}

namespace {

// Cycles behind the L2 are as many as its nanoseconds take at the core's clock.
std::string clock_note(const AmxComparison& comparison) {
    constexpr double kOther = 0.1;  // more than a clock wanders
    const auto other =
        std::find_if(comparison.rows.begin(), comparison.rows.end(), [&](const AmxRow& row) {
            const double ghz = row.measured.ghz;
            return ghz > 0 && std::abs(ghz / comparison.clock_ghz - 1) > kOther;
        });
    if (other == comparison.rows.end()) {
        return "";
    }
    return fmt::format(
        "measured at {0:.2f} GHz ({1}), predicted at {2:.2f}: L3 and DRAM take their time in ns, "
        "so in other cycles; --set device.amx.clock={0:.2f}GHz\n",
        other->measured.ghz, other->measured.kernel, comparison.clock_ghz);
}

}  // namespace

std::string to_table(const AmxComparison& comparison) {
    std::string text = fmt::format(
        "{:<24} {:>12} {:>7} {:>12} {:>8} {:>10} {:>10} {:<9} {:>9}  {}\n", "kernel", "measured",
        "spread", "predicted", "error", "measured", "predicted", "a cycle", "clock", "machine");
    for (const AmxRow& row : comparison.rows) {
        const double work = multiplies(row) ? row.operations : row.bytes;
        text += fmt::format(
            "{:<24} {:>12.1f} {:>6.1f}% {:>12.1f} {:>+7.1f}% {:>10.1f} {:>10.1f} {:<9} {:>9}  "
            "{}{}\n",
            row.measured.kernel, row.median(), row.spread_percent(), row.predicted,
            row.error_percent(), rate(work, row.median()), rate(work, row.predicted),
            multiplies(row) ? "ops" : "B", clock_text(row), row.measured.host,
            row.measured.repetitions.empty() ? "" : ", " + row.measured.repetitions + " runs");
    }
    for (const std::string& refused : comparison.refused) {
        text += fmt::format("not compared: {}\n", refused);
    }
    return text + clock_note(comparison) +
           fmt::format(
               "core cycles an iteration or a run (median; spread: median over least); "
               "predicted: {} at {:.2f} GHz\nmean error {:.1f} %, worst {:.1f} %, {} of {} "
               "rows\n",
               comparison.device, comparison.clock_ghz, comparison.mean_error_percent,
               comparison.worst_error_percent, comparison.rows.size(),
               comparison.rows.size() + comparison.refused.size());
}

nlohmann::ordered_json to_json(const AmxComparison& comparison) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const AmxRow& row : comparison.rows) {
        const AmxMeasurement& m = row.measured;
        nlohmann::ordered_json json{
            {"kernel", m.kernel},
            {"measured_cycles", row.median()},
            {"measured_least_cycles", m.least * row.core_cycles_per_cycle},
            {"spread_percent", row.spread_percent()},
            {"predicted_cycles", row.predicted},
            {"error_percent", row.error_percent()},
            {"measured_operations_per_cycle", rate(row.operations, row.median())},
            {"predicted_operations_per_cycle", rate(row.operations, row.predicted)},
            {"measured_bytes_per_cycle", rate(row.bytes, row.median())},
            {"predicted_bytes_per_cycle", rate(row.bytes, row.predicted)},
            {"core_cycles_per_measured_cycle", row.core_cycles_per_cycle},
            {"repetitions", m.repetitions},
            {"host", m.host}};
        if (m.ghz > 0) {
            json["clock_ghz"] = m.ghz;
        }
        if (m.tsc > 0) {
            json["core_cycles_per_tsc_cycle"] = row.median() / m.tsc;
        }
        rows.push_back(std::move(json));
    }
    return {{"device", comparison.device},
            {"device_clock_ghz", comparison.clock_ghz},
            {"rows", std::move(rows)},
            {"refused", comparison.refused},
            {"mean_error_percent", comparison.mean_error_percent},
            {"worst_error_percent", comparison.worst_error_percent}};
}

}  // namespace tilesim::sim::compare
