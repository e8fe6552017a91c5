#include "workloads/pim/transformer/transformer_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "arch/base/clock.hpp"
#include "arch/base/units.hpp"
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

using arch::base::kNanosecondsPerSecond;

GemvProblem gemv_of(const ModelWorkload& workload, std::int64_t rows, std::int64_t columns) {
    GemvProblem gemv = workload.format;
    gemv.m = rows;
    gemv.k = columns;
    return gemv;
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

const char* name_of(Place place) {
    return place == Place::Banks ? "banks" : place == Place::Soc ? "soc" : "npu";
}

// An operator of one layer, or the head, for one step of all sequences.
struct Operator {
    std::string name;
    Place place = Place::Soc;
    double uses = 1;    // products of one sequence's token
    double copies = 1;  // matrices in memory they choose from
    GemvProblem gemv{};
    bool of_layer = true;
};

// How many of the experts a batch of tokens reads, each choosing evenly.
double copies_read(const Operator& op, double tokens) {
    return op.copies * (1 - std::pow(1 - op.uses / op.copies, tokens));
}

// Tokens of a step on the system on chip: every matrix is read once.
double soc_ns(const arch::pim::SocConfig& soc, const Operator& op, double tokens) {
    return soc.roofline_ns(op.gemv.macs() * op.uses * tokens,
                           op.gemv.bytes() * copies_read(op, tokens));
}

// The cost of attention to `context` tokens for one new one of each sequence.
struct Attention {
    double macs = 0;
    double bytes = 0;  // keys and values
};
Attention attention_of(const ModelWorkload& workload, double context) {
    const TransformerModel& model = workload.model;
    const auto batch = static_cast<double>(workload.batch);
    const auto size = static_cast<double>(model.size_of_head());
    Attention cost;
    cost.macs = 2 * static_cast<double>(model.heads) * size * context * batch;
    cost.bytes = 2 * static_cast<double>(model.key_heads()) * size * context * batch *
                 static_cast<double>(arch::base::bits_of(workload.format.input)) /
                 arch::base::kBitsPerByte;
    return cost;
}

class ModelJob final : public Job {
  public:
    explicit ModelJob(const Case& a_case)
        : case_(a_case),
          workload_(a_case.problem.get<ModelWorkload>()),
          soc_(a_case.device.get<arch::pim::SocConfig>()) {}
    void run(Runner& runner, RunResult& result) override;

  private:
    struct Step {
        Operator op;
        double ns = 0;      // of one layer, or of the head
        double soc_ns = 0;  // the same on the system on chip
    };

    std::vector<Operator> operators() const;
    bool in_banks(Runner& runner, const Operator& op, double tokens, double& ns, RunResult& result);
    double on_npu(Runner& runner, const Operator& op, double tokens);
    bool attention_in_banks(Runner& runner, RunResult& result);
    double attention_ns(double context) const;
    struct PromptPart {  // of the prompt's time
        std::string name;
        Place place = Place::Soc;
        double times = 1;
        double ns = 0;
        double macs = 0;
    };
    std::vector<PromptPart> prompt_parts(Runner& runner, bool on_npu);
    static double time_of(const std::vector<PromptPart>& parts);
    ResultTable prompt_table(const std::vector<PromptPart>& parts,
                             const std::vector<PromptPart>& on_soc) const;
    ResultTable whole_table(double prompt, double decode) const;
    double modes_of_layer(Runner& runner);
    double layers() const { return static_cast<double>(workload_.model.layers); }
    void report(RunResult& result, const std::vector<Step>& steps, double prompt,
                double soc_prompt) const;

    const Case& case_;
    const ModelWorkload& workload_;
    const arch::pim::SocConfig& soc_;
    // Attention of a layer in the banks at some contexts, between which it is taken for linear.
    std::vector<std::pair<double, double>> attention_;
};

std::vector<Operator> ModelJob::operators() const {
    const Places& places = workload_.places;
    std::vector<Operator> list;
    for (const TransformerModel::Matrix& matrix : workload_.model.layer_matrices()) {
        const Place place = matrix.name == "qkv"                            ? places.qkv
                            : matrix.name == "projection"                   ? places.projection
                            : matrix.name == "router"                       ? places.router
                            : matrix.name == "down" || matrix.name == "fc2" ? places.down
                                                                            : places.up;
        list.push_back({matrix.name, place, static_cast<double>(matrix.uses),
                        static_cast<double>(matrix.copies),
                        gemv_of(workload_, matrix.rows, matrix.columns), true});
    }
    list.push_back({"head", places.head, 1, 1,
                    gemv_of(workload_, workload_.model.vocabulary, workload_.model.hidden), false});
    return list;
}

// One step of all sequences: a GEMV for each, or for as many together as a unit has ALUs.
bool ModelJob::in_banks(Runner& runner, const Operator& op, double tokens, double& ns,
                        RunResult& result) {
    const auto vectors = static_cast<std::int64_t>(tokens);
    const auto placement = gemv::placement_of(case_, op.gemv, vectors);
    RunResult run;
    gemv::run_gemv(runner, case_, op.gemv, placement,
                   arch::base::ceil_div(vectors, placement.vectors), nullptr, run);
    if (run.status != Status::Ok) {
        result.status = run.status;
        result.deadlock = std::move(run.deadlock);
        return false;
    }
    ns = run.time_ns * op.uses;
    result.events += run.events;
    add_states(result, run,
               op.uses * (op.of_layer ? layers() : 1) * static_cast<double>(workload_.generate));
    return true;
}

double ModelJob::on_npu(Runner& runner, const Operator& op, double tokens) {
    Case part;
    part.device = *workload_.prompt_device;
    part.problem = {gemm_kind(), GemmProblem{static_cast<std::int64_t>(tokens), op.gemv.k,
                                             op.gemv.m, workload_.format.input,
                                             workload_.format.weights, *workload_.prompt_result}};
    const RunResult run = runner.run(part);
    return run.time_ns * copies_read(op, tokens);
}

// Entering and leaving the all-bank mode, where that happens once a layer and not for each matrix.
double ModelJob::modes_of_layer(Runner& runner) {
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

// Scores are a GEMV of the keys, the outputs one of the values, for every head that has its own and
// every query that shares it.
bool ModelJob::attention_in_banks(Runner& runner, RunResult& result) {
    const TransformerModel& model = workload_.model;
    const double first = static_cast<double>(std::max<std::int64_t>(workload_.prompt, 1));
    const double last = first + static_cast<double>(std::max<std::int64_t>(workload_.generate, 1));
    const double queries = static_cast<double>(model.heads * workload_.batch);
    for (const double context : {first, (first + last) / 2, last}) {
        const auto tokens = static_cast<std::int64_t>(context);
        double scores = 0;
        double values = 0;
        Operator op{
            "attention", Place::Banks, 1, 1, gemv_of(workload_, tokens, model.size_of_head()),
            true};
        RunResult aside;
        if (!in_banks(runner, op, 1, scores, aside)) {
            result.status = aside.status;
            return false;
        }
        op.gemv = gemv_of(workload_, model.size_of_head(), tokens);
        if (!in_banks(runner, op, 1, values, aside)) {
            result.status = aside.status;
            return false;
        }
        attention_.emplace_back(context, (scores + values) * queries);
    }
    return true;
}

double ModelJob::attention_ns(double context) const {
    if (attention_.empty()) {
        const Attention cost = attention_of(workload_, context);
        return soc_.roofline_ns(cost.macs, cost.bytes);
    }
    const auto& [x0, y0] = context < attention_[1].first ? attention_[0] : attention_[1];
    const auto& [x1, y1] = context < attention_[1].first ? attention_[1] : attention_[2];
    return x1 > x0 ? y0 + (y1 - y0) * (context - x0) / (x1 - x0) : y0;
}

// All tokens of the prompts at once: every matrix is read once, each token attends to those before.
std::vector<ModelJob::PromptPart> ModelJob::prompt_parts(Runner& runner, bool npu) {
    std::vector<PromptPart> parts;
    if (workload_.prompt == 0) {
        return parts;
    }
    const auto tokens = static_cast<double>(workload_.prompt);
    const auto all = tokens * static_cast<double>(workload_.batch);
    std::optional<PromptPart> head;
    for (const Operator& op : operators()) {
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
    parts.push_back(
        {"attention", Place::Soc, layers(), soc_.roofline_ns(pairs.macs, cache.bytes), pairs.macs});
    parts.push_back(*head);
    return parts;
}

double ModelJob::time_of(const std::vector<PromptPart>& parts) {
    double sum = 0;
    for (const PromptPart& part : parts) {
        sum += part.times * part.ns;
    }
    return sum;
}

ResultTable ModelJob::prompt_table(const std::vector<PromptPart>& parts,
                                   const std::vector<PromptPart>& on_soc) const {
    ResultTable table{
        "the prompt, by operator", {"operator", "runs on", "times", "us", "us on soc"}, {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const PromptPart& part = parts[i];
        table.rows.push_back({part.name, name_of(part.place), fmt::format("{}", part.times),
                              fmt::format("{:.2f}", part.times * part.ns / 1e3),
                              fmt::format("{:.2f}", part.times * on_soc[i].ns / 1e3)});
    }
    return table;
}

ResultTable ModelJob::whole_table(double prompt, double decode) const {
    ResultTable table{"the model", {"part", "tokens", "ms", "tokens/s"}, {}};
    const auto batch = static_cast<double>(workload_.batch);
    const auto add = [&](const char* part, std::int64_t tokens, double ns) {
        const double all = static_cast<double>(tokens) * batch;
        if (tokens > 0) {
            table.rows.push_back({part, fmt::format("{}", all), fmt::format("{:.3f}", ns / 1e6),
                                  fmt::format("{:.2f}", all * kNanosecondsPerSecond / ns)});
        }
    };
    add("prompt", workload_.prompt, prompt);
    add("generated", workload_.generate, decode);
    return table;
}

void ModelJob::run(Runner& runner, RunResult& result) {
    const auto batch = static_cast<double>(workload_.batch);
    std::vector<Step> steps;
    const double modes = modes_of_layer(runner);
    for (const Operator& op : operators()) {
        Step step{op, soc_ns(soc_, op, batch), soc_ns(soc_, op, batch)};
        if (op.place == Place::Banks && !in_banks(runner, op, batch, step.ns, result)) {
            return;
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
        Operator op{"mode_switch", Place::Banks};
        steps.push_back({op, modes, 0});
    }
    if (workload_.places.attention == Place::Banks && !attention_in_banks(runner, result)) {
        return;
    }
    const bool npu = workload_.prompt_device && workload_.prompt > 0;
    const std::vector<PromptPart> soc_prompt = prompt_parts(runner, false);
    const std::vector<PromptPart> prompt = npu ? prompt_parts(runner, true) : soc_prompt;
    report(result, steps, time_of(prompt), time_of(soc_prompt));
    if (!prompt.empty()) {
        result.tables.insert(result.tables.begin() + 1, prompt_table(prompt, soc_prompt));
    }
    if (npu) {
        result.details["prompt_on"] = workload_.prompt_device->name;
    }
    for (const PromptPart& part : prompt) {
        result.details["prompt_operators"].push_back({{"name", part.name},
                                                      {"runs_on", name_of(part.place)},
                                                      {"times", part.times},
                                                      {"time_ns", part.ns},
                                                      {"tops", 2 * part.macs / part.ns / 1000}});
    }
    name_bottlenecks(result, "pim", "PIM: ");
}

void ModelJob::report(RunResult& result, const std::vector<Step>& steps, double prompt,
                      double soc_prompt) const {
    const auto generated = static_cast<double>(workload_.generate);
    const auto batch = static_cast<double>(workload_.batch);
    double step_ns = 0;  // of a generated token of each sequence, but for attention
    double soc_step_ns = 0;
    double in_banks = 0;
    Json operators = Json::array();
    Json matrices = Json::array();
    ResultTable table{
        "a generated token, by operator", {"operator", "runs on", "times", "us", "us on soc"}, {}};
    const auto add = [&](const std::string& name, Place place, double times, double ns,
                         double on_soc) {
        operators.push_back({{"name", name},
                             {"runs_on", name_of(place)},
                             {"times", times},
                             {"time_ns", ns},
                             {"soc_ns", on_soc}});
        table.rows.push_back({name, name_of(place), fmt::format("{}", times),
                              fmt::format("{:.2f}", times * ns / 1e3),
                              fmt::format("{:.2f}", times * on_soc / 1e3)});
    };
    for (const Step& step : steps) {
        const double times = step.op.of_layer ? layers() : 1;
        add(step.op.name, step.op.place, times, step.ns, step.soc_ns);
        step_ns += times * step.ns;
        soc_step_ns += times * step.soc_ns;
        if (step.op.place == Place::Banks) {
            in_banks += times * step.ns * generated;
            matrices.push_back({{"name", step.op.name},
                                {"M", step.op.gemv.m},
                                {"K", step.op.gemv.k},
                                {"time_ns", step.ns},
                                {"soc_ns", step.soc_ns},
                                {"speedup_over_soc", step.soc_ns / step.ns}});
        }
    }
    const auto on_soc = [&](double context) {
        const Attention cost = attention_of(workload_, context);
        return soc_.roofline_ns(cost.macs, cost.bytes);
    };
    double attention = 0;
    double soc_attention = 0;
    for (std::int64_t token = 0; token < workload_.generate; ++token) {
        const auto context = static_cast<double>(workload_.prompt + token);
        attention += layers() * attention_ns(context);
        soc_attention += layers() * on_soc(context);
    }
    const double middle = static_cast<double>(workload_.prompt) + generated / 2;
    add("attention", workload_.places.attention, layers(), attention_ns(middle), on_soc(middle));
    Json contexts = Json::array();
    ResultTable by_context{"a generated token, by context", {"context", "ms", "tokens/s"}, {}};
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const double context = static_cast<double>(workload_.prompt) + share * generated;
        const double ns = step_ns + layers() * attention_ns(context);
        contexts.push_back({{"context", context},
                            {"token_ns", ns},
                            {"tokens_per_s", batch * kNanosecondsPerSecond / ns}});
        by_context.rows.push_back({fmt::format("{:.0f}", context), fmt::format("{:.3f}", ns / 1e6),
                                   fmt::format("{:.2f}", batch * kNanosecondsPerSecond / ns)});
    }
    const double decode = generated * step_ns + attention;
    result.time_ns = prompt + decode;
    const arch::base::Clock clock{case_.device.memory.clock};
    result.cycles = clock
                        .cycle_at(arch::base::Femtoseconds{
                            static_cast<std::int64_t>(result.time_ns * kFemtosecondsPerNanosecond)})
                        .count();
    double macs = 0;
    for (const Step& step : steps) {
        const double times = step.op.of_layer ? layers() : 1;
        macs += times * step.op.gemv.macs() * step.op.uses;
    }
    set_rates(result, macs * batch * (static_cast<double>(workload_.prompt) + generated),
              case_.device.memory.clock);
    result.speedup_over_soc =
        (soc_prompt + generated * soc_step_ns + soc_attention) / result.time_ns;
    result.details = {
        {"prompt_ns", prompt},
        {"decode_ns", decode},
        {"per_token_ns", generated > 0 ? decode / generated : 0},
        {"tokens_per_s", decode > 0 ? batch * generated * kNanosecondsPerSecond / decode : 0},
        {"matrices_in_banks_ns", in_banks},
        {"rest_ns", decode - in_banks},
        {"soc_alone_ns", soc_prompt + generated * soc_step_ns + soc_attention},
        {"operators", operators},
        {"by_context", contexts},
        {"layer_matrices", matrices}};
    result.tables = {whole_table(prompt, decode)};
    if (generated > 0) {
        result.tables.insert(result.tables.end(), {table, by_context});
    }
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

void read_places(Node& node, ModelWorkload& workload) {
    Node child = node.child("place", "where each operator runs while tokens are generated");
    Places& places = workload.places;
    const std::vector<std::pair<std::string_view, Place>> kPlaces{
        {"banks", Place::Banks}, {"soc", Place::Soc}, {"npu", Place::Npu}};
    const std::vector<std::pair<std::string_view, Place>> kOfAttention{{"banks", Place::Banks},
                                                                       {"soc", Place::Soc}};
    child.optional("qkv", places.qkv, kPlaces, "queries, keys and values");
    child.optional("attention", places.attention, kOfAttention, "over the cached keys and values");
    child.optional("projection", places.projection, kPlaces, "of the heads' outputs");
    child.optional("router", places.router, kPlaces, "of a mixture of experts");
    Place both = places.up;
    child.optional("feed_forward", both, kPlaces, "both its matrices");
    places.up = places.down = both;
    child.optional("up", places.up, kPlaces,
                   "its first matrix, with the gate; left out: feed_forward");
    child.optional("down", places.down, kPlaces, "its second matrix; left out: feed_forward");
    child.optional("head", places.head, kPlaces, "the vocabulary");
    for (const Place place :
         {places.qkv, places.projection, places.router, places.up, places.down, places.head}) {
        if (place == Place::Npu && !workload.prompt_device && !node.describing()) {
            child.error("", "npu needs a prompt_device");
            break;
        }
    }
    child.done();
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
        node.optional("batch", workload.batch, {1, 4096}, "sequences side by side");
        read_gemv_format(node, workload.format);
        if (is_float(workload.format.weights) != is_float(workload.format.input)) {
            node.error("weights",
                       "the units at the banks multiply integers by integers or floats by floats");
        }
        read_prompt_device(source, workload);
        read_places(node, workload);
        workload.model = load_transformer(node, name);
        return {*this, std::move(workload)};
    }

    Json describe(const Problem& problem) const override {
        const auto& workload = problem.get<ModelWorkload>();
        const Places& places = workload.places;
        return {{"model", workload.model.name},
                {"prompt", workload.prompt},
                {"generate", workload.generate},
                {"batch", workload.batch},
                {"place",
                 {{"qkv", name_of(places.qkv)},
                  {"attention", name_of(places.attention)},
                  {"projection", name_of(places.projection)},
                  {"router", name_of(places.router)},
                  {"up", name_of(places.up)},
                  {"down", name_of(places.down)},
                  {"head", name_of(places.head)}}}};
    }
};

// Its mapping is that of its GEMVs.
class ModelDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<ModelWorkload>() != nullptr && device.has<arch::pim::PimConfig>();
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
