#include "sim/compare/compiled_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/compare/alignment.hpp"
#include "sim/compare/timing_file.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::sim::compare {

namespace {

using arch::npu::program::Kernel;
constexpr std::size_t kMostReadings = 4;  // each is a simulation

// Fewest measured cycles between two lock instructions of a core that follow each other directly,
// as the simulation has them `lock_cycles` apart: between others the core works or waits.
std::optional<std::int64_t> lock_spacing(const PairedUnit& unit, std::int64_t lock_cycles) {
    std::vector<std::pair<std::int64_t, std::int64_t>> begins;  // simulated, measured
    for (const auto& [event, lane] : unit.lanes) {
        if (event.starts_with("INSTR_LOCK_")) {
            for (const Pair& pair : lane.pairs) {
                begins.emplace_back(pair.simulated.begin, pair.measured.begin);
            }
        }
    }
    std::sort(begins.begin(), begins.end());
    std::optional<std::int64_t> least;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
        const std::int64_t gap = begins[i + 1].second - begins[i].second;
        if (begins[i + 1].first - begins[i].first == lock_cycles && gap > 0) {
            least = std::min(least.value_or(gap), gap);
        }
    }
    return least;
}

// Of the first core whose lock instructions stand further apart, or closer, than simulated.
std::optional<std::int64_t> other_lock_spacing(const std::map<std::string, PairedUnit>& units,
                                               std::int64_t lock_cycles) {
    for (const auto& [name, unit] : units) {
        const auto spacing = lock_spacing(unit, lock_cycles);
        if (spacing && std::abs(*spacing - lock_cycles) > 1) {
            return spacing;
        }
    }
    return std::nullopt;
}

// Of kernels between markers that last longer, or shorter, than simulated.
std::optional<std::int64_t> other_kernel_cycles(const std::map<std::string, PairedUnit>& units) {
    std::vector<double> mine;
    std::vector<double> theirs;
    for (const auto& [name, unit] : units) {
        if (!unit.lanes.contains(kKernelEnd) || !unit.lanes.contains(kKernel)) {
            continue;
        }
        for (const Pair& pair : unit.lanes.at(kKernel).pairs) {
            if (pair.length_known()) {
                mine.push_back(static_cast<double>(pair.measured.end - pair.measured.begin));
                theirs.push_back(static_cast<double>(pair.simulated.end - pair.simulated.begin));
            }
        }
    }
    if (mine.empty() || std::abs(median(mine) - median(theirs)) <= 1) {
        return std::nullopt;
    }
    return std::llround(median(mine));
}

// The functions that take time and may have marked it, those that take longest first.
std::vector<const Kernel*> marked_functions(const sim::Scenario& scenario) {
    const auto* workload = scenario.problem.find<workloads::npu::program_file::ProgramWorkload>();
    std::vector<const Kernel*> functions;
    if (workload != nullptr) {
        for (const Kernel& kernel : workload->program.kernels) {
            const bool called = kernel.kind != arch::npu::program::KernelKind::Inline;
            if (called && kernel.marked && kernel.cycles != 0) {
                functions.push_back(&kernel);
            }
        }
    }
    std::stable_sort(functions.begin(), functions.end(), [](const Kernel* a, const Kernel* b) {
        return a->cycles.value_or(0) > b->cycles.value_or(0);
    });
    return functions;
}

}  // namespace

CompiledCode compiled_code(const TraceFile& measured, const TraceFile& simulated,
                           arch::base::Cycles lock_cycles) {
    const std::map<std::string, PairedUnit> units = paired(measured, simulated);
    return {other_lock_spacing(units, lock_cycles.count()), other_kernel_cycles(units)};
}

std::vector<std::vector<std::string>> settings_of(const CompiledCode& code,
                                                  const sim::Scenario& scenario) {
    std::vector<std::string> common;
    if (code.lock_spacing) {
        common.push_back(fmt::format("device.npu.core.lock_cycles={} cycle", *code.lock_spacing));
    }
    const std::vector<const Kernel*> functions =
        code.kernel ? marked_functions(scenario) : std::vector<const Kernel*>{};
    std::vector<std::vector<std::string>> readings;
    for (const Kernel* kernel : functions) {
        if (kernel->estimated && readings.size() < kMostReadings) {
            std::vector<std::string>& reading = readings.emplace_back(common);
            if (functions.size() > 1) {
                reading.push_back(fmt::format("design.marked=[{}]", kernel->name));
            }
            reading.push_back(
                fmt::format("design.kernels.{}={} cycle", kernel->name, *code.kernel));
        }
    }
    if (readings.empty() && !common.empty()) {
        readings.push_back(std::move(common));
    }
    return readings;
}

}  // namespace tilesim::sim::compare
