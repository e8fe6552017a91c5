#include "workloads/pim/gemv/pim_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "arch/base/clock.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "arch/pim/pim_controller.hpp"
#include "arch/pim/pim_use.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::memory::traffic::StreamDriver;
using arch::pim::PimController;
using arch::pim::PimState;
using arch::pim::PimUnit;

namespace {

using arch::base::kNanosecondsPerMicrosecond;
using arch::base::kNanosecondsPerSecond;

class PimModel final : public Model {
  public:
    PimModel(const Case& a_case, const arch::pim::PimProgram& program, Bench& bench,
             arch::pim::PimListener* functional)
        : config_(a_case.device.get<arch::pim::PimConfig>()),
          program_(program),
          rows_(a_case.device.memory.rows),
          queue_(bench.queue),
          origin_(bench.origin),
          controller_(a_case.device.get<arch::pim::PimConfig>(), program, bench.memory, bench.root,
                      functional) {}

    void connect(arch::base::ProbeListener* listener) override { controller_.connect(listener); }
    void log_commands(arch::memory::controller::CommandLog& log) override {
        controller_.log_commands(log);
    }
    void start() override { controller_.start(origin_ + queue_.now()); }
    bool finished() const override { return controller_.finished(); }
    arch::base::DeadlockReport deadlock() const override {
        arch::base::DeadlockReport report;
        report.waits.push_back({.who = "pim", .what = controller_.standstill(), .on = "channel"});
        report.last_progress = controller_.last_progress().count();
        report.last_progress_by = "pim";
        return report;
    }
    void finish_statistics() override {
        if (controller_.finished()) {
            controller_.finish_statistics();
        }
    }
    arch::base::Cycles finish_cycle() const override { return controller_.program_cycles(); }
    arch::base::Femtoseconds finish_time() const override {
        return controller_.finish_time() - origin_;
    }
    void add_bank_use(arch::memory::port::BankUse& use) const override { controller_.add_to(use); }
    bool borrows_channels() const override { return true; }
    const PimController& controller() const { return controller_; }
    std::vector<std::string> not_exercised() const override {
        return arch::pim::not_exercised(config_, program_, rows_);
    }

  private:
    const arch::pim::PimConfig& config_;
    const arch::pim::PimProgram& program_;
    std::int64_t rows_;  // of a bank
    arch::base::EventQueue& queue_;
    arch::base::Femtoseconds origin_;
    PimController controller_;
};

std::int64_t spent(const PimUnit& unit, PimState state) {
    return unit.stats().time.spent(static_cast<std::size_t>(state));
}

// The others wait for the unit that ends last. What it does before and after says nothing.
std::vector<Cause> causes_of_last(const PimController& controller) {
    const auto& units = controller.units();
    const PimUnit& last =
        **std::max_element(units.begin(), units.end(),
                           [](const auto& a, const auto& b) { return a->ended() < b->ended(); });
    std::vector<Cause> causes;
    const auto& time = last.stats().time;
    for (std::size_t state = 0; state < time.states().size(); ++state) {
        if (static_cast<PimState>(state) != PimState::Idle) {
            causes.emplace_back(static_cast<double>(last.blamed(static_cast<PimState>(state))),
                                fmt::format("PIM: {}", time.states()[state].name));
        }
    }
    return causes;
}

// Which refreshes a program meets that is shorter than their interval is a matter of when it
// begins.
void note_refreshes(const PimController& controller, const arch::memory::device::MemoryConfig& dram,
                    RunResult& result) {
    if (!dram.refresh || controller.program_cycles() >= dram.timing.tREFI) {
        return;
    }
    const auto& units = controller.units();
    const auto met = std::count_if(units.begin(), units.end(), [](const auto& unit) {
        return spent(*unit, PimState::Refresh) > 0;
    });
    result.notes.push_back(fmt::format(
        "shorter than the time between a channel's refreshes, which {} of {} channels meet here: "
        "begun at another time, more or fewer do",
        met, units.size()));
}

// How many of a product's repetitions to simulate: refreshes come at their own times, so that one
// more or less of them should matter little.
std::int64_t passes_of(const Case& a_case, const GemvProblem& gemv, const PimPlacement& placement,
                       std::int64_t times) {
    constexpr std::int64_t kIntervals = 16;
    const auto& dram = a_case.device.memory;
    const std::int64_t cycles =
        closed_form_cycles(gemv, placement, dram, a_case.device.get<arch::pim::PimConfig>());
    return std::min(times, arch::base::ceil_div(kIntervals * dram.timing.tREFI.count(),
                                                std::max<std::int64_t>(cycles, 1)));
}

// What was simulated so many times stands for more.
void scale(RunResult& result, double times) {
    const auto scaled = [times](std::int64_t count) {
        return static_cast<std::int64_t>(std::llround(static_cast<double>(count) * times));
    };
    result.cycles = scaled(result.cycles);
    result.time_ns *= times;
    for (auto& [component, states] : result.where) {
        for (auto& [state, cycles] : states) {
            cycles *= times;
        }
    }
    for (const auto& each : result.energy.items()) {
        if (each.value().is_number()) {
            each.value() = each.value().get<double>() * times;
        }
    }
    for (auto& channel : result.banks->channels) {
        for (arch::memory::port::BankCounts& bank : channel) {
            bank.activates = scaled(bank.activates);
            bank.reads = scaled(bank.reads);
            bank.writes = scaled(bank.writes);
        }
    }
}

class ReadModel final : public Model {
  public:
    ReadModel(const arch::memory::traffic::StreamConfig& stream, Bench& bench)
        : driver_(stream, bench.port) {}
    const StreamDriver& driver() const { return driver_; }
    void connect(arch::base::ProbeListener*) override {}
    void start() override { driver_.start(); }
    bool finished() const override { return driver_.finished(); }
    arch::base::DeadlockReport deadlock() const override { return {}; }
    void finish_statistics() override {}
    arch::base::Cycles finish_cycle() const override { return arch::base::Cycles{0}; }
    arch::base::Femtoseconds finish_time() const override { return driver_.result().time; }

