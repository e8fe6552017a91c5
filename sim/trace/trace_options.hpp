// The options of `tilesim run` that write traces, and the listener they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "workloads/result.hpp"
#include "sim/scenario.hpp"
#include "sim/trace/activity_log.hpp"

namespace CLI {
class App;
}

namespace tilesim::sim::trace {

struct TraceOptions {
    std::string chrome_file;  // empty: none
    std::string vcd_file;
    std::string vcd_signals;
    std::string window;  // "10 us..25 us"
    std::int64_t limit_mb = 256;

    void add_to(CLI::App& command);
    bool wanted() const { return !chrome_file.empty() || !vcd_file.empty(); }
};

class TraceSession {
  public:
    // Throws ConfigError when the options make no sense for the scenario.
    TraceSession(const TraceOptions& options, const Scenario& scenario);

    arch::base::ProbeListener* listener() { return log_ ? &*log_ : nullptr; }
    // Writes the files; returns what the user must know, or nothing.
    std::string write(const RunResult& result);

  private:
    TraceOptions options_;
    arch::base::Hertz clock_{0};
    std::optional<ActivityLog> log_;
};

}  // namespace tilesim::sim::trace
