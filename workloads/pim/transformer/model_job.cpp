#include "workloads/pim/transformer/model_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/pim/pim_config.hpp"
#include "workloads/attribution.hpp"
#include "workloads/gemm.hpp"
#include "workloads/pim/gemv/gemv_dataflow.hpp"
#include "workloads/pim/gemv/pim_run.hpp"
#include "workloads/pim/transformer/attention_times.hpp"
#include "workloads/pim/transformer/model_report.hpp"
#include "workloads/pim/transformer/model_times.hpp"
#include "workloads/pim/transformer/model_workload.hpp"
#include "workloads/pim/transformer/operators.hpp"

namespace tilesim::workloads::pim::transformer {

namespace {

// The value under `name`, added at the end where there is none yet.
template <typename Value>
Value& value_of(std::vector<std::pair<std::string, Value>>& list, const std::string& name) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const auto& each) { return each.first == name; });
    return found != list.end() ? found->second : list.emplace_back(name, Value{}).second;
}

// A layer's operators, which need no change of modes of their own where the layer has one.
Case without_modes_of_layer(const Case& a_case) {
    Case result = a_case;
    auto pim = a_case.device.get<arch::pim::PimConfig>();
    if (pim.modes.around == arch::pim::ModeConfig::Around::Layer) {
        pim.modes.around = arch::pim::ModeConfig::Around::Nothing;
        result.device.put(pim);
    }
    return result;
}

nlohmann::ordered_json described(const gemv::PimPlacement& placement) {
    return gemv::pimnast_dataflow().describe({gemv::pimnast_dataflow(), placement.mapping});
}

void add_states(RunResult& result, const RunResult& run, double times) {
    for (const auto& [component, states] : run.where) {
        auto& sums = value_of(result.where, component);
        for (const auto& [state, cycles] : states) {
            value_of(sums, state) += cycles * times;
        }
    }
}

class ModelJob final : public Job {
  public:
    explicit ModelJob(const Case& a_case)
        : case_(a_case),
          of_layer_(without_modes_of_layer(a_case)),
          workload_(a_case.problem.get<ModelWorkload>()),
          soc_(a_case.device.get<arch::pim::SocConfig>()),
          operators_(operators_of(workload_)) {}

    void run(Runner& runner, RunResult& result) override {
        ModelTimes times{{}, AttentionTimes(workload_, soc_), {}, {}};
        if (!step_parts(runner, times.step, result)) {
            return;
        }
        if (workload_.places.attention == Place::Banks &&
            !attention_in_banks(runner, times.attention, result)) {
            return;
        }
        const bool npu = workload_.prompt_device && workload_.prompt > 0;
        times.soc_prompt = prompt_parts(runner, false);
        times.prompt = npu ? prompt_parts(runner, true) : times.soc_prompt;
        report(workload_, times, case_.device.memory.clock, result);
        result.details["uncharged_ns"] = uncharged_ns_;
        note_uncharged(result);
        if (case_.device.memory.power.core.given()) {
            result.energy["none"] = "what the system on chip reads of a model is not simulated";
        }
        name_causes(times, result);
    }

  private:
    // A run of an operator's products, and how often one step of all sequences takes it.
    struct InBanks {
        RunResult run;
        double times = 1;
    };
    struct OnNpu {
        double ns = 0;
        std::string cause;
    };

    double layers() const { return static_cast<double>(workload_.model.layers); }
    double generated() const { return static_cast<double>(workload_.generate); }

    void spend(const std::string& cause, double ns) { value_of(causes_, cause) += ns; }

    // What the units and the system on chip have done so often.
    void spend_in_banks(const RunResult& run, double times, RunResult& result) {
        add_states(result, run, times);
        spend(kSocBandwidth, run.details.at("rest_on_host_ns").get<double>() * times);
        uncharged_ns_ += run.details.at("uncharged_ns").get<double>() * times;
    }

