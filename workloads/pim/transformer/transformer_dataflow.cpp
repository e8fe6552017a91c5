#include "workloads/pim/transformer/transformer_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/base/clock.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/pim/pim_config.hpp"
#include "workloads/attribution.hpp"
#include "workloads/gemm.hpp"
#include "workloads/pim/gemv/gemv_dataflow.hpp"
#include "workloads/pim/gemv/pim_run.hpp"

namespace tilesim::workloads::pim::transformer {

using arch::base::config::ConfigError;
using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

constexpr double kNanosecondsPerSecond = 1e9;

double roofline_ns(const arch::pim::SocConfig& soc, double macs, double bytes) {
    return std::max(2 * macs / static_cast<double>(soc.compute.count()),
                    bytes / static_cast<double>(soc.bandwidth.count())) *
           kNanosecondsPerSecond;
}

struct Costs {
    double layer_macs = 0;  // of the matrices, for one token
    double layer_bytes = 0;
    double head_macs = 0;
    double head_bytes = 0;
    double cache_bytes_a_token = 0;  // keys and values of a layer
    double attention_macs_a_token = 0;
};

GemvProblem gemv_of(const ModelWorkload& workload, std::int64_t rows,
                               std::int64_t columns) {
    GemvProblem gemv = workload.format;
    gemv.m = rows;
    gemv.k = columns;
    return gemv;
}

Costs costs_of(const ModelWorkload& workload) {
    const TransformerModel& model = workload.model;
    Costs costs;
    for (const TransformerModel::Matrix& matrix : model.layer_matrices()) {
        const auto gemv = gemv_of(workload, matrix.rows, matrix.columns);
        costs.layer_macs += gemv.macs();
        costs.layer_bytes += gemv.bytes();
    }
    const auto head = gemv_of(workload, model.vocabulary, model.hidden);
    costs.head_macs = head.macs();
    costs.head_bytes = head.bytes();
    const double keys_and_values = 2.0 * static_cast<double>(model.hidden);
    costs.attention_macs_a_token = keys_and_values;
    costs.cache_bytes_a_token = keys_and_values *
                                static_cast<double>(arch::base::bits_of(workload.format.input)) /
                                arch::base::kBitsPerByte;
    return costs;
}

// All tokens of the prompt at once: every matrix is read once, each token attends to those before.
// `matrices_ns`: of a layer.
double prompt_ns(const ModelWorkload& workload, const Costs& costs, const arch::pim::SocConfig& soc,
                 double matrices_ns) {
    const auto tokens = static_cast<double>(workload.prompt);
    const double pairs = tokens * (tokens + 1) / 2;
    const double layer = matrices_ns + roofline_ns(soc, costs.attention_macs_a_token * pairs,
                                                   costs.cache_bytes_a_token * tokens);
    return static_cast<double>(workload.model.layers) * layer +
           roofline_ns(soc, costs.head_macs, costs.head_bytes);
}

// Attention of every layer and the vocabulary, for the token after `context` others.
double soc_part_ns(const ModelWorkload& workload, const Costs& costs,
                   const arch::pim::SocConfig& soc, std::int64_t context) {
    const auto tokens = static_cast<double>(context);
    return static_cast<double>(workload.model.layers) *
               roofline_ns(soc, costs.attention_macs_a_token * tokens,
                           costs.cache_bytes_a_token * tokens) +
           roofline_ns(soc, costs.head_macs, costs.head_bytes);
}

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

// The prompt's matrices on an NPU, each product simulated with the mapping chosen for it.
double npu_layer_ns(Runner& runner, const ModelWorkload& workload, Json& products) {
    double total = 0;
    for (const TransformerModel::Matrix& matrix : workload.model.layer_matrices()) {
        Case part;
        part.device = *workload.prompt_device;
        part.problem = {gemm_kind(),
                        GemmProblem{workload.prompt, matrix.columns, matrix.rows,
                                    workload.format.input, workload.format.weights,
                                    *workload.prompt_result}};
        const RunResult run = runner.run(part);
        products.push_back({{"name", matrix.name}, {"time_ns", run.time_ns}, {"tops", run.tops}});
        total += run.time_ns;
    }
    return total;
}

class ModelJob final : public Job {
  public:
    explicit ModelJob(const Case& a_case) : case_(a_case) {}
    void run(Runner& runner, RunResult& result) override;

