#include "sim/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <thread>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "arch/base/utf8.hpp"
#include "arch/npu/npu_config.hpp"
#include "sim/compare/amx_timing.hpp"
#include "sim/compare/compiled_code.hpp"
#include "sim/compare/raw_trace.hpp"
#include "sim/compare/run_compare.hpp"
#include "sim/compare/timing_file.hpp"
#include "sim/compare/trace_compare.hpp"
#include "sim/compare/trace_report.hpp"
#include "sim/compare/traced_tile.hpp"
#include "sim/compare/watched_ports.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/explore/settings.hpp"
#include "sim/page/page.hpp"
#include "sim/session/session.hpp"
#include "sim/trace/activity_log.hpp"
#include "sim/trace/chrome_trace.hpp"
#include "sim/write_file.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::sim::compare {

using arch::base::config::ConfigError;
using arch::base::config::read_file;

namespace {

using arch::base::kPercent;
constexpr std::size_t kMostActivities = 20'000'000;
constexpr std::size_t kMostDrawn = 1000;  // of each event, on the page
constexpr double kLikelierMarked = 0.8;   // of the error of a function that lasts longer

// "M" above numbers is meant to be workload.gemm.M, and all lines would be repetitions of one run.
void refuse_keys_cut_short(const std::string& file, const sim::Scenario& scenario,
                           const Timing& timing) {
    for (const std::string& column : timing.notes) {
        for (const auto& key : scenario.document->descriptions()) {
            if (key.path.ends_with("." + column)) {
                throw ConfigError(fmt::format(
                    "{}: column '{}' is no key; did you mean '{}'? (lines without keys are "
                    "repetitions of one run; name the column otherwise if it is a note)",
                    file, column, key.path));
            }
        }
    }
}

int compare_timing(const CompareArguments& arguments, const sim::Scenario& scenario,
                   const Timing& timing) {
    refuse_keys_cut_short(arguments.against, scenario, timing);
    if (!timing.device.empty() && timing.device != scenario.device.name) {
        sim::complain(fmt::format("not comparable: {} was measured on {}, the scenario runs on {}",
                                  arguments.against, timing.device, scenario.device.name));
        return sim::kCheckFailed;
    }
    const double predicted = sim::session::run(scenario).time_ns;
    const double measured = median(timing.runs_ns);
    const double error = kPercent * (predicted / measured - 1);
    if (arguments.format == "json") {
        const nlohmann::ordered_json json{{"measured_ns", measured},
                                          {"runs", timing.runs_ns.size()},
                                          {"predicted_ns", predicted},
                                          {"error_percent", error}};
        sim::print(json.dump(2) + "\n");
    } else {
        constexpr double kNanosecondsPerMicrosecond = 1e3;
        sim::print(fmt::format(
            "measured  {:>12.3f} us (median of {})\npredicted {:>12.3f} us\nerror     {:>+12.2f} "
            "%\n",
            measured / kNanosecondsPerMicrosecond, timing.runs_ns.size(),
            predicted / kNanosecondsPerMicrosecond, error));
    }
    return std::abs(error) <= arguments.tolerance ? sim::kFine : sim::kCheckFailed;
}

// A line a run, with keys of its own; --set is for all of them.
int compare_measured_runs(const CompareArguments& arguments) {
    std::vector<MeasuredRun> runs = read_measured_runs(arguments.against, arguments.file);
    const sim::explore::Settings common = sim::explore::parse_settings(arguments.settings);
    for (const auto& [key, value] : common) {
        const auto sets_it = [&key = key](const MeasuredRun& run) {
            return std::any_of(run.job.overrides.begin(), run.job.overrides.end(),
                               [&key](const auto& own) { return own.first == key; });
        };
        if (std::all_of(runs.begin(), runs.end(), sets_it)) {
            throw ConfigError(
                fmt::format("--set {}: every run of {} sets it itself", key, arguments.against));
        }
    }
    for (MeasuredRun& run : runs) {
        run.job.overrides.insert(run.job.overrides.begin(), common.begin(), common.end());
    }
    const RunComparison comparison =
        compare_runs(runs, std::max(1U, std::thread::hardware_concurrency()));
    sim::print(arguments.format == "json" ? to_json(comparison).dump(2) + "\n"
                                          : to_table(comparison));
    return comparison.complete() && comparison.worst_error_percent() <= arguments.tolerance
               ? sim::kFine
               : sim::kCheckFailed;
}

int compare_amx_timing(const CompareArguments& arguments, const sim::Scenario& scenario,
                       const std::string& text) {
    const AmxComparison comparison = compare_amx(
        scenario, arguments.file, parse_amx_timing(text, arguments.against), arguments.against);
    sim::print(arguments.format == "json" ? to_json(comparison).dump(2) + "\n"
                                          : to_table(comparison));
    return comparison.refused.empty() && comparison.worst_error_percent <= arguments.tolerance
               ? sim::kFine
               : sim::kCheckFailed;
}

// What the design's trace units watch, where the scenario is a design.
std::span<const workloads::npu::program_file::TraceSlots> slots_of(const sim::Scenario& scenario) {
    const auto* workload = scenario.problem.find<workloads::npu::program_file::ProgramWorkload>();
    return workload == nullptr ? std::span<const workloads::npu::program_file::TraceSlots>{}
                               : workload->trace_slots;
}

// `told`: what the checks before the run find was said of the same design.
constexpr bool kTold = true;
TraceFile simulated_trace(const sim::Scenario& scenario, const arch::npu::NpuConfig& npu,
                          bool told = false) {
    sim::trace::ActivityLog log({}, kMostActivities);
    const workloads::RunResult result = sim::session::run(scenario, &log, nullptr, told);
    log.finish(arch::base::Femtoseconds{
        static_cast<std::int64_t>(result.time_ns * workloads::kFemtosecondsPerNanosecond)});
    TraceFile trace = parse_trace(
        sim::trace::to_chrome_trace(log, npu.clock, npu.memory_rows, scenario.device.name),
        "the simulation");
    name_watched_ports(trace, slots_of(scenario));
    return trace;
}

// Of the gaps between markers, where there are any: whose they are is what readings differ in.
double marker_gap_error(const TraceComparison& comparison) {
    const auto row = std::find_if(comparison.rows.begin(), comparison.rows.end(),
                                  [](const EventRow& each) { return each.event == kKernelBegin; });
    return row == comparison.rows.end() ? 0 : row->median_gap_error;
}

// How far a compiler puts lock instructions apart and how long its kernels take is no part of a
// design: what is left of the difference with both as the trace has them is the model's.
std::optional<AsCompiled> compare_as_compiled(const CompareArguments& arguments,
                                              const sim::Scenario& scenario,
                                              const TraceFile& measured, const CompiledCode& code) {
    std::optional<AsCompiled> best;
    double least = 0;
    for (const std::vector<std::string>& reading : settings_of(code, scenario)) {
        // Those of the trace in place of others.
        sim::explore::Settings settings = sim::explore::parse_settings(arguments.settings);
        for (auto& setting : sim::explore::parse_settings(reading)) {
            settings.push_back(std::move(setting));
        }
        const sim::Scenario compiled = sim::load_scenario(arguments.file, settings);
        const TraceFile simulated =
            simulated_trace(compiled, *compiled.device.find<arch::npu::NpuConfig>(), kTold);
        const TraceComparison comparison = compare_traces(measured, simulated);
        const double error = marker_gap_error(comparison);
        if (!best || error < kLikelierMarked * least) {
            least = error;
            best = AsCompiled{reading, comparison.median_gap_error};
        }
    }
    return best;
}

int compare_trace(const CompareArguments& arguments, const sim::Scenario& scenario,
                  const TraceFile& recorded) {
    const auto* npu = scenario.device.find<arch::npu::NpuConfig>();
    if (npu == nullptr) {
        throw ConfigError("not comparable: a trace is of an NPU, the scenario's device is not");
    }
    if (!recorded.device.empty() && recorded.device != scenario.device.name) {
        throw ConfigError(fmt::format("not comparable: {} is of {}, the scenario runs on {}",
                                      arguments.against, recorded.device, scenario.device.name));
    }
    const TraceFile simulated = simulated_trace(scenario, *npu);
    const std::int64_t shift = arguments.column_shift.value_or(column_shift(recorded, simulated));
    const TraceFile measured = shifted(recorded, shift);
    if (const auto tile = foreign_tile(measured, npu->rows(), npu->columns)) {
        throw ConfigError(
            fmt::format("not comparable: {} has {} rows of {} tiles, and the trace holds '{}': it "
                        "is of another "
                        "device",
                        scenario.device.name, npu->rows(), npu->columns, *tile));
    }
    TraceComparison comparison = compare_traces(measured, simulated);
    comparison.column_shift = shift;
    comparison.as_compiled = compare_as_compiled(
        arguments, scenario, measured, compiled_code(measured, simulated, npu->core.lock_cycles));
    sim::print(arguments.format == "json" ? to_json(comparison).dump(2) + "\n"
                                          : to_table(comparison));
    if (!arguments.html.empty()) {
        nlohmann::ordered_json page = to_json(comparison);
        page["timelines"] = timelines(measured, simulated, kMostDrawn);
        sim::write_file(arguments.html,
                        sim::page::to_comparison_html(
                            page, fmt::format("{} against {}", arguments.file, arguments.against)));
    }
    const bool good = comparison.flaws.empty() && !comparison.uniform_factor &&
                      std::abs(comparison.period_error_percent) <= arguments.tolerance &&
                      comparison.median_gap_error <= arguments.tolerance;
    return good ? sim::kFine : sim::kCheckFailed;
}

}  // namespace