  private:
    StreamDriver driver_;
};

}  // namespace

double multiply_bound_ns(const Case& a_case, const Product& product) {
    const auto& pim = a_case.device.get<arch::pim::PimConfig>();
    const auto& memory = a_case.device.memory;
    const double units = static_cast<double>(memory.channels * memory.banks() / pim.banks_per_unit);
    const double lanes =
        static_cast<double>(pim.register_bits / arch::base::bits_of(product.gemv.weights));
    // Vectors that have ALUs of their own share a pass.
    const double passes = static_cast<double>(arch::base::ceil_div(product.vectors, pim.alus));
    return passes * product.gemv.macs() / (units * lanes) *
           static_cast<double>(pim.mac_slot().count()) / static_cast<double>(memory.clock.count()) *
           kNanosecondsPerSecond;
}

double extra_sums_ns(const arch::pim::SocConfig& soc, const GemvProblem& gemv, double sums) {
    return soc.transfer_ns(sums * static_cast<double>(arch::base::bits_of(gemv.accumulate)) /
                           arch::base::kBitsPerByte);
}

namespace {

// The host reads of an output, unfolded lanes each by itself.
double sums_of_output(const arch::pim::PimConfig& pim, const PimPlacement& p, std::int64_t parts) {
    const double lanes = pim.fold == arch::pim::Fold::Host && !pim.reduction_tree && p.m < p.lanes
                             ? static_cast<double>(p.lanes) / static_cast<double>(p.m)
                             : 1;
    return static_cast<double>(parts) * lanes;
}

bool charges_parts(const arch::pim::PimConfig& pim) {
    return pim.split_reduction != arch::pim::SplitReduction::Uncharged;
}

}  // namespace

double host_ns(const arch::pim::SocConfig& soc, const arch::pim::PimConfig& pim,
               const GemvProblem& gemv, const PimPlacement& p, double in_banks_ns) {
    // Beside the result that the system on chip would have as well.
    const double extra = sums_of_output(pim, p, charges_parts(pim) ? parts_of_sum(p) : 1) - 1;
    const double ns = extra_sums_ns(soc, gemv, static_cast<double>(gemv.m) * extra);
    return pim.split_reduction == arch::pim::SplitReduction::Overlapped
               ? std::max(0.0, ns - in_banks_ns)
               : ns;
}

double uncharged_ns(const arch::pim::SocConfig& soc, const arch::pim::PimConfig& pim,
                    const GemvProblem& gemv, const PimPlacement& p) {
    if (charges_parts(pim)) {
        return 0;
    }
    const double extra = sums_of_output(pim, p, parts_of_sum(p)) - sums_of_output(pim, p, 1);
    return extra_sums_ns(soc, gemv, static_cast<double>(gemv.m) * extra);
}

void add_rest_on_host(double ns, double beside_ns, std::vector<Cause> causes,
                      const arch::memory::device::MemoryConfig& dram, RunResult& result) {
    result.time_ns += ns;
    result.details["rest_on_host_ns"] = ns;
    if (ns > 0 && result.energy.contains("total_nj")) {
        result.notes.emplace_back(
            "memory energy: without the sums that the system on chip reads behind the product, and "
            "the standby meanwhile");
    }
    const double cycles_per_ns = static_cast<double>(dram.clock.count()) / kNanosecondsPerSecond;
    causes.emplace_back((ns > 0 ? ns + beside_ns : 0) * cycles_per_ns, kSocBandwidth);
    take_longest(result, std::move(causes));
}

