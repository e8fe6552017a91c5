// The options of `run` that write traces.
#include "sim/trace/trace_options.hpp"

#include <CLI/CLI.hpp>

#include "sim/commands/commands.hpp"

namespace tilesim::sim::commands {

void add_trace_options(CLI::App& command, trace::TraceOptions& options) {
    command.add_option("--trace", options.chrome_file,
                       "write a Chrome trace, as mlir-aie's parser does");
    command
        .add_option("--trace-time", options.time,
                    "times of --trace: cycles, or us as viewers take them")
        ->check(CLI::IsMember({"cycles", "us"}));
    command.add_flag("--trace-counters", options.counters,
                     "busy cores and DRAM in --trace besides the activities");
    command.add_flag("--trace-flows", options.flows,
                     "arrows in --trace from the release of a lock to whom it woke");
    command.add_option("--vcd", options.vcd_file, "write a value change dump");
    command.add_option("--vcd-signals", options.vcd_signals,
                       "only components whose name holds this");
    command.add_option("--commands", options.command_file,
                       "write every command of the memory, a CSV line each");
    command.add_option("--trace-window", options.window, "only this time: '10 us..25 us'");
    command.add_option("--trace-limit", options.limit_mb, "most megabytes of a trace [256]")
        ->check(CLI::Range(1, 100'000));
}

}  // namespace tilesim::sim::commands
