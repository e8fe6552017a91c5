#include "sim/system/npu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "arch/base/check.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/memory/controller/command_trace.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/check/buffer_placement.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/check/path_checks.hpp"
#include "arch/npu/check/program_graph.hpp"
#include "arch/npu/program/program_print.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/stream/router.hpp"
#include "arch/npu/check/transfer_checks.hpp"
#include "sim/attribution.hpp"
#include "sim/console.hpp"
#include "sim/system/limits.hpp"

namespace tilesim::sim::system {

using arch::base::EventQueue;
using arch::systemc::Outcome;
using Json = nlohmann::ordered_json;

Json describe(const workloads::GemmProblem& gemm) {
    return {{"gemm",
             {{"M", gemm.m},
              {"K", gemm.k},
              {"N", gemm.n},
              {"a", arch::npu::stream::name_of(gemm.a)},
              {"b", arch::npu::stream::name_of(gemm.b)},
              {"c", arch::npu::stream::name_of(gemm.c)},
              {"b_layout", gemm.b_column_major ? "column_major" : "row_major"}}}};
}

std::string kernel_cycles_note(std::int64_t cycles) {
    return fmt::format(
        "every multiply call takes {} cycles, as the scenario says, instead of the timing model's",
        cycles);
}

Json described(const workloads::OutputStationaryMapping& map) {
    const bool overlapped =
        map.shim_bds == workloads::OutputStationaryMapping::ShimDescriptors::Overlapped;
    return {{"output_stationary",
             {{"m_ct", map.m_ct},
              {"k_ct", map.k_ct},
              {"n_ct", map.n_ct},
              {"k_mt", map.k_mt},
              {"c_buffers", map.c_buffers},
              {"shim_bds", overlapped ? "overlapped" : "sequential"}}}};
}

// The bound of the steady state and what the run made of it.
SteadyState compare(const arch::npu::check::PeriodBound& bound, const arch::npu::array::Array& array) {
    const arch::npu::dma::DmaChannel& channel = array.channel(bound.channel);
    SteadyState steady{channel.name(), bound.cycles, std::nullopt, bound.critical};
    const std::int64_t done = channel.descriptors_done();
    if (done > bound.descriptors) {
        const auto span =
            static_cast<double>((channel.last_progress() - channel.first_end().value()).count());
        const double simulated =
            span / static_cast<double>(done - 1) * static_cast<double>(bound.descriptors);
        if (simulated >= bound.cycles) {  // else it was all beginning, which buffers hasten
            steady.simulated = simulated;
        }
    }
    return steady;
}

// A design without a run-time sequence has no end of its own: it runs until nothing moves, or for
// this long where the scenario names no budget.
constexpr arch::base::Femtoseconds kUntilQuiet{1'000'000'000'000};

bool runs_until_quiet(const arch::npu::program::Program& program) {
    return program.ends_with_sequence && program.sequence.empty();
}

arch::systemc::Limits limits_for(const Scenario& scenario, const arch::npu::program::Program& program) {
    auto limits = limits_of(scenario.run);
    if (runs_until_quiet(program) && scenario.run.max_time == RunOptions{}.max_time) {
        limits.simulated = kUntilQuiet;
    }
    return limits;
}

// What a design that came to rest still waits for, should it be for the host.
void note_host_waits(const arch::npu::array::DeadlockReport& report, RunResult& result) {
    constexpr std::size_t kMostNotes = 8;
    std::size_t notes = 0;
    for (const arch::npu::array::Wait& wait : report.waits) {
        const bool alone = std::all_of(wait.held_by.begin(), wait.held_by.end(),
                                       [&](const std::string& who) { return who == wait.who; });
        if (wait.on == "lock" && alone && notes++ < kMostNotes) {
            result.notes.push_back(fmt::format(
                "{} stands at {}, which nothing else in the design gives; if the host does, "
                "state it under design.host",
                wait.who, wait.what));
        }
    }
}

void simulate(const Scenario& scenario, const arch::npu::program::Program& program,
              const arch::npu::check::ProgramAnalysis& analysis, arch::memory::port::BackingStore* bytes,
              const Contents& contents, double macs, arch::base::ProbeListener* listener,
              RunResult& result) {
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(scenario.device.memory,
                                      scenario.device.fabric.request_latency, queue, root);
    arch::npu::array::Array array(config, scenario.device.fabric, program, memory, queue, root, bytes);
    array.connect(listener);
    std::optional<arch::memory::controller::CommandTrace> commands;
    if (listener != nullptr) {
        memory.listen(&commands.emplace(scenario.device.memory, *listener));
    }
    if (contents.fill && array.memory() != nullptr) {
        contents.fill(*array.memory());
    }
    array.start();
    // Time stamps between two looks for a livelock, a matter of structure and not of speed.
    constexpr int kStampsPerLook = 1 << 14;
    int stamps = 0;
    const bool until_quiet = runs_until_quiet(program);
    const Outcome outcome = arch::systemc::run(queue, limits_for(scenario, program), [&] {
        return (array.finished() && !until_quiet) ||
               (++stamps % kStampsPerLook == 0 && array.livelocked());
    });
    if (commands) {
        commands->finish();
    }
    array.finish_statistics();
    if (analysis.period && array.finished()) {
        result.steady_state = compare(*analysis.period, array);
    }
    memory.finish_statistics();
    result.cycles = array.finish_cycle().count();
    result.time_ns = static_cast<double>(array.finish_time().count()) / kFemtosecondsPerNanosecond;
    result.events = queue.executed();
    result.memory = memory.totals();
    result.banks = memory.bank_use();
    set_rates(result, macs, config.clock);
    result.where = where_time_went(root);
    result.busy = busy_shares(root);
    const bool left_behind =
        outcome == Outcome::NothingPending && program.ends_with_sequence && array.sequence_done();
    if (left_behind) {
        for (const std::string& channel : array.busy_shim_channels()) {
            result.notes.push_back(
                fmt::format("{} had not finished when the sequence ended", channel));
        }
        if (until_quiet) {
            note_host_waits(array.deadlock(), result);
        }
    } else if (until_quiet && outcome == Outcome::SimulatedTimeLimit) {
        result.notes.push_back(
            "without a run-time sequence nothing says when this design has ended: stopped by its "
            "budget (run.max_time)");
    }
    if (!left_behind && (outcome == Outcome::NothingPending || !array.finished())) {
        const bool stopped = outcome == Outcome::NothingPending || array.livelocked();
        result.status = stopped ? Status::Deadlock : Status::TimeLimit;
        if (stopped) {
            result.deadlock = array.deadlock();
        } else {
            result.notes.push_back("stopped by its budget, not dead: " +
                                   array.deadlock().progress());
        }
    } else if (contents.check && array.memory() != nullptr) {
        contents.check(*array.memory());
    }
}

// Checked and with every route given its path.
arch::npu::program::Program prepared(const arch::npu::program::Program& program, const arch::npu::NpuConfig& config) {
    arch::npu::program::Program ready = program;
    arch::npu::check::place_buffers(ready, config);
    const auto refuse = [](const std::vector<std::string>& problems) {
        if (!problems.empty()) {
            throw arch::base::config::ConfigError(
                fmt::format("the program cannot run:\n  {}", fmt::join(problems, "\n  ")));
        }
    };
    refuse(arch::npu::check::verify(ready, config));
    refuse(arch::npu::check::check_paths(ready, config));  // before the router takes them as given
    refuse(arch::npu::check::check_transfers(ready, config).errors);
    arch::npu::stream::route(ready, config);
    return ready;
}

// What is known before the run: warnings, and deadlocks that are certain.
std::vector<std::string> findings_of(const arch::npu::program::Program& program,
                                     const arch::npu::check::ProgramAnalysis& analysis,
                                     const arch::npu::NpuConfig& config) {
    std::vector<std::string> findings = arch::npu::check::check_transfers(program, config).warnings;
    for (const std::string& deadlock : analysis.deadlocks) {
        findings.push_back("certain deadlock: " + deadlock);
    }
    return findings;
}

RunResult run_program(const Scenario& scenario, const ProgramWorkload& workload,
                      arch::base::ProbeListener* listener) {
    RunResult result;
    const arch::npu::program::Program program = prepared(workload.program, *scenario.device.npu);
    result.workload = {{"program", program.name}};
    result.mapping = Json::object();
    result.notes = workload.notes;
    const auto analysis = arch::npu::check::analyse(program, *scenario.device.npu);
    result.findings = findings_of(program, analysis, *scenario.device.npu);
    for (const std::string& finding : result.findings) {
        complain("before the run: " + finding);
    }
    arch::memory::port::BackingStore store;
    arch::memory::port::BackingStore* bytes = scenario.run.functional ? &store : nullptr;
    const Contents contents{[&](arch::npu::tile::TileMemory& tiles) {
                                fill_buffers(workload, scenario.run.seed, {store, tiles});
                            },
                            [&](arch::npu::tile::TileMemory& tiles) {
                                result.functional = check_buffers(workload, {store, tiles});
                                result.status =
                                    result.functional->match ? Status::Ok : Status::Mismatch;
                            }};
    simulate(scenario, program, analysis, bytes, contents, 0, listener, result);
    if (result.status == Status::Ok || result.status == Status::Mismatch) {
        name_bottlenecks(result);
    }
    return result;
}

void simulate_product(const Scenario& scenario, const workloads::GemmProblem& gemm,
                      const LoweredProduct& product, arch::base::ProbeListener* listener,
                      RunResult& result) {
    arch::memory::port::BackingStore store;
    arch::memory::port::BackingStore* bytes = scenario.run.functional ? &store : nullptr;
    if (bytes != nullptr) {
        product.fill(store);
    }
    simulate(scenario, product.program, arch::npu::check::analyse(product.program, *scenario.device.npu),
             bytes, {}, gemm.macs(), listener, result);
    if (result.status != Status::Ok) {
        return;
    }
    result.bounds = product.bounds;
    SIM_CHECK(scenario.kernel_cycles || result.time_ns >= result.bounds->tightest_ns(),
              "the simulation ({} ns) beats its own {} bound ({} ns)", result.time_ns,
              result.bounds->binding(), result.bounds->tightest_ns());
    name_bottlenecks(result);
    if (bytes != nullptr) {
        result.functional = product.check(store);
        result.status = result.functional->match ? Status::Ok : Status::Mismatch;
    }
}

RunResult run_gemm(const Scenario& scenario, const workloads::GemmProblem& gemm,
                   arch::base::ProbeListener* listener) {
    RunResult result;
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    const auto mapping = mapping_of(scenario, gemm, result.notes);
    const workloads::LoweredGemm lowered = lower_gemm(scenario, gemm, mapping);
    if (scenario.kernel_cycles) {
        result.notes.push_back(kernel_cycles_note(*scenario.kernel_cycles));
    }
    result.workload = describe(gemm);
    result.mapping = described(mapping);
    result.padding_waste = lowered.padding_waste(gemm);

    simulate_product(
        scenario, gemm,
        {lowered.program,
         workloads::bounds_of(gemm, mapping, lowered, config, scenario.device.memory),
         [&](auto& store) { workloads::fill_operands(gemm, lowered, scenario.run.seed, store); },
         [&](auto& store) {
             return workloads::check_product(gemm, lowered, mapping, scenario.run.seed, store);
         }},
        listener, result);
    return result;
}

RunResult kernel_result(const Scenario& scenario, const CoreKernelWorkload& workload,
                        arch::base::Cycles cycles) {
    RunResult result;
    const arch::npu::program::Kernel& kernel = workload.kernel;
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    result.workload = {{"core_kernel",
                        {{"m", kernel.m},
                         {"k", kernel.k},
                         {"n", kernel.n},
                         {"a", arch::npu::stream::name_of(kernel.a)},
                         {"b", arch::npu::stream::name_of(kernel.b)},
                         {"c", arch::npu::stream::name_of(kernel.c)}}}};
    result.mapping = Json::object();
    result.cycles = cycles.count();
    result.time_ns = static_cast<double>(arch::base::Clock{config.clock}.time_of(cycles).count()) /
                     kFemtosecondsPerNanosecond;
    set_rates(result, static_cast<double>(kernel.m * kernel.k * kernel.n), config.clock);
    return result;
}

// One core alone needs no event: its time is the kernel model's.
RunResult run_core_kernel(const Scenario& scenario, const CoreKernelWorkload& workload) {
    const arch::npu::core::KernelCycles cycles =
        arch::npu::core::KernelTiming(scenario.device.npu->kernels).cycles(workload.kernel);
    RunResult result = kernel_result(scenario, workload, cycles.total());
    const auto share = [](arch::base::Cycles part) { return static_cast<double>(part.count()); };
    result.where = {{"core",
                     {{"issue", share(cycles.issue)},
                      {"loop_extra", share(cycles.loop_extra)},
                      {"c_load", share(cycles.c_load)},
                      {"c_store", share(cycles.c_store)},
                      {"fill_drain", share(cycles.fill_drain)}}}};
    name_bottlenecks(result);
    return result;
}

workloads::OutputStationaryMapping mapping_of(const Scenario& scenario,
                                              const workloads::GemmProblem& gemm,
                                              std::vector<std::string>& notes) {
    if (const auto* given = std::get_if<workloads::OutputStationaryMapping>(&scenario.mapping)) {
        return *given;
    }
    const auto mapping =
        workloads::choose_mapping(gemm, *scenario.device.npu, scenario.device.memory);
    notes.push_back("no mapping given: chosen by the bounds, see `mapping`");
    return mapping;
}

workloads::LoweredGemm lower_gemm(const Scenario& scenario, const workloads::GemmProblem& gemm,
                                  const workloads::OutputStationaryMapping& mapping) {
    workloads::LoweredGemm lowered = workloads::lower(gemm, mapping, *scenario.device.npu);
    for (arch::npu::program::Kernel& kernel : lowered.program.kernels) {
        if (scenario.kernel_cycles && kernel.kind == arch::npu::program::KernelKind::Multiply) {
            kernel.cycles = scenario.kernel_cycles;
        }
    }
    const auto problems = arch::npu::check::verify(lowered.program, *scenario.device.npu);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("the lowered program cannot run: {}", problems[0]));
    }
    arch::npu::stream::route(lowered.program, *scenario.device.npu);
    return lowered;
}

std::string lowered_program_text(const Scenario& scenario, const ProgramWorkload& workload) {
    return fmt::format("device: {}\n", scenario.device.name) +
           arch::npu::program::print(prepared(workload.program, *scenario.device.npu));
}

std::string lowered_gemm_text(const Scenario& scenario, const workloads::GemmProblem& gemm) {
    std::vector<std::string> notes;
    const auto mapping = mapping_of(scenario, gemm, notes);
    const workloads::LoweredGemm lowered = lower_gemm(scenario, gemm, mapping);
    std::string text = fmt::format(
        "# padded to {} x {} x {} (M x K x N); {} output tiles a core, {} kernel calls each\n"
        "# core memory {} of {} B, memory tile {} of {} B\n",
        lowered.m, lowered.k, lowered.n, lowered.output_tiles, lowered.calls_per_tile,
        lowered.core_bytes, scenario.device.npu->core.memory.count(), lowered.memory_tile_bytes,
        scenario.device.npu->memory_tile.memory.count());
    return text + fmt::format("device: {}\n", scenario.device.name) +
           arch::npu::program::print(lowered.program);
}

}  // namespace tilesim::sim::system
