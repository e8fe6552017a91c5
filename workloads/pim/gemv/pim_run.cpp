#include "workloads/pim/gemv/pim_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arch/base/clock.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "arch/pim/pim_controller.hpp"
#include "arch/pim/pim_use.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::memory::traffic::StreamDriver;

namespace {

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
    void finish_statistics() override {}
    arch::base::Cycles finish_cycle() const override { return controller_.program_cycles(); }
    arch::base::Femtoseconds finish_time() const override { return controller_.finish_time(); }
    void add_bank_use(arch::memory::port::BankUse& use) const override { controller_.add_to(use); }
    bool borrows_channels() const override { return true; }
    std::vector<std::string> not_exercised() const override {
        return arch::pim::not_exercised(config_, program_, rows_);
    }

  private:
    const arch::pim::PimConfig& config_;
    const arch::pim::PimProgram& program_;
    std::int64_t rows_;  // of a bank
    arch::base::EventQueue& queue_;
    arch::base::Femtoseconds origin_;
    arch::pim::PimController controller_;
};

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
    return product.macs() / (units * lanes) * static_cast<double>(pim.command_interval.count()) /
           static_cast<double>(memory.clock.count()) * kNanosecondsPerSecond;
}

double host_ns(const arch::pim::SocConfig& soc, const arch::pim::PimConfig& pim,
               const GemvProblem& gemv, const PimPlacement& p, double in_banks_ns) {
    // Sums the host reads beside the results that the system on chip would have as well.
    const double lanes = pim.fold == arch::pim::Fold::Host && !pim.reduction_tree && p.m < p.lanes
                             ? static_cast<double>(p.lanes) / static_cast<double>(p.m)
                             : 1;
    const bool reads_parts = pim.split_reduction != arch::pim::SplitReduction::Uncharged;
    const double sums = static_cast<double>(gemv.m) *
                            (reads_parts ? static_cast<double>(p.mapping.split_k) * lanes : lanes) -
                        static_cast<double>(gemv.m);
    const double bytes =
        sums * static_cast<double>(arch::base::bits_of(gemv.accumulate)) / arch::base::kBitsPerByte;
    const double ns = bytes / static_cast<double>(soc.bandwidth.count()) * kNanosecondsPerSecond;
    return pim.split_reduction == arch::pim::SplitReduction::Overlapped
               ? std::max(0.0, ns - in_banks_ns)
               : ns;
}

void run_program(Runner& runner, const Case& a_case, const arch::pim::PimProgram& program,
                 double macs, arch::pim::PimListener* listener, RunResult& result) {
    const auto& dram = a_case.device.memory;
    Plan plan{.memory = dram,
              .lookahead = arch::pim::PimController::memory_lookahead(dram),
              .clock = dram.clock,
              .macs = macs,
              .in_banks = {"alu"}};
    plan.build = [&](Bench& bench) {
        return std::make_unique<PimModel>(a_case, program, bench, listener);
    };
    runner.run(a_case, plan, result);
    result.memory.reset();  // the commands are the units'; `banks` counts them
    if (result.status != Status::Ok) {
        return;
    }
    const arch::base::Clock clock{dram.clock};
    result.time_ns = arch::base::ns_of(clock.time_of(arch::base::Cycles{result.cycles}));
    set_rates(result, macs, dram.clock);
}

void run_gemv(Runner& runner, const Case& a_case, const GemvProblem& gemv,
              const PimPlacement& placement, FunctionalGemv* functional, RunResult& result) {
    const auto& pim = a_case.device.get<arch::pim::PimConfig>();
    const arch::pim::PimProgram program = lower(gemv, placement, a_case.device.memory, pim);
    run_program(runner, a_case, program, gemv.macs(), functional, result);
    if (result.status != Status::Ok) {
        return;
    }
    const double on_host_ns =
        host_ns(a_case.device.get<arch::pim::SocConfig>(), pim, gemv, placement, result.time_ns);
    result.time_ns += on_host_ns;
    result.details["rest_on_host_ns"] = on_host_ns;
    set_rates(result, gemv.macs(), a_case.device.memory.clock);
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