    bool step_parts(Runner& runner, std::vector<StepPart>& steps, RunResult& result) {
        const auto batch = static_cast<double>(workload_.batch);
        for (const Operator& op : operators_) {
            const Work work = work_of(op, batch);
            StepPart step{op, soc_ns(soc_, work), soc_ns(soc_, work)};
            const double times = (op.of_layer ? layers() : 1) * generated();
            if (op.place == Place::Soc) {
                spend(soc_cause(soc_, work), step.ns * times);
            } else if (op.place == Place::Npu) {
                const OnNpu npu = on_npu(runner, op, workload_.batch);
                step.ns = npu.ns;
                spend(npu.cause, npu.ns * times);
            } else {
                const auto placement =
                    gemv::placement_of(case_of(op), op.gemv, tokens_of_each(op, workload_.batch));
                step.mapping = described(placement);
                const auto in_step = in_banks(runner, op, placement, workload_.batch, result);
                if (!in_step) {
                    return false;
                }
                step.ns = in_step->run.time_ns * in_step->times;
                spend_in_banks(in_step->run, in_step->times * times, result);
            }
            steps.push_back(step);
        }
        if (modes_around_layer()) {
            const RunResult modes = modes_of_layer(runner);
            steps.push_back({{"mode_switch", Place::Banks}, modes.time_ns, 0});
            add_states(result, modes, layers() * generated());
        }
        return true;
    }

    const Case& case_of(const Operator& op) const { return op.of_layer ? of_layer_ : case_; }

    // One step of all sequences: a GEMV for each, or for as many together as a unit has ALUs and
    // tokens choose the same matrix.
    std::optional<InBanks> in_banks(Runner& runner, const Operator& op,
                                    const gemv::PimPlacement& placement, std::int64_t tokens,
                                    RunResult& result) {
        const Case& a_case = case_of(op);
        const std::int64_t products = arch::base::ceil_div(tokens, placement.vectors);
        InBanks step;
        gemv::run_gemv(runner, a_case, op.gemv, placement, products, nullptr, step.run);
        if (step.run.status != Status::Ok) {
            result.status = step.run.status;
            result.deadlock = std::move(step.run.deadlock);
            return std::nullopt;
        }
        result.events += step.run.events;
        const std::int64_t alus = a_case.device.get<arch::pim::PimConfig>().alus;
        step.times = passes_of(op, tokens, alus) / static_cast<double>(products);
        return step;
    }

    OnNpu on_npu(Runner& runner, const Operator& op, std::int64_t tokens) {
        Case part;
        part.device = *workload_.prompt_device;
        part.problem = {gemm_kind(), GemmProblem{tokens_of_each(op, tokens), op.gemv.k, op.gemv.m,
                                                 workload_.format.input, workload_.format.weights,
                                                 *workload_.prompt_result}};
        const RunResult run = runner.run(part);
        return {run.time_ns * copies_read(op, static_cast<double>(tokens)),
                fmt::format("{}: {}", part.device.name, run.bottleneck)};
    }

    // Whether the all-bank mode is entered and left once for a layer and not for each matrix.
    bool modes_around_layer() const {
        const auto& modes = case_.device.get<arch::pim::PimConfig>().modes;
        return modes.around == arch::pim::ModeConfig::Around::Layer &&
               (workload_.places.attention == Place::Banks ||
                std::any_of(operators_.begin(), operators_.end(), [](const Operator& op) {
                    return op.of_layer && op.place == Place::Banks;
                }));
    }

    RunResult modes_of_layer(Runner& runner) {
        const auto& modes = case_.device.get<arch::pim::PimConfig>().modes;
        arch::pim::PimProgram program{1, {}};
        arch::pim::append(program.commands, modes.enter);
        arch::pim::append(program.commands, modes.leave);
        RunResult aside;
        gemv::run_program(runner, case_, program, 0, nullptr, aside);
        return aside;
    }

