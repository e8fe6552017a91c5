#include "workloads/pim/transformer/model_job.hpp"

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
        name_bottlenecks(result, "pim", "PIM: ");
    }

  private:
    double layers() const { return static_cast<double>(workload_.model.layers); }

    bool step_parts(Runner& runner, std::vector<StepPart>& steps, RunResult& result) {
        const auto batch = static_cast<double>(workload_.batch);
        const double modes = modes_of_layer(runner);
        for (const Operator& op : operators_) {
            StepPart step{op, soc_ns(soc_, op, batch), soc_ns(soc_, op, batch)};
            if (op.place == Place::Banks) {
                const auto run = in_banks(runner, op, batch, result);
                if (!run) {
                    return false;
                }
                step.ns = run->time_ns * op.uses;
                add_states(result, *run,
                           op.uses * (op.of_layer ? layers() : 1) *
                               static_cast<double>(workload_.generate));
            }
            if (op.place == Place::Npu) {
                step.ns = on_npu(runner, op, batch);
            }
            if (op.place == Place::Banks && op.of_layer) {
                step.ns -= modes * batch * op.uses;
            }
            steps.push_back(step);
        }
        if (modes > 0) {
            steps.push_back({{"mode_switch", Place::Banks}, modes, 0});
        }
        return true;
    }

    // One step of all sequences: a GEMV for each, or for as many together as a unit has ALUs.
    std::optional<RunResult> in_banks(Runner& runner, const Operator& op, double tokens,
                                      RunResult& result) {
        const auto vectors = static_cast<std::int64_t>(tokens);
        const auto placement = gemv::placement_of(case_, op.gemv, vectors);
        RunResult run;
        gemv::run_gemv(runner, case_, op.gemv, placement,
                       arch::base::ceil_div(vectors, placement.vectors), nullptr, run);
        if (run.status != Status::Ok) {
            result.status = run.status;
            result.deadlock = std::move(run.deadlock);
            return std::nullopt;
        }
        result.events += run.events;
        return run;
    }

    double on_npu(Runner& runner, const Operator& op, double tokens) {
        Case part;
        part.device = *workload_.prompt_device;
        part.problem = {gemm_kind(),
                        GemmProblem{static_cast<std::int64_t>(tokens), op.gemv.k, op.gemv.m,
                                    workload_.format.input, workload_.format.weights,
                                    *workload_.prompt_result}};
        const RunResult run = runner.run(part);
        return run.time_ns * copies_read(op, tokens);
    }

    // Entering and leaving the all-bank mode, where that happens once a layer and not for each
    // matrix.
    double modes_of_layer(Runner& runner) {
        const auto& modes = case_.device.get<arch::pim::PimConfig>().modes;
        if (modes.around != arch::pim::ModeConfig::Around::Layer) {
            return 0;
        }
        arch::pim::PimProgram program{1, {}};
        arch::pim::append(program.commands, modes.enter);
        arch::pim::append(program.commands, modes.leave);
        RunResult aside;
        gemv::run_program(runner, case_, program, 0, nullptr, aside);
        return aside.time_ns;
    }

    // Scores are a GEMV of the keys, the outputs one of the values, for every head that has its own
    // and every query that shares it.
    bool attention_in_banks(Runner& runner, AttentionTimes& times, RunResult& result) {
        const TransformerModel& model = workload_.model;
        const double first = static_cast<double>(std::max<std::int64_t>(workload_.prompt, 1));
        const double last =
            first + static_cast<double>(std::max<std::int64_t>(workload_.generate, 1));
        const double queries = static_cast<double>(model.heads * workload_.batch);
        std::array<std::vector<RunResult>, AttentionTimes::kContexts> runs;
        const std::array<double, AttentionTimes::kContexts> contexts{first, (first + last) / 2,
                                                                     last};
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const auto tokens = static_cast<std::int64_t>(contexts[i]);
            double ns = 0;
            for (const auto& [m, k] : {std::pair{tokens, model.size_of_head()},
                                       std::pair{model.size_of_head(), tokens}}) {
                const Operator op{"attention", Place::Banks, 1, 1, gemv_of(workload_, m, k), true};
                auto run = in_banks(runner, op, 1, result);
                if (!run) {
                    return false;
                }
                ns += run->time_ns;
                runs[i].push_back(std::move(*run));
            }
            times.add_in_banks(contexts[i], ns * queries);
        }
        const auto shares = times.shares(static_cast<double>(workload_.prompt), workload_.generate);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            for (const RunResult& run : runs[i]) {
                add_states(result, run, shares[i] * queries * layers());
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
        const auto all = tokens * static_cast<double>(workload_.batch);
        std::optional<PromptPart> head;
        for (const Operator& op : operators_) {
            if (op.of_layer) {
                parts.push_back({op.name, npu ? Place::Npu : Place::Soc, layers(),
                                 npu ? on_npu(runner, op, all) : soc_ns(soc_, op, all),
                                 op.gemv.macs() * op.uses * all});
            } else {  // of the last token
                const auto last = static_cast<double>(workload_.batch);
                head = {op.name, Place::Soc, 1, soc_ns(soc_, op, last), op.gemv.macs() * last};
            }
        }
        const Attention pairs = attention_of(workload_, tokens * (tokens + 1) / 2);
        const Attention cache = attention_of(workload_, tokens);
        parts.push_back({"attention", Place::Soc, layers(),
                         soc_.roofline_ns(pairs.macs, cache.bytes), pairs.macs});
        parts.push_back(*head);
        return parts;
    }

    const Case& case_;
    const ModelWorkload& workload_;
    const arch::pim::SocConfig& soc_;
    const std::vector<Operator> operators_;
};

}  // namespace

std::unique_ptr<Job> model_job(const Case& a_case) {
    return std::make_unique<ModelJob>(a_case);
}

}  // namespace tilesim::workloads::pim::transformer
