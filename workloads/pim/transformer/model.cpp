#include "sim/system/model.hpp"

#include <algorithm>

#include "arch/base/clock.hpp"
#include "sim/attribution.hpp"
#include "sim/system/npu.hpp"
#include "sim/system/pim.hpp"

namespace tilesim::sim::system {

using Json = nlohmann::ordered_json;
using workloads::TransformerModel;

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

workloads::GemvProblem gemv_of(const ModelWorkload& workload, std::int64_t rows,
                               std::int64_t columns) {
    workloads::GemvProblem gemv = workload.format;
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

void add_states(RunResult& result, const PimRun& run, double times) {
    for (const auto& [component, states] : run.where) {
        auto& sums = value_of(result.where, component);
        for (const auto& [state, cycles] : states) {
            value_of(sums, state) += cycles * times;
        }
    }
}

// The prompt's matrices on an NPU, each product simulated with the mapping the bounds choose.
double npu_layer_ns(const ModelWorkload& workload, Json& products) {
    double total = 0;
    for (const TransformerModel::Matrix& matrix : workload.model.layer_matrices()) {
        Scenario npu;
        npu.device = *workload.prompt_device;
        const workloads::GemmProblem gemm{
            workload.prompt,       matrix.columns,          matrix.rows,
            workload.format.input, workload.format.weights, *workload.prompt_result};
        const RunResult run = run_gemm(npu, gemm, nullptr);
        products.push_back({{"name", matrix.name}, {"time_ns", run.time_ns}, {"tops", run.tops}});
        total += run.time_ns;
    }
    return total;
}

}  // namespace

RunResult run_model(const Scenario& scenario, const ModelWorkload& workload) {
    RunResult result;
    const arch::pim::SocConfig& soc = scenario.device.soc;
    const Costs costs = costs_of(workload);
    const auto layers = static_cast<double>(workload.model.layers);
    const auto generated = static_cast<double>(workload.generate);
    double matrices_ns = 0;  // of a layer, in the banks
    double soc_matrices_ns = 0;
    Json matrices = Json::array();
    for (const TransformerModel::Matrix& matrix : workload.model.layer_matrices()) {
        const auto gemv = gemv_of(workload, matrix.rows, matrix.columns);
        const auto placement = placement_of(scenario, gemv);
        const PimRun run = simulate_gemv(scenario, gemv, placement, nullptr);
        const double on_soc = soc_gemv_ns(soc, gemv);
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
                             ? npu_layer_ns(workload, npu_products)
                             : soc_layer;
    const auto whole_prompt = [&](double layer_ns) {
        return workload.prompt > 0 ? prompt_ns(workload, costs, soc, layer_ns) : 0;
    };
    const double prompt = whole_prompt(layer);
    const double in_banks = layers * generated * matrices_ns;
    const double soc_alone =
        whole_prompt(soc_layer) + soc_part + layers * generated * soc_matrices_ns;
    result.workload = {{"model", workload.model.name},
                       {"prompt", workload.prompt},
                       {"generate", workload.generate}};
    result.mapping = Json::object();
    result.time_ns = prompt + soc_part + in_banks;
    const arch::base::Clock clock{scenario.device.memory.clock};
    result.cycles = clock
                        .cycle_at(arch::base::Femtoseconds{
                            static_cast<std::int64_t>(result.time_ns * kFemtosecondsPerNanosecond)})
                        .count();
    const auto tokens = static_cast<double>(workload.prompt + workload.generate);
    set_rates(result, (layers * costs.layer_macs + costs.head_macs) * tokens,
              scenario.device.memory.clock);
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
    name_bottlenecks(result);
    return result;
}

}  // namespace tilesim::sim::system
