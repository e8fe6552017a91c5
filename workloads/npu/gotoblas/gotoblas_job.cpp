#include "sim/system/gotoblas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/program/program_print.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/stream/router.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "sim/attribution.hpp"
#include "sim/system/npu.hpp"
#include "workloads/gotoblas_data.hpp"

namespace tilesim::sim::system {

using Json = nlohmann::ordered_json;
using workloads::GemmProblem;
using workloads::GotoblasMapping;
using workloads::LoweredGotoblas;

namespace {

GotoblasMapping gotoblas_of(const Scenario& scenario, const GemmProblem& gemm,
                            std::vector<std::string>& notes) {
    if (const auto* given = std::get_if<GotoblasMapping>(&scenario.mapping)) {
        return *given;
    }
    notes.push_back("no mapping given: the largest blocks that fit, see `mapping`");
    return workloads::choose_gotoblas(gemm, *scenario.device.npu);
}

LoweredGotoblas lowered_of(const Scenario& scenario, const GemmProblem& gemm,
                           const GotoblasMapping& mapping) {
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    LoweredGotoblas lowered = workloads::lower(gemm, mapping, config);
    for (arch::npu::program::Kernel& kernel : lowered.program.kernels) {
        kernel.cycles = scenario.kernel_cycles;
    }
    const auto problems = arch::npu::check::verify(lowered.program, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("the lowered program cannot run: {}", problems[0]));
    }
    arch::npu::stream::route(lowered.program, config);
    return lowered;
}

Json describe(const GotoblasMapping& map) {
    const bool port = map.a_stream == GotoblasMapping::AStream::Port;
    return {{"gotoblas",
             {{"m_r", map.m_r},
              {"n_r", map.n_r},
              {"m_c", map.m_c},
              {"n_c", map.n_c},
              {"k_c", map.k_c},
              {"b_buffers", map.b_buffers},
              {"a_stream", port ? "port" : "as_read"}}}};
}

// What the register block asks of the core, in the words of the data sheet.
Json describe(const arch::npu::core::RegisterUse& use) {
    return {{"lanes", use.lanes},
            {"accumulators", use.accumulators},
            {"accumulators_available", use.available},
            {"spilled_per_body", use.spilled},
            {"vectors", use.vectors}};
}

double state_of(const RunResult& result, const std::string& component, const std::string& state) {
    for (const auto& [name, states] : result.where) {
        for (const auto& [key, cycles] : states) {
            if (name == component && key == state) {
                return cycles;
            }
        }
    }
    return 0;
}

Json details_of(const Scenario& scenario, const GemmProblem& gemm, const GotoblasMapping& map,
                const LoweredGotoblas& lowered, const RunResult& result) {
    const arch::npu::core::StreamKernelTiming timing(scenario.device.npu->kernels);
    const auto kernel = workloads::micro_kernel(gemm, map, std::min(map.k_c, gemm.k));
    const double kernels =
        state_of(result, "core", "multiply") + state_of(result, "core", "c_load") +
        state_of(result, "core", "c_store") + state_of(result, "core", "waiting_for_stream");
    const double copies = state_of(result, "command_processor", "copying");
    return {{"fraction_of_peak",
             result.macs_per_cycle / static_cast<double>(timing.mode_of(kernel).macs)},
            {"micro_kernel_cycles", timing.cycles(kernel).total().count()},
            {"micro_kernel_calls", lowered.kernel_calls},
            {"micro_kernels_total_cycles", kernels},
            {"c_transfer_cycles",
             state_of(result, "core", "c_load") + state_of(result, "core", "c_store")},
            {"b_copies", lowered.b_panels},
            {"b_copy_cycles", copies},
            {"b_copy_wait_cycles", state_of(result, "core", "waiting_for_host")},
            {"register_block", describe(timing.registers(kernel))}};
}

// A's rate is the one thing the published simulation does not say; both answers are shown.
std::string note_on_a(const GotoblasMapping& map, const arch::npu::NpuConfig& config) {
    return map.a_stream == GotoblasMapping::AStream::Port
               ? "A arrives at 4 B/cycle, the rate of its stream port"
               : fmt::format(
                     "A is there whenever the core reads it ({} B/cycle), as in the published "
                     "simulation; a stream port carries 4 B/cycle: mapping.gotoblas.a_stream=port",
                     config.kernels.stream_read.count());
}

}  // namespace

