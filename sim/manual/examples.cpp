#include "sim/manual/examples.hpp"

#include <CLI/CLI.hpp>
#include <string>

namespace tilesim::sim::manual {

namespace {

struct Examples {
    const char* command;
    const char* first;
    const char* second;
};

constexpr Examples kExamples[] = {
    {"run", "tilesim run configs/scenarios/xdna2_gemm_int8_int8.yaml --set device.npu.clock=1.2GHz",
     "tilesim run configs/programs/add_one.yaml --functional --trace trace.json --format json"},
    {"lower", "tilesim lower configs/scenarios/xdna_functional.yaml",
     "tilesim lower configs/scenarios/pim_functional.yaml"},
    {"describe", "tilesim describe xdna2",
     "tilesim describe configs/scenarios/pim_gemv.yaml | grep tRCD"},
    {"schema", "tilesim schema > tilesim.schema.json", "tilesim schema | grep -A 4 '\"k_mt\"'"},
    {"sweep", "tilesim sweep configs/sweeps/xdna_outstanding_bursts.yaml --dry-run",
     "tilesim sweep configs/sweeps/xdna_outstanding_bursts.yaml --jobs 2 --store results.db"},
    {"rerun", "tilesim rerun 1", "tilesim rerun 3 --store results.db"},
    {"export", "tilesim export csv results.db --out points.csv", "tilesim export json results.db"},
    {"merge", "tilesim merge all.db results.db", "tilesim merge both.db all.db results.db"},
    {"tune", "tilesim tune configs/scenarios/xdna_functional.yaml --time 5",
     "tilesim tune configs/scenarios/pim_gemv.yaml --time 5 --format json"},
    {"report", "tilesim report results.db -o report.html", "tilesim report results.db --md"},
    {"compare", "tilesim compare configs/programs/add_one.yaml --against trace.json",
     "tilesim compare configs/programs/add_one.yaml --against trace.json --html both.html"},
    {"calibrate",
     "tilesim calibrate xdna --against runs.csv --fit npu.clock -o mine.yaml "
     "--scenario configs/scenarios/xdna_core_kernel.yaml",
     "tilesim calibrate xdna --against runs.csv --fit npu.clock=0.8GHz..1.4GHz "
     "--scenario configs/scenarios/xdna_core_kernel.yaml --format json"},
    {"validate", "tilesim validate versal", "tilesim validate npu_micro --format csv"},
    {"completion", ". <(tilesim completion bash)", "tilesim completion zsh > _tilesim"},
    {"man", "tilesim man .", "tilesim man . && man ./tilesim-run.1"}};

}  // namespace

void add_examples(CLI::App& app) {
    for (const auto& [command, first, second] : kExamples) {
        app.get_subcommand(command)->footer(std::string{"Examples:\n  "} + first + "\n  " + second);
    }
    app.footer(
        "Examples:\n  tilesim run configs/scenarios/xdna2_gemm_int8_int8.yaml\n"
        "  tilesim run --help");
}

}  // namespace tilesim::sim::manual
