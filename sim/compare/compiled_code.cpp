#include "sim/compare/compiled_code.hpp"

#include <fmt/format.h>

#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::sim::compare {

namespace {

using arch::npu::program::Kernel;

// The only function that takes time, where its cost is a guess.
const Kernel* guessed_kernel(const sim::Scenario& scenario) {
    const auto* workload = scenario.problem.find<workloads::npu::program_file::ProgramWorkload>();
    if (workload == nullptr) {
        return nullptr;
    }
    const Kernel* only = nullptr;
    for (const Kernel& kernel : workload->program.kernels) {
        if (kernel.kind == arch::npu::program::KernelKind::Inline || kernel.cycles == 0) {
            continue;
        }
        if (only != nullptr) {
            return nullptr;
        }
        only = &kernel;
    }
    return only != nullptr && only->estimated ? only : nullptr;
}

}  // namespace

std::vector<std::string> settings_of(const CompiledCode& code, const sim::Scenario& scenario) {
    std::vector<std::string> settings;
    if (code.lock_spacing) {
        settings.push_back(fmt::format("device.npu.core.lock_cycles={} cycle", *code.lock_spacing));
    }
    if (const Kernel* kernel = guessed_kernel(scenario); code.kernel && kernel != nullptr) {
        settings.push_back(fmt::format("design.kernels.{}={} cycle", kernel->name, *code.kernel));
    }
    return settings;
}

}  // namespace tilesim::sim::compare