  private:
    const Case& case_;
};

void ModelJob::run(Runner& runner, RunResult& result) {
    const auto& workload = case_.problem.get<ModelWorkload>();
    const arch::pim::SocConfig& soc = case_.device.get<arch::pim::SocConfig>();
    const Costs costs = costs_of(workload);
    const auto layers = static_cast<double>(workload.model.layers);
    const auto generated = static_cast<double>(workload.generate);
    double matrices_ns = 0;  // of a layer, in the banks
    double soc_matrices_ns = 0;
    Json matrices = Json::array();
    for (const TransformerModel::Matrix& matrix : workload.model.layer_matrices()) {
        const auto gemv = gemv_of(workload, matrix.rows, matrix.columns);
        RunResult run;
        gemv::run_gemv(runner, case_, gemv, gemv::placement_of(case_, gemv), nullptr, run);
        if (run.status != Status::Ok) {
            result.status = run.status;
            result.deadlock = std::move(run.deadlock);
            return;
        }
        const double on_soc = gemv::soc_gemv_ns(soc, gemv);
        matrices.push_back({{"name", matrix.name},
                            {"M", matrix.rows},
                            {"K", matrix.columns},
                            {"time_ns", run.time_ns},
                            {"soc_ns", on_soc},
                            {"speedup_over_soc", on_soc / run.time_ns}});
        matrices_ns += run.time_ns;
        soc_matrices_ns += on_soc;
        result.events += run.events;
        add_states(result, run, layers * generated);
    }
    double soc_part = 0;
    for (std::int64_t token = 0; token < workload.generate; ++token) {
        soc_part += soc_part_ns(workload, costs, soc, workload.prompt + token);
    }
    const double soc_layer = roofline_ns(
        soc, costs.layer_macs * static_cast<double>(workload.prompt), costs.layer_bytes);
    Json npu_products = Json::array();
    const double layer = workload.prompt_device && workload.prompt > 0
                             ? npu_layer_ns(runner, workload, npu_products)
                             : soc_layer;
    const auto whole_prompt = [&](double layer_ns) {
        return workload.prompt > 0 ? prompt_ns(workload, costs, soc, layer_ns) : 0;
    };
    const double prompt = whole_prompt(layer);
    const double in_banks = layers * generated * matrices_ns;
    const double soc_alone =
        whole_prompt(soc_layer) + soc_part + layers * generated * soc_matrices_ns;
    result.time_ns = prompt + soc_part + in_banks;
    const arch::base::Clock clock{case_.device.memory.clock};
    result.cycles = clock
                        .cycle_at(arch::base::Femtoseconds{
                            static_cast<std::int64_t>(result.time_ns * kFemtosecondsPerNanosecond)})
                        .count();
    const auto tokens = static_cast<double>(workload.prompt + workload.generate);
    set_rates(result, (layers * costs.layer_macs + costs.head_macs) * tokens,
              case_.device.memory.clock);
    result.speedup_over_soc = soc_alone / result.time_ns;
    const double per_token = generated > 0 ? (soc_part + in_banks) / generated : 0;
    result.details = {{"prompt_ns", prompt},
                      {"per_token_ns", per_token},
                      {"matrices_in_banks_ns", in_banks},
                      {"rest_on_soc_ns", soc_part},
                      {"soc_alone_ns", soc_alone},
                      {"layer_matrices", matrices}};
    if (!npu_products.empty()) {
        result.details["prompt_on"] = workload.prompt_device->name;
        result.details["prompt_layer_products"] = npu_products;
    }
    name_bottlenecks(result, "pim", "PIM: ");
}

// The NPU that takes the prompt's matrices, and the widest type its products can have.
void read_prompt_device(ProblemSource& source, ModelWorkload& workload) {
    Node& node = source.node;
    std::string name;
    node.optional("prompt_device", name, "NPU for the prompt's matrices; left out: roofline");
    if (name.empty()) {
        return;
    }
    try {
        workload.prompt_device = source.load_device(name);
    } catch (const ConfigError& error) {
        node.error("prompt_device", error.what());
        return;
    }
    const auto* npu = workload.prompt_device->find<arch::npu::NpuConfig>();
    if (npu == nullptr) {
        node.error("prompt_device", fmt::format("'{}' is no NPU", name));
        return;
    }
    using arch::base::DataType;
    const arch::npu::core::KernelTiming timing(npu->kernels);
    for (const DataType result :
         {DataType::Int32, DataType::F32, DataType::Int16, DataType::Bf16}) {
        const bool has =
            timing.find_mode(workload.format.input, workload.format.weights, result) != nullptr;
        if (has && !workload.prompt_result) {
            workload.prompt_result = result;
        }
    }
    if (!workload.prompt_result) {
        node.error("prompt_device", fmt::format("'{}' does not multiply {} by {}", name,
                                                arch::base::name_of(workload.format.input),
                                                arch::base::name_of(workload.format.weights)));
    }
}

class ModelKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "model"; }
    std::string hint() const override {
        return ", which has no processing in memory; a training step on an NPU says batch and "
               "sequence";
    }

    Problem read(ProblemSource& source) const override {
        Node& node = source.node;
        ModelWorkload workload;
        std::string name;
        node.required("model", name, "a shipped transformer, or the path of a model file");
        const arch::base::config::Range tokens{0, 1 << 20};
        node.optional("prompt", workload.prompt, tokens, "tokens given, worked on at once");
        node.optional("generate", workload.generate, tokens, "tokens generated, one by one");
        read_gemv_format(node, workload.format);
        read_prompt_device(source, workload);
        workload.model = load_transformer(node, name);
        return {*this, std::move(workload)};
    }

    Json describe(const Problem& problem) const override {
        const auto& workload = problem.get<ModelWorkload>();
        return {{"model", workload.model.name},
                {"prompt", workload.prompt},
                {"generate", workload.generate}};
    }
};

// Its mapping is that of its GEMVs.
class ModelDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<ModelWorkload>() != nullptr &&
               device.has<arch::pim::PimConfig>();
    }
    bool takes(const Mapping& mapping) const override {
        return mapping.empty() || &mapping.dataflow() == &gemv::pimnast_dataflow() ||
               &mapping.dataflow() == &gemv::column_major_dataflow();
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        if (!a_case.mapping.empty()) {
            result.mapping = a_case.mapping.dataflow().describe(a_case.mapping);
        }
        return std::make_unique<ModelJob>(a_case);
    }
};

}  // namespace

const ProblemKind& model_kind() {
    static const ModelKind kind;
    return kind;
}

const Dataflow& model_dataflow() {
    static const ModelDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::pim::transformer