int compare(const CompareArguments& arguments) {
    sim::check_output("--html", arguments.html, {arguments.file, arguments.against});
    const sim::Scenario scenario =
        sim::load_scenario(arguments.file, sim::explore::parse_settings(arguments.settings));
    const std::string text{arch::base::without_byte_order_mark(read_file(arguments.against))};
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    try {
        if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
            throw ConfigError(
                fmt::format("{}: is text in UTF-16; save it as UTF-8", arguments.against));
        }
        if (first != text.npos && (text[first] == '[' || text[first] == '{')) {
            return compare_trace(arguments, scenario, parse_trace(text, arguments.against));
        }
        if (is_raw_trace(text)) {
            return compare_trace(arguments, scenario,
                                 parse_raw_trace(text, arguments.against, slots_of(scenario)));
        }
        if (is_unwritten_trace(text)) {
            throw ConfigError(fmt::format(
                "{}: all of its words are 0 or a5a5a5a5: a trace buffer that nothing was written "
                "into",
                arguments.against));
        }
        if (!arguments.html.empty()) {
            throw ConfigError(fmt::format(
                "--html shows timelines, which {} has not: it is no trace", arguments.against));
        }
        if (arguments.column_shift) {
            throw ConfigError(fmt::format(
                "--column-shift is of a trace's tiles, which {} has not: it is no trace",
                arguments.against));
        }
        if (is_amx_timing(text)) {
            return compare_amx_timing(arguments, scenario, text);
        }
        if (sets_keys(text)) {
            return compare_measured_runs(arguments);
        }
        return compare_timing(arguments, scenario, parse_timing(text, arguments.against));
    } catch (const ConfigError& error) {  // the scenario is right; the measurement does not fit it
        sim::complain(error.what());
        return sim::kCheckFailed;
    }
}

}  // namespace tilesim::sim::compare