RunResult run_gotoblas(const Scenario& scenario, const GemmProblem& gemm,
                       arch::base::ProbeListener* listener) {
    RunResult result;
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    const GotoblasMapping mapping = gotoblas_of(scenario, gemm, result.notes);
    const LoweredGotoblas lowered = lowered_of(scenario, gemm, mapping);
    result.notes.push_back(note_on_a(mapping, config));
    if (scenario.kernel_cycles) {
        result.notes.push_back(kernel_cycles_note(*scenario.kernel_cycles));
    }
    result.workload = describe(gemm);
    result.mapping = describe(mapping);
    result.padding_waste = lowered.padding_waste(gemm);

    const workloads::GotoblasData data(gemm, mapping, lowered);
    simulate_product(scenario, gemm,
                     {lowered.program,
                      workloads::bounds_of(gemm, mapping, lowered, config, scenario.device.memory),
                      [&](auto& store) { data.fill(scenario.run.seed, store); },
                      [&](auto& store) { return data.check(scenario.run.seed, store); }},
                     listener, result);
    if (result.bounds) {
        result.details = details_of(scenario, gemm, mapping, lowered, result);
    }
    return result;
}

std::string lowered_gotoblas_text(const Scenario& scenario, const GemmProblem& gemm) {
    std::vector<std::string> notes;
    const GotoblasMapping map = gotoblas_of(scenario, gemm, notes);
    const LoweredGotoblas lowered = lowered_of(scenario, gemm, map);
    const std::int64_t k_c = std::min(map.k_c, gemm.k);
    std::string text = fmt::format(
        "# padded to {} x {} x {} (M x K x N); {} copies of B_r, {} micro-kernel calls\n"
        "# for j_c in 0..{} step {}:\n"
        "#   for p_c in 0..{} step {}:            B_c = B[p_c.., j_c..], packed in DRAM\n"
        "#     for i_c in 0..{} step {}:          A_c = A[i_c.., p_c..], packed in logic RAM\n"
        "#       for j_r in 0..{} step {}:        host copies B_r ({} x {})\n"
        "#         for i_r in 0..{} step {}:      C_r ({} x {}) += A_r * B_r\n",
        lowered.m, gemm.k, lowered.n, lowered.b_panels, lowered.kernel_calls, lowered.n, map.n_c,
        gemm.k, k_c, lowered.m, map.m_c, std::min(map.n_c, lowered.n), map.n_r, k_c, map.n_r,
        std::min(map.m_c, lowered.m), map.m_r, map.m_r, map.n_r);
    return text + fmt::format("device: {}\n", scenario.device.name) +
           arch::npu::program::print(lowered.program);
}

RunResult run_stream_kernel(const Scenario& scenario, const CoreKernelWorkload& workload) {
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    const arch::npu::core::StreamKernelTiming timing(config.kernels);
    const arch::npu::core::StreamKernelCycles cycles = timing.cycles(workload.kernel);
    const auto share = [](arch::base::Cycles part) { return static_cast<double>(part.count()); };
    RunResult result = kernel_result(scenario, workload, cycles.total());
    result.where = {{"core",
                     {{"issue", share(cycles.issue)},
                      {"loop_extra", share(cycles.loop_extra)},
                      {"spill", share(cycles.spill)},
                      {"fill_drain", share(cycles.fill_drain)},
                      {"c_load", share(cycles.c_load)},
                      {"c_store", share(cycles.c_store)}}}};
    result.details = {
        {"fraction_of_peak",
         result.macs_per_cycle / static_cast<double>(timing.mode_of(workload.kernel).macs)},
        {"multiply_cycles", cycles.multiply().count()},
        {"register_block", describe(timing.registers(workload.kernel))}};
    name_bottlenecks(result);
    return result;
}

}  // namespace tilesim::sim::system
