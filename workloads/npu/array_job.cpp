#include "workloads/npu/array_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/base/units.hpp"
#include "arch/host/host_config.hpp"
#include "arch/host/host_profile.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/program/program_print.hpp"
#include "workloads/npu/array_attribution.hpp"
#include "workloads/npu/array_model.hpp"
#include "workloads/npu/program_refusal.hpp"
#include "workloads/npu/round_work.hpp"
#include "workloads/npu/uncomputed_kernels.hpp"

namespace tilesim::workloads::npu {

using arch::memory::port::BackingStore;
using arch::npu::array::Array;
using arch::npu::check::ReadyProgram;
using arch::npu::program::Program;

namespace {

// How long a design without a run-time sequence runs at most where the scenario names no budget.
constexpr arch::base::Femtoseconds kUntilQuiet{1'000'000'000'000};

// The bound of the steady state and what the run made of it.
SteadyState compare(const arch::npu::check::PeriodBound& bound, const Array& array) {
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

// What a design that came to rest still waits for, should it be for the host.
void note_host_waits(const arch::base::DeadlockReport& report, RunResult& result) {
    constexpr std::size_t kMostNotes = 8;
    std::size_t notes = 0;
    for (const arch::base::Wait& wait : report.waits) {
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

// What was left when nothing moved any more, or when the budget ended.
void note_leftovers(RunEnd end, const Program& program, const Array& array, RunResult& result) {
    if (end == RunEnd::Rested) {
        for (const std::string& channel : array.busy_shim_channels()) {
            result.notes.push_back(
                fmt::format("{} had not finished when the sequence ended", channel));
        }
        if (runs_until_quiet(program)) {
            note_host_waits(array.deadlock(), result);
        }
    } else if (runs_until_quiet(program) && (end == RunEnd::Stopped || end == RunEnd::TimeLimit)) {
        result.notes.push_back(
            "without a run-time sequence nothing says when this design has ended: stopped by its "
            "budget (run.max_time)");
    }
}

class ProductJob final : public Job {
  public:
    ProductJob(const Case& a_case, LoweredProduct product, ReadyProgram ready)
        : case_(a_case), product_(std::move(product)), ready_(std::move(ready)) {}

    void run(Runner& runner, RunResult& result) override {
        const ArrayFindings findings = run_array(runner, case_, ready_, product_.contents,
                                                 product_.macs, product_.rounds, result);
        std::erase_if(result.not_exercised, [this](const std::string& key) {
            const std::vector<std::string>& deciding = product_.deciding_limits;
            return std::find(deciding.begin(), deciding.end(), key) != deciding.end();
        });
        if (result.status != Status::Ok && result.status != Status::Mismatch) {
            return;
        }
        result.bounds = product_.bounds;
        if (result.sampled) {
            result.time_ns = std::max(result.time_ns, result.bounds->tightest_ns());
        }
        SIM_CHECK(result.time_ns >= result.bounds->tightest_ns(),
                  "the simulation ({} ns) beats its own {} bound ({} ns)", result.time_ns,
                  result.bounds->binding(), result.bounds->tightest_ns());
        name_array_bottlenecks(result, findings);  // once more, with its bounds
        if (product_.details) {
            product_.details(result);
        }
    }

    std::string text() const override {
        return product_.summary + arch::npu::program::print(ready_.program(), case_.device.called);
    }

  private:
    const Case& case_;
    LoweredProduct product_;
    ReadyProgram ready_;
};

}  // namespace

GemmBounds with_kernels(GemmBounds modelled, double share) {
    modelled.compute_ns *= std::min(share, 1.0);
    return modelled;
}

GemmBounds KernelCycles::bounds(const GemmBounds& modelled) const {
    return with_kernels(modelled, cycles ? 0 : static_cast<double>(permille) / kAsModelled);
}

KernelCycles read_kernel_cycles(arch::base::config::Node& mapping) {
    KernelCycles kernel;
    if (mapping.has("kernel_cycles")) {
        std::int64_t cycles = 0;
        mapping.optional("kernel_cycles", cycles, {0, 1'000'000'000},
                         "measured cycles of a multiply call, instead of the timing model's");
        kernel.cycles = cycles;
    }
    mapping.optional("kernel_permille", kernel.permille, {1, 1'000'000},
                     "cycles of a multiply call, in thousandths of the timing model's");
    if (kernel.cycles && kernel.permille != KernelCycles::kAsModelled) {
        mapping.error("kernel_permille", "says the same as kernel_cycles; give one of them");
    }
    return kernel;
}

void describe_kernel_cycles(const KernelCycles& kernel, nlohmann::ordered_json& mapping) {
    if (kernel.cycles) {
        mapping["kernel_cycles"] = *kernel.cycles;
    } else if (kernel.stated()) {
        mapping["kernel_permille"] = kernel.permille;
    }
}

namespace {

bool multiplies(const arch::npu::program::Kernel& kernel) {
    using arch::npu::program::KernelKind;
    return kernel.kind == KernelKind::Multiply || kernel.kind == KernelKind::Stream ||
           kernel.kind == KernelKind::Matvec;
}

// The kernels a design is known by: those that multiply, or else those that work on vectors.
bool main_kernel(const arch::npu::program::Kernel& kernel, const Program& program) {
    return multiplies(kernel) ||
           (kernel.kind == arch::npu::program::KernelKind::Vector &&
            std::none_of(program.kernels.begin(), program.kernels.end(), multiplies));
}

std::int64_t modelled_cycles(const arch::npu::program::Kernel& kernel,
                             const arch::npu::NpuConfig& config) {
    return kernel.kind == arch::npu::program::KernelKind::Stream
               ? arch::npu::core::StreamKernelTiming(config.kernels, config.stream)
                     .cycles(kernel)
                     .total()
                     .count()
               : arch::npu::core::KernelTiming(config.kernels).cycles(kernel).total().count();
}

}  // namespace

double override_kernel_cycles(const KernelCycles& kernel, Program& program,
                              const arch::npu::NpuConfig& config, RunResult& result) {
    double shortest = 1;
    if (!kernel.stated()) {
        return shortest;
    }
    for (arch::npu::program::Kernel& each : program.kernels) {
        if (main_kernel(each, program)) {
            const std::int64_t modelled = modelled_cycles(each, config);
            each.cycles = kernel.cycles ? *kernel.cycles
                                        : modelled * kernel.permille / KernelCycles::kAsModelled;
            each.as_modelled = !kernel.cycles;
            shortest = std::min(shortest,
                                static_cast<double>(*each.cycles) / static_cast<double>(modelled));
        }
    }
    result.notes.push_back(
        kernel.cycles
            ? fmt::format("every multiply call takes {} cycles, as the scenario says, instead of "
                          "the timing model's",
                          *kernel.cycles)
            : fmt::format("every multiply call takes {}/1000 of the timing model's cycles, as the "
                          "scenario says",
                          kernel.permille));
    return shortest;
}

// The host's part of a short run is most of it, and another host's is another.
void note_launch(const arch::npu::NpuConfig& config, RunResult& result) {
    constexpr double kLaunches = 3;
    constexpr double kFemtosecondsPerMicrosecond = 1e9;
    const auto dispatch = static_cast<double>(config.command_processor.dispatch.count());
    if (result.time_ns * arch::base::kFemtosecondsPerNanosecond < kLaunches * dispatch) {
        result.notes.push_back(fmt::format(
            "shorter than three launches, {} us each: mostly the host's time, which differs from "
            "machine to machine; state yours as device.host.profile or "
            "device.npu.command_processor.dispatch",
            dispatch / kFemtosecondsPerMicrosecond));
    }
}

// Buffers they would write keep what they hold, which the comparison then sees.
void note_uncomputed(const Program& program, RunResult& result) {
    const std::vector<std::string> names = uncomputed_kernels(program);
    if (!names.empty()) {
        result.notes.push_back(
            fmt::format("only the time of {} is known, not what {} computes: "
                        "their buffers keep the bytes they hold",
                        fmt::join(names, ", "), names.size() == 1 ? "it" : "each"));
    }
}

// Empty: it has none, or that of the default.
std::string host_of(const Device& device) {
    const std::size_t profile =
        device.has<arch::host::HostConfig>() ? device.get<arch::host::HostConfig>().profile : 0;
    return profile > 0 ? std::string{arch::host::host_profiles()[profile].name} : std::string{};
}

// A program on the array alone asks nothing of the processor beside it but its launch.
void name_host_keys(const Device& device, RunResult& result) {
    add_not_exercised(result, device.paths([](const std::string& path) {
        return path.starts_with("host.") && path != "host.profile";
    }));
}

ArrayFindings run_array(Runner& runner, const Case& a_case, const ReadyProgram& ready,
                        const Contents& contents, double macs, const EqualRounds& rounds,
                        RunResult& result) {
    const arch::npu::NpuConfig& config = a_case.device.get<arch::npu::NpuConfig>();
    BackingStore store;
    BackingStore* bytes = a_case.run.functional ? &store : nullptr;
    const WorkOfRound round = work_of_round(ready.program(), rounds.count);
    ArrayModel* model = nullptr;
    std::optional<ProductCheck> checked;
    ArrayFindings findings;
    Plan plan{.memory = a_case.device.memory,
              .lookahead = a_case.device.get<arch::fabric::FabricConfig>().request_latency,
              .clock = config.clock,
              .macs = macs,
              .rounds = round.calls > 0 ? rounds.count : 0,
              .least_leaving = least_leaving(ready.program(), round, config),
              .least_period = arch::base::Femtoseconds{
                  static_cast<std::int64_t>(rounds.least_ns * kFemtosecondsPerNanosecond)}};
    plan.build = [&](Bench& bench) {
        auto built = std::make_unique<ArrayModel>(a_case, ready.program(), round, bench, bytes);
        model = built.get();
        if (bytes != nullptr && contents.fill) {
            contents.fill(store, *model->array().memory());
        }
        return built;
    };
    plan.collect = [&](RunEnd end) {
        Array& array = model->array();
        if (ready.analysis().period && array.finished()) {
            result.steady_state = compare(*ready.analysis().period, array);
        }
        note_leftovers(end, ready.program(), model->present(), result);
        findings = model->findings();
        const bool well =
            end == RunEnd::Finished || end == RunEnd::Rested || end == RunEnd::Stopped;
        if (well && bytes != nullptr && contents.check) {
            checked = contents.check(store, *array.memory());
        }
    };
    plan.quiet_time = runs_until_quiet(ready.program()) ? kUntilQuiet : arch::base::kNever;
    runner.run(a_case, plan, result);
    result.host = host_of(a_case.device);
    name_host_keys(a_case.device, result);
    if (result.status == Status::Ok) {
        name_array_bottlenecks(result, findings);
        note_launch(config, result);
        if (checked) {
            note_uncomputed(ready.program(), result);
            result.functional = checked;
            result.status = checked->match ? Status::Ok : Status::Mismatch;
        }
    }
    return findings;
}

Contents contents_of(const Case& a_case, const GemmMatrices& matrices, const SumOrder& order) {
    const auto& gemm = a_case.problem.get<GemmProblem>();
    return {[&a_case, &gemm, matrices](auto& store, auto&) {
                fill_operands(gemm, matrices, a_case.run.seed, store);
            },
            [&a_case, &gemm, matrices, order](auto& store, auto&) {
                return check_product(gemm, matrices, order, a_case.run.seed, store);
            }};
}

std::unique_ptr<Job> product_job(const Case& a_case, LoweredProduct product, RunResult& result) {
    product.bounds = with_kernels(
        product.bounds, override_kernel_cycles(product.kernel_cycles, product.program,
                                               a_case.device.get<arch::npu::NpuConfig>(), result));
    result.padding_waste = product.padding_waste;
    try {
        ReadyProgram ready = arch::npu::check::prepare(std::move(product.program),
                                                       a_case.device.get<arch::npu::NpuConfig>());
        return std::make_unique<ProductJob>(a_case, std::move(product), std::move(ready));
    } catch (const arch::base::config::ConfigError& error) {
        throw refusal_of_mapping(error, a_case.device);
    }
}

}  // namespace tilesim::workloads::npu
