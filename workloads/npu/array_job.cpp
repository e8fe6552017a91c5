#include "workloads/npu/array_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/fabric/fabric_config.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/check/device_use.hpp"
#include "arch/npu/program/program_print.hpp"
#include "workloads/npu/array_attribution.hpp"

namespace tilesim::workloads::npu {

using arch::memory::port::BackingStore;
using arch::npu::array::Array;
using arch::npu::check::ReadyProgram;
using arch::npu::program::Program;

namespace {

// A design without a run-time sequence has no end of its own: it runs until nothing moves, or for
// this long where the scenario names no budget.
constexpr arch::base::Femtoseconds kUntilQuiet{1'000'000'000'000};

bool runs_until_quiet(const Program& program) {
    return program.ends_with_sequence && program.sequence.empty();
}

class ArrayModel final : public Model {
  public:
    ArrayModel(const Case& a_case, const Program& program, Bench& bench, BackingStore* bytes)
        : config_(a_case.device.get<arch::npu::NpuConfig>()),
          program_(program),
          array_(a_case.device.get<arch::npu::NpuConfig>(),
                 a_case.device.get<arch::fabric::FabricConfig>(), program, bench.memory,
                 bench.queue, bench.root, bytes) {}

    Array& array() { return array_; }

    void connect(arch::base::ProbeListener* listener) override { array_.connect(listener); }
    void start() override { array_.start(); }
    bool finished() const override { return array_.finished() && !runs_until_quiet(program_); }
    bool done_so_far() const override { return array_.finished(); }
    bool livelocked() const override { return array_.livelocked(); }
    bool may_rest() const override {
        return program_.ends_with_sequence && array_.sequence_done();
    }
    arch::base::DeadlockReport deadlock() const override { return array_.deadlock(); }
    void finish_statistics() override { array_.finish_statistics(); }
    arch::base::Cycles finish_cycle() const override { return array_.finish_cycle(); }
    arch::base::Femtoseconds finish_time() const override { return array_.finish_time(); }

    std::vector<std::string> not_exercised() const override {
        using arch::npu::program::TileKind;
        std::vector<std::string> keys = arch::npu::check::not_exercised(
            program_, config_,
            {array_.most_queued(TileKind::Core), array_.most_queued(TileKind::Memory),
             array_.most_queued(TileKind::Shim)});
        const std::vector<std::string> fabric = array_.fabric().not_exercised();
        keys.insert(keys.end(), fabric.begin(), fabric.end());
        return keys;
    }

  private:
    const arch::npu::NpuConfig& config_;
    const Program& program_;
    Array array_;
};

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
    } else if (runs_until_quiet(program) &&
               (end == RunEnd::Stopped || end == RunEnd::TimeLimit)) {
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
        run_array(runner, case_, ready_, product_.contents,
                  case_.problem.get<GemmProblem>().macs(), result);
        if (result.status != Status::Ok && result.status != Status::Mismatch) {
            return;
        }
        result.bounds = product_.bounds;
        SIM_CHECK(product_.kernel_cycles || result.time_ns >= result.bounds->tightest_ns(),
                  "the simulation ({} ns) beats its own {} bound ({} ns)", result.time_ns,
                  result.bounds->binding(), result.bounds->tightest_ns());
        if (product_.details) {
            product_.details(result);
        }
    }

    std::string text() const override {
        return product_.summary + fmt::format("device: {}\n", case_.device.name) +
               arch::npu::program::print(ready_.program());
    }

  private:
    const Case& case_;
    LoweredProduct product_;
    ReadyProgram ready_;
};

}  // namespace

KernelCycles read_kernel_cycles(arch::base::config::Node& mapping) {
    if (!mapping.has("kernel_cycles")) {
        return std::nullopt;
    }
    std::int64_t cycles = 0;
    mapping.optional("kernel_cycles", cycles, {0, 1'000'000'000},
                     "measured cycles of a multiply call, instead of the timing model's");
    return cycles;
}

void describe_kernel_cycles(KernelCycles cycles, nlohmann::ordered_json& mapping) {
    if (cycles) {
        mapping["kernel_cycles"] = *cycles;
    }
}

void override_kernel_cycles(KernelCycles cycles, Program& program, RunResult& result) {
    if (!cycles) {
        return;
    }
    for (arch::npu::program::Kernel& kernel : program.kernels) {
        if (kernel.kind == arch::npu::program::KernelKind::Multiply ||
            kernel.kind == arch::npu::program::KernelKind::Stream) {
            kernel.cycles = cycles;
        }
    }
    result.notes.push_back(
        fmt::format("every multiply call takes {} cycles, as the scenario says, instead of the "
                    "timing model's",
                    *cycles));
}

// A program on the array alone asks nothing of the processor beside it.
void name_host_keys(const Device& device, RunResult& result) {
    for (const auto& document : device.documents) {
        for (const auto& key : document.descriptions()) {
            if (key.path.starts_with("host.")) {
                result.not_exercised.push_back(key.path);
            }
        }
    }
}

void run_array(Runner& runner, const Case& a_case, const ReadyProgram& ready,
               const Contents& contents, double macs, RunResult& result) {
    const arch::npu::NpuConfig& config = a_case.device.get<arch::npu::NpuConfig>();
    BackingStore store;
    BackingStore* bytes = a_case.run.functional ? &store : nullptr;
    ArrayModel* model = nullptr;
    std::optional<ProductCheck> checked;
    Plan plan{.memory = a_case.device.memory,
              .lookahead = a_case.device.get<arch::fabric::FabricConfig>().request_latency,
              .clock = config.clock,
              .macs = macs};
    plan.build = [&](Bench& bench) {
        auto built = std::make_unique<ArrayModel>(a_case, ready.program(), bench, bytes);
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
        note_leftovers(end, ready.program(), array, result);
        const bool well =
            end == RunEnd::Finished || end == RunEnd::Rested || end == RunEnd::Stopped;
        if (well && bytes != nullptr && contents.check) {
            checked = contents.check(store, *array.memory());
        }
    };
    plan.quiet_time = runs_until_quiet(ready.program()) ? kUntilQuiet : arch::base::kNever;
    runner.run(a_case, plan, result);
    name_host_keys(a_case.device, result);
    if (result.status == Status::Ok) {
        name_array_bottlenecks(result);
        if (checked) {
            result.functional = checked;
            result.status = checked->match ? Status::Ok : Status::Mismatch;
        }
    }
}

std::unique_ptr<Job> product_job(const Case& a_case, LoweredProduct product, RunResult& result) {
    override_kernel_cycles(product.kernel_cycles, product.program, result);
    result.padding_waste = product.padding_waste;
    ReadyProgram ready = arch::npu::check::prepare(std::move(product.program),
                                                   a_case.device.get<arch::npu::NpuConfig>());
    return std::make_unique<ProductJob>(a_case, std::move(product), std::move(ready));
}

}  // namespace tilesim::workloads::npu
