#include "workloads/pim/gemv/natural_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/base/limit.hpp"
#include "arch/pim/program_text.hpp"
#include "workloads/gemm.hpp"
#include "workloads/pim/gemv/natural_gemv_data.hpp"
#include "workloads/pim/gemv/natural_lowering.hpp"
#include "workloads/pim/gemv/pim_run.hpp"
#include "workloads/pim/gemv/product.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::config::ConfigError;
using arch::base::config::Node;
using arch::memory::device::MemoryConfig;
using arch::pim::PimConfig;
using arch::pim::PimOp;
using arch::pim::PimProgram;
using Json = nlohmann::ordered_json;

namespace {

struct NaturalMapping {};

// Without a tree the lanes of a sum leave as they are, and the host adds them.
double lanes_ns(const arch::pim::SocConfig& soc, const PimConfig& pim, const GemvProblem& gemv) {
    const double lanes = pim.reduction_tree ? 1 : static_cast<double>(lanes_of(gemv, pim));
    return extra_sums_ns(soc, gemv, static_cast<double>(gemv.m) * (lanes - 1));
}

using Lower = PimProgram (*)(const GemvProblem&, std::int64_t, const MemoryConfig&,
                             const PimConfig&);

struct Design {
    std::string_view name;
    std::string_view summary;
    Lower lower;
    std::int64_t banks_of_sum;        // that add to the same sums
    std::vector<std::string> unused;  // the device's keys that say nothing to it
};

class NaturalJob final : public Job {
  public:
    NaturalJob(const Case& a_case, const Design& design)
        : case_(a_case),
          product_(product_of(a_case.problem)),
          program_(design.lower(product_.gemv, product_.vectors, a_case.device.memory,
                                a_case.device.get<PimConfig>())),
          design_(design) {}

    void run(Runner& runner, RunResult& result) override {
        const auto& soc = case_.device.get<arch::pim::SocConfig>();
        const auto& pim = case_.device.get<PimConfig>();
        const double macs = product_.macs();
        std::unique_ptr<NaturalGemv> functional;
        if (case_.run.functional) {
            functional = std::make_unique<NaturalGemv>(product_.gemv, product_.vectors, program_,
                                                       design_.banks_of_sum, case_.device.memory,
                                                       pim, case_.run.seed);
        }
        std::vector<Cause> causes =
            run_program(runner, case_, program_, macs, functional.get(), result);
        if (result.status != Status::Ok) {
            return;
        }
        add_not_exercised(result, design_.unused);
        if (spares_alus(product_, pim)) {
            result.not_exercised.emplace_back("pim.alus");
        }
        if (arch::base::spares(pim.registers, most_inputs(pim))) {
            result.not_exercised.emplace_back("pim.registers");
        }
        add_rest_on_host(lanes_ns(soc, pim, product_.gemv) * static_cast<double>(product_.vectors),
                         0, std::move(causes), case_.device.memory, result);
        set_rates(result, macs, case_.device.memory.clock);
        const double soc_ns = soc.roofline_ns(macs, product_.gemv.bytes());
        result.speedup_over_soc = soc_ns / result.time_ns;
        result.details["soc_ns"] = soc_ns;
        result.details["commands"] = program_.commands.size();
        if (functional) {
            result.functional = functional->check();
            result.status = result.functional->match ? Status::Ok : Status::Mismatch;
        }
    }
    std::string text() const override { return arch::pim::print(program_); }

  private:
    // Input registers of an ALU written at a time.
    std::int64_t most_inputs(const PimConfig& pim) const {
        std::int64_t most = 0;
        for (const arch::pim::PimCommand& command : program_.commands) {
            if (command.op == PimOp::WriteInputs) {
                most = std::max(
                    most, command.count / vectors_of_pass(product_.vectors, command.vector, pim));
            }
        }
        return most;
    }

    const Case& case_;
    Product product_;
    PimProgram program_;
    const Design& design_;
};

class Natural final : public Dataflow {
  public:
    explicit Natural(Design design) : design_(std::move(design)) {}

    std::string_view name() const override { return design_.name; }
    std::string_view summary() const override { return design_.summary; }
    bool takes_traffic() const override { return true; }
    bool takes(const Mapping& mapping) const override {
        return !mapping.empty() && &mapping.dataflow() == this;
    }
    bool serves(const Problem& problem, const Device& device) const override {
        return device.has<PimConfig>() &&
               (problem.find<GemvProblem>() != nullptr || problem.find<GemmProblem>() != nullptr);
    }
    Mapping read(Node& mapping) const override {
        mapping.child(name(), summary()).done();
        return {*this, NaturalMapping{}};
    }
    Json describe(const Mapping&) const override { return {{name(), Json::object()}}; }
    std::vector<Refusal> refusals(const Case& a_case) const override {
        if (product_of(a_case.problem).gemv.scale_block > 0) {
            return {{"workload", fmt::format("{} has no scale factors", name())}};
        }
        return {};
    }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        return std::make_unique<NaturalJob>(a_case, design_);
    }

    // One, where the device is made for it.
    std::vector<Candidate> candidates(const Case& a_case) const override {
        const Product product = product_of(a_case.problem);
        if (!refusals(a_case).empty()) {
            return {};
        }
        try {
            design_.lower(product.gemv, product.vectors, a_case.device.memory,
                          a_case.device.get<PimConfig>());
        } catch (const ConfigError&) {
            return {};
        }
        Candidate candidate{std::string{name()}, {*this, NaturalMapping{}}, {}};
        candidate.bounds.compute_ns = multiply_bound_ns(a_case, product);
        return {candidate};
    }

  private:
    Design design_;
};

}  // namespace

const Dataflow& bank_rows_dataflow() {
    static const Natural dataflow(
        {"bank_rows",
         "a matrix row in a bank's row (GDDR6-AiM)",
         lower_bank_rows,
         1,
         {"pim.page", "pim.interleave", "pim.output_registers", "pim.sums"}});
    return dataflow;
}

const Dataflow& tile_pairs_dataflow() {
    static const Natural dataflow({"tile_pairs",
                                   "tiles that alternate between a unit's two banks (HBM-PIM)",
                                   lower_tile_pairs,
                                   2,
                                   {"pim.page", "pim.interleave", "pim.sums"}});
    return dataflow;
}

}  // namespace tilesim::workloads::pim::gemv