std::vector<Cause> run_program(Runner& runner, const Case& a_case,
                               const arch::pim::PimProgram& program, double macs,
                               arch::pim::PimListener* listener, RunResult& result) {
    const auto& dram = a_case.device.memory;
    Plan plan{.memory = dram,
              .lookahead = arch::pim::PimController::memory_lookahead(dram),
              .lead = arch::base::Clock{dram.clock}.time_of(PimController::kCommandLatency),
              .clock = dram.clock,
              .macs = macs,
              .in_banks = {"alu"}};
    const PimModel* model = nullptr;
    std::vector<Cause> causes;
    plan.build = [&](Bench& bench) {
        auto built = std::make_unique<PimModel>(a_case, program, bench, listener);
        model = built.get();
        return built;
    };
    plan.collect = [&](RunEnd end) {
        if (end == RunEnd::Finished) {
            causes = causes_of_last(model->controller());
            take_longest(result, causes);
            note_refreshes(model->controller(), dram, result);
        }
    };
    runner.run(a_case, plan, result);
    result.memory.reset();  // the commands are the units'; `banks` counts them
    if (result.status == Status::Ok) {
        const arch::base::Clock clock{dram.clock};
        result.time_ns = arch::base::ns_of(clock.time_of(arch::base::Cycles{result.cycles}));
        set_rates(result, macs, dram.clock);
    }
    return causes;
}

namespace {

void note_uncharged(double ns, const PimPlacement& placement, RunResult& result) {
    if (ns > 0) {
        result.notes.push_back(
            fmt::format("K in {} parts: the system on chip reads and adds their sums, {:.3f} us a "
                        "product, which are not charged (pim.split_reduction)",
                        parts_of_sum(placement), ns / kNanosecondsPerMicrosecond));
    }
}

// Work is cut before batches of inputs alone.
void note_phases(const arch::pim::PimProgram& program, std::int64_t wanted, RunResult& result) {
    const std::int64_t phases =
        1 + std::count_if(program.commands.begin(), program.commands.end(),
                          [](const auto& each) { return each.op == arch::pim::PimOp::Yield; });
    if (phases < wanted) {
        result.notes.push_back(fmt::format(
            "phases: {} instead of {}: the work is cut where so many commands are done and a batch "
            "of inputs follows",
            phases, wanted));
    }
}

}  // namespace

void run_gemv(Runner& runner, const Case& a_case, const GemvProblem& gemv,
              const PimPlacement& placement, std::int64_t times, FunctionalGemv* functional,
              RunResult& result) {
    const auto& pim = a_case.device.get<arch::pim::PimConfig>();
    arch::pim::PimProgram program = lower(gemv, placement, a_case.device.memory, pim);
    note_phases(program, placement.mapping.phases, result);
    program.passes = runner.beside_others() ? times : passes_of(a_case, gemv, placement, times);
    const double passes = static_cast<double>(program.passes);
    std::vector<Cause> causes =
        run_program(runner, a_case, program, gemv.macs() * passes, functional, result);
    if (result.status != Status::Ok) {
        return;
    }
    if (program.passes < times) {
        result.notes.push_back(
            fmt::format("{} of {} products in a row simulated, over sixteen refresh intervals and "
                        "more: the others are taken to last as long",
                        program.passes, times));
    }
    const double all = static_cast<double>(times);
    scale(result, all / passes);
    for (auto& [cycles, cause] : causes) {
        cycles *= all / passes;
    }
    const auto& soc = a_case.device.get<arch::pim::SocConfig>();
    const double on_host_ns = host_ns(soc, pim, gemv, placement, result.time_ns / all);
    const bool beside = pim.split_reduction == arch::pim::SplitReduction::Overlapped;
    add_rest_on_host(on_host_ns * all, beside ? result.time_ns : 0, std::move(causes),
                     a_case.device.memory, result);
    const double left_out_ns = uncharged_ns(soc, pim, gemv, placement);
    result.details["uncharged_ns"] = left_out_ns * all;
    note_uncharged(left_out_ns, placement, result);
    set_rates(result, gemv.macs() * all, a_case.device.memory.clock);
}

PlainRead plain_read(Runner& runner, const Case& a_case, const GemvProblem& gemv) {
    constexpr std::int64_t kMostRequests = 8192;  // the rest would go on at the same pace
    constexpr std::int64_t kRequestBytes = 256;
    const auto& dram = a_case.device.memory;
    arch::memory::traffic::StreamConfig stream;
    stream.granule = arch::base::Bytes{kRequestBytes};
    stream.requests = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(gemv.bytes()) / kRequestBytes, 1, kMostRequests);
    stream.outstanding = 1024;
    stream.range = dram.capacity();
    ReadModel* model = nullptr;
    PlainRead plain;
    Plan plan{.memory = dram, .lookahead = StreamDriver::latency(dram), .clock = dram.clock};
    plan.aside = true;
    plan.build = [&](Bench& bench) {
        auto built = std::make_unique<ReadModel>(stream, bench);
        model = built.get();
        return built;
    };
    plan.collect = [&](RunEnd) {
        const auto read = model->driver().result();
        plain.gb_per_s = static_cast<double>(read.bytes) * kFemtosecondsPerNanosecond /
                         static_cast<double>(read.time.count());
    };
    RunResult aside;
    runner.run(a_case, plan, aside);
    plain.not_exercised = std::move(aside.not_exercised);
    return plain;
}

}  // namespace tilesim::workloads::pim::gemv
