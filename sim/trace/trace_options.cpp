#include "sim/trace/trace_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"
#include "sim/trace/chrome_trace.hpp"
#include "sim/trace/vcd.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::trace {

using arch::base::Femtoseconds;
using arch::base::config::ConfigError;

namespace {

// Text of a begin and an end in the file, on the long side.
constexpr std::int64_t kBytesPerActivity = 250;
constexpr std::int64_t kBytesPerMb = 1'000'000;
constexpr double kHertzPerGigahertz = 1e9;

Femtoseconds parse_time(const std::string& text, const std::string& window) {
    const std::size_t first = text.find_first_not_of(' ');
    const std::string trimmed = first == text.npos ? "" : text.substr(first);
    const auto parsed = arch::base::config::parse_quantity(
        trimmed.substr(0, trimmed.find_last_not_of(' ') + 1), arch::base::config::kTimeDimension);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
        throw ConfigError(fmt::format("--trace-window {}: '{}': {}", window, text, *problem));
    }
    return Femtoseconds{std::get<std::int64_t>(parsed)};
}

Window parse_window(const std::string& text) {
    Window window;
    if (text.empty()) {
        return window;
    }
    const std::size_t dots = text.find("..");
    if (dots == text.npos) {
        throw ConfigError(fmt::format("--trace-window {}: must be like '10 us..25 us'", text));
    }
    if (dots > 0) {
        window.begin = parse_time(text.substr(0, dots), text);
    }
    if (dots + 2 < text.size()) {
        window.end = parse_time(text.substr(dots + 2), text);
    }
    if (window.end <= window.begin) {
        throw ConfigError(fmt::format("--trace-window {}: must end after it begins", text));
    }
    return window;
}

// Why a file that was asked for shows nothing; empty where both show something.
std::string why_empty(const ActivityLog& log, const TraceOptions& options, double time_ns) {
    if (log.activities().empty() && !options.window.empty()) {
        return fmt::format(
            "the trace is empty: nothing began or lasted in --trace-window {} of a "
            "run of {:.3f} us",
            options.window, time_ns / 1000);
    }
    const auto holds_text = [&](const std::string& component) {
        return component.find(options.vcd_signals) != component.npos;
    };
    const auto& components = log.components();
    if (!options.vcd_file.empty() &&
        std::none_of(components.begin(), components.end(), holds_text)) {
        const std::string hint = arch::base::config::did_you_mean(options.vcd_signals, components);
        return fmt::format("{} is empty: no component's name holds '{}' (--vcd-signals){}",
                           options.vcd_file, options.vcd_signals,
                           hint.empty() ? fmt::format("; one is '{}'", components.front()) : hint);
    }
    return "";
}

// What says how a trace looks is an error without one, and so are two of them in one file.
void check_together(const TraceOptions& options) {
    if (!options.wanted() && !options.window.empty()) {
        throw ConfigError("--trace-window needs --trace or --vcd");
    }
    const bool chrome = !options.chrome_file.empty();
    const std::pair<bool, std::string_view> of_chrome[] = {
        {options.counters, "--trace-counters"},
        {options.flows, "--trace-flows"},
        {options.time != TraceOptions{}.time, "--trace-time"}};
    for (const auto& [given, name] : of_chrome) {
        if (given && !chrome) {
            throw ConfigError(fmt::format("{} needs --trace", name));
        }
    }
    if (!options.vcd_signals.empty() && options.vcd_file.empty()) {
        throw ConfigError("--vcd-signals needs --vcd");
    }
    const std::pair<std::string_view, const std::string&> files[] = {
        {"--trace", options.chrome_file},
        {"--vcd", options.vcd_file},
        {"--commands", options.command_file}};
    for (const auto& [name, file] : files) {
        for (const auto& [other, same] : files) {
            // A device such as /dev/null keeps nothing that the other could overwrite.
            if (name < other && !file.empty() && file == same && !file.starts_with("/dev/")) {
                throw ConfigError(fmt::format("{} and {} both write {}", name, other, file));
            }
        }
    }
}

}  // namespace

void TraceOptions::check_files(const std::vector<std::string>& read) const {
    check_output("--trace", chrome_file, read);
    check_output("--vcd", vcd_file, read);
    check_output("--commands", command_file, read);
}

TraceSession::TraceSession(const TraceOptions& options) : options_(options) {
    check_together(options);
    options.check_files({});
    const Window window = parse_window(options.window);
    if (!options.command_file.empty()) {
        commands_.emplace(static_cast<std::size_t>(options.limit_mb * kBytesPerMb));
    }
    if (!options.wanted()) {
        return;
    }
    log_.emplace(window,
                 static_cast<std::size_t>(options.limit_mb * kBytesPerMb / kBytesPerActivity));
}

std::string TraceSession::write(const workloads::RunResult& result, std::int64_t memory_rows) {
    if (commands_) {
        write_file(options_.command_file, commands_->text());
    }
    const bool cut = commands_ && commands_->truncated();
    if (!log_) {
        return cut ? fmt::format("the commands are cut at {} MB (--trace-limit)", options_.limit_mb)
                   : "";
    }
    if (log_->components().empty()) {
        return "nothing to trace: this workload is no single run (trace one of its parts)";
    }
    const arch::base::Hertz clock{std::llround(result.clock_ghz * kHertzPerGigahertz)};
    log_->finish(Femtoseconds{
        static_cast<std::int64_t>(result.time_ns * workloads::kFemtosecondsPerNanosecond)});
    if (!options_.chrome_file.empty()) {
        write_file(options_.chrome_file, [&](std::ostream& out) {
            write_chrome_trace(*log_, clock, memory_rows, result.device,
                               {options_.time == "us", options_.counters, options_.flows},
                               [&out](std::string_view piece) { out << piece; });
        });
    }
    if (!options_.vcd_file.empty()) {
        write_file(options_.vcd_file, to_vcd(*log_, options_.vcd_signals));
    }
    if (log_->truncated()) {
        return fmt::format(
            "the trace is cut at {} MB: --trace-window chooses what it shows, --trace-limit its "
            "size",
            options_.limit_mb);
    }
    return why_empty(*log_, options_, result.time_ns);
}

}  // namespace tilesim::sim::trace