    // Scores are a GEMV of the keys, the outputs one of the values, for every head that has its own
    // and every query that shares it. The cache stays where it is placed for the last token.
    bool attention_in_banks(Runner& runner, AttentionTimes& times, RunResult& result) {
        const TransformerModel& model = workload_.model;
        const std::int64_t first = std::max<std::int64_t>(workload_.prompt, 1);
        const std::int64_t last = first + std::max<std::int64_t>(workload_.generate, 1);
        const double queries = static_cast<double>(model.heads * workload_.batch);
        const auto products = [&](std::int64_t tokens) {
            const std::int64_t size = model.size_of_head();
            return std::array{gemv_of(workload_, tokens, size), gemv_of(workload_, size, tokens)};
        };
        std::vector<gemv::PimPlacement> placements;
        for (const GemvProblem& product : products(last)) {
            placements.push_back(gemv::placement_of(of_layer_, product));
        }
        std::array<std::vector<RunResult>, AttentionTimes::kContexts> runs;
        const std::array contexts{first, (first + last) / 2, last};
        for (std::size_t i = 0; i < runs.size(); ++i) {
            double ns = 0;
            const auto of_context = products(contexts[i]);
            for (std::size_t p = 0; p < of_context.size(); ++p) {
                const Operator op{"attention", Place::Banks, 1, 1, of_context[p], true};
                auto one = in_banks(runner, op, gemv::shortened(placements[p], op.gemv, of_layer_),
                                    1, result);
                if (!one) {
                    return false;
                }
                ns += one->run.time_ns;
                runs[i].push_back(std::move(one->run));
            }
            times.add_in_banks(static_cast<double>(contexts[i]), ns * queries);
        }
        const auto shares = times.shares(static_cast<double>(workload_.prompt), workload_.generate);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            for (const RunResult& run : runs[i]) {
                spend_in_banks(run, shares[i] * queries * layers(), result);
            }
        }
        return true;
    }

    // All tokens of the prompts at once: every matrix is read once, each token attends to those
    // before.
    std::vector<PromptPart> prompt_parts(Runner& runner, bool npu) {
        std::vector<PromptPart> parts;
        if (workload_.prompt == 0) {
            return parts;
        }
        const auto tokens = static_cast<double>(workload_.prompt);
        const std::int64_t all = workload_.prompt * workload_.batch;
        const auto on_soc = [&](const std::string& name, double times, const Work& work) {
            return PromptPart{name,      Place::Soc,           times, soc_ns(soc_, work),
                              work.macs, soc_cause(soc_, work)};
        };
        std::optional<PromptPart> head;
        for (const Operator& op : operators_) {
            if (!op.of_layer) {  // of the last token
                head = on_soc(op.name, 1, work_of(op, static_cast<double>(workload_.batch)));
                continue;
            }
            PromptPart& part = parts.emplace_back(
                on_soc(op.name, layers(), work_of(op, static_cast<double>(all))));
            if (npu) {
                const OnNpu run = on_npu(runner, op, all);
                part.place = Place::Npu;
                part.ns = run.ns;
                part.cause = run.cause;
            }
        }
        const Work pairs = attention_of(workload_, tokens * (tokens + 1) / 2);
        const Work cache = attention_of(workload_, tokens);
        parts.push_back(on_soc("attention", layers(), {pairs.macs, cache.bytes}));
        parts.push_back(*head);
        return parts;
    }

    void note_uncharged(RunResult& result) const {
        if (uncharged_ns_ > 0) {
            result.notes.push_back(fmt::format(
                "matrices with K in parts: the system on chip reads and adds their sums, {:.1f} us "
                "of all generated tokens, which are not charged; "
                "device.pim.split_reduction=soc does, and places matrices accordingly",
                uncharged_ns_ / arch::base::kNanosecondsPerMicrosecond));
        }
    }

    // By the time each takes of prompts and generated tokens together.
    void name_causes(const ModelTimes& times, RunResult& result) {
        for (const PromptPart& part : times.prompt) {
            spend(part.cause, part.times * part.ns);
        }
        if (workload_.places.attention == Place::Soc) {
            const Work work = attention_of_generated(workload_);
            spend(soc_cause(soc_, work), layers() * soc_ns(soc_, work));
        }
        std::vector<Cause> causes;
        for (const auto& [cause, ns] : causes_) {
            causes.emplace_back(ns, cause);
        }
        const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, case_.device.memory.clock);
        for (const auto& [component, states] : result.where) {
            for (const auto& [state, cycles] : states) {
                if (component == "pim" && state != "idle") {
                    causes.emplace_back(cycles * cycle_ns, "PIM: " + state);
                }
            }
        }
        take_longest(result, std::move(causes));
    }

    const Case& case_;
    const Case of_layer_;
    const ModelWorkload& workload_;
    const arch::pim::SocConfig& soc_;
    const std::vector<Operator> operators_;
    std::vector<std::pair<std::string, double>> causes_;  // nanoseconds out of the banks
    double uncharged_ns_ = 0;                             // of adding sums, likewise
};

}  // namespace

std::unique_ptr<Job> model_job(const Case& a_case) {
    return std::make_unique<ModelJob>(a_case);
}

}  // namespace tilesim::workloads::pim::transformer
