// The options of `tilesim run` that write traces, and the listener they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/memory/controller/command_log.hpp"
#include "sim/scenario.hpp"
#include "sim/trace/activity_log.hpp"
#include "workloads/result.hpp"

namespace tilesim::sim::trace {

struct TraceOptions {
    std::string chrome_file = {};  // empty: none
    std::string time = "cycles";
    bool counters = false;
    bool flows = false;
    std::string vcd_file = {};
    std::string vcd_signals = {};
    std::string command_file = {};
    std::string window = {};  // "10 us..25 us"
    std::int64_t limit_mb = 256;

    bool wanted() const { return !chrome_file.empty() || !vcd_file.empty(); }
    // Throws where one cannot be written, or would replace one of those that are read.
    void check_files(const std::vector<std::string>& read) const;
};

class TraceSession {
  public:
    // Throws ConfigError when the options make no sense.
    explicit TraceSession(const TraceOptions& options);

    arch::base::ProbeListener* listener() { return log_ ? &*log_ : nullptr; }
    arch::memory::controller::CommandLog* commands() { return commands_ ? &*commands_ : nullptr; }
    // Writes the files; returns what the user must know, or nothing.
    // `memory_rows`: of memory tiles in the device's array.
    std::string write(const workloads::RunResult& result, std::int64_t memory_rows);

  private:
    TraceOptions options_;
    std::optional<ActivityLog> log_;
    std::optional<arch::memory::controller::CommandLog> commands_;
};

}  // namespace tilesim::sim::trace
