#include "workloads/npu/training/offload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "arch/base/units.hpp"
#include "arch/host/host_config.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/keys.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/output_stationary/output_stationary_dataflow.hpp"
#include "workloads/npu/training/offloaded_call.hpp"

namespace tilesim::workloads::npu::training {

using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kGiga = 1e9;
using arch::base::kPercent;
// GEMMs have extents up to this.
constexpr std::int64_t kMostTokens = 1 << 20;

// All calls of one size, or of one phase.
struct Products {
    int calls = 0;
    double flop = 0;
    CallTimes times;
    double on_host_ns = 0;  // the same products without the array

    void add(const TrainingProduct& product, const CallTimes& call, double on_host) {
        ++calls;
        flop += product.flop();
        times += call;
        on_host_ns += on_host;
    }
    double speedup() const { return times.total() > 0 ? on_host_ns / times.total() : 0; }
};

// All executions of one operator left on the processor, in one phase.
struct HostOperator {
    std::string name;
    TrainingPhase phase;
    int calls = 0;
    arch::host::Work work;
    double ns = 0;
};

struct Size {
    TrainingProduct::Size extents;
    RunResult array;  // of one call
    Products all;
    std::vector<std::string> uses;  // "qkv forward"
};

bool wanted(TrainingPhase phase, TrainingWorkload::Phase workload) {
    using Phase = TrainingWorkload::Phase;
    return workload == Phase::Step ||
           phase == (workload == Phase::Forward ? TrainingPhase::Forward : TrainingPhase::Backward);
}

std::string name_of(const TrainingProduct::Size& size) {
    const auto& [m, k, n] = size;
    return fmt::format("{} x {} x {}", m, k, n);
}

Json in_json(const CallTimes& times) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kCallStages; ++i) {
        json[name_of(static_cast<CallStage>(i))] = times.ns[i];
    }
    return json;
}

std::string ms(double ns) {
    return fmt::format("{:.2f}", ns / kNanosecondsPerMillisecond);
}

std::string us(double ns) {
    return fmt::format("{:.1f}", ns / kNanosecondsPerMicrosecond);
}

class TrainingJob final : public Job {
  public:
    TrainingJob(const Case& a_case, OffloadMapping offload, Mapping mapping,
                std::vector<TrainingOperator> operators)
        : case_(a_case),
          npu_(a_case.device.get<arch::npu::NpuConfig>()),
          host_(a_case.device.get<arch::host::HostConfig>()),
          offload_(offload),
          mapping_(std::move(mapping)),
          operators_(std::move(operators)) {}

    void run(Runner& runner, RunResult& result) override {
        result_ = &result;
        for (const TrainingOperator& each : operators_) {
            if (!each.product) {
                run_on_host(each);
            } else if (!run_product(runner, each)) {
                return;  // the status says why
            }
        }
        summarize();
    }

  private:
    Size& size_of(Runner& runner, const TrainingProduct& product) {
        const auto found = std::find_if(sizes_.begin(), sizes_.end(), [&](const Size& size) {
            return size.extents == product.size();
        });
        if (found != sizes_.end()) {
            return *found;
        }
        Case one = case_;
        one.problem = {gemm_kind(), gemm_of(product, offload_)};
        one.mapping = mapping_;
        sizes_.push_back({product.size(), runner.run(one), {}, {}});
        result_->events += sizes_.back().array.events;
        return sizes_.back();
    }

    bool run_product(Runner& runner, const TrainingOperator& each) {
        const TrainingProduct& product = *each.product;
        Size& size = size_of(runner, product);
        if (size.array.status != Status::Ok) {
            result_->status = size.array.status;
            result_->deadlock = size.array.deadlock;
            return false;
        }
        const arch::npu::CommandProcessorConfig& commands = npu_.command_processor;
        CallTimes call = host_stages(host_, offload_, product);
        call[CallStage::Dispatch] = arch::base::ns_of(commands.dispatch);
        call[CallStage::Run] = size.array.time_ns - call[CallStage::Dispatch];
        const bool other_size = product.size() != last_size_;
        last_size_ = product.size();
        size_changes_ += other_size ? 1 : 0;
        if (other_size && offload_.reconfiguration == OffloadMapping::Reconfiguration::WholeArray) {
            call[CallStage::Reconfigure] = arch::base::ns_of(commands.reconfiguration);
        }
        const double on_host =
            arch::host::product_ns(host_, product.loop(), static_cast<double>(product.m),
                                   static_cast<double>(product.k), static_cast<double>(product.n));
        size.all.add(product, call, on_host);
        phases_[each.phase].add(product, call, on_host);
        const std::string use = fmt::format("{} {}", each.name, name_of(product.pass));
        if (std::find(size.uses.begin(), size.uses.end(), use) == size.uses.end()) {
            size.uses.push_back(use);
        }
        return true;
    }

    void run_on_host(const TrainingOperator& each) {
        arch::host::Work work = each.work;
        work.parallel = work.parallel || offload_.parallel_operators;
        const double ns = arch::host::roofline_ns(host_, work);
        auto found = std::find_if(operators_on_host_.begin(), operators_on_host_.end(),
                                  [&](const HostOperator& known) {
                                      return known.name == each.name && known.phase == each.phase;
                                  });
        if (found == operators_on_host_.end()) {
            operators_on_host_.push_back({each.name, each.phase, 0, {}, 0});
            found = std::prev(operators_on_host_.end());
        }
        ++found->calls;
        found->work += work;
        found->ns += ns;
    }

    double host_ns(TrainingPhase phase) const {
        double ns = 0;
        for (const HostOperator& each : operators_on_host_) {
            ns += each.phase == phase ? each.ns : 0;
        }
        return ns;
    }

    void summarize() {
        Products products;
        for (const Size& size : sizes_) {
            products.calls += size.all.calls;
            products.flop += size.all.flop;
            products.times += size.all.times;
            products.on_host_ns += size.all.on_host_ns;
        }
        double operators_ns = 0;
        double operators_flop = 0;
        for (const HostOperator& each : operators_on_host_) {
            operators_ns += each.ns;
            operators_flop += each.work.flop();
        }
        const double on_host = products.on_host_ns + operators_ns;
        result_->time_ns = products.times.total() + operators_ns;
        const arch::base::Hertz clock = npu_.clock;
        result_->cycles = static_cast<std::int64_t>(
            std::llround(result_->time_ns * static_cast<double>(clock.count()) / kGiga));
        set_rates(*result_, (products.flop + operators_flop) / 2, clock);
        result_->details = {{"gflop", (products.flop + operators_flop) / kGiga},
                            {"gemm_gflop", products.flop / kGiga},
                            {"distinct_gemm_sizes", sizes_.size()},
                            {"gemm_calls", products.calls},
                            {"size_changes", size_changes_},
                            {"gemm_ns", products.times.total()},
                            {"gemm_on_host_ns", products.on_host_ns},
                            {"gemm_speedup", products.speedup()},
                            {"host_operators_ns", operators_ns},
                            {"on_host_alone_ns", on_host},
                            {"speedup_over_host", on_host / result_->time_ns}};
        report_totals(on_host);
        report_phases();
        report_sizes();
        report_stages(products.times, operators_ns);
        report_operators();
    }

    void report_totals(double on_host) {
        const Json& details = result_->details;
        const auto number = [&](const char* key, const char* format) {
            return fmt::format(fmt::runtime(format), details[key].get<double>());
        };
        result_->tables.push_back(
            {"the step",
             {"", "value"},
             {{"GFLOP, all operators", number("gflop", "{:.2f}")},
              {"GFLOP, matrix products", number("gemm_gflop", "{:.2f}")},
              {"distinct GEMM sizes", number("distinct_gemm_sizes", "{:.0f}")},
              {"GEMM calls", number("gemm_calls", "{:.0f}")},
              {"changes of size", number("size_changes", "{:.0f}")},
              {"processor alone, ms", ms(on_host)},
              {"with the array, ms", ms(result_->time_ns)},
              {"speed-up", number("speedup_over_host", "{:.2f}")}}});
    }

    void report_phases() {
        ResultTable table{"phases, ms",
                          {"phase", "GEMM calls", "GEMMs", "GEMMs on processor", "GEMM speed-up",
                           "operators", "phase total"},
                          {}};
        Json json = Json::object();
        for (const TrainingPhase phase :
             {TrainingPhase::Forward, TrainingPhase::Backward, TrainingPhase::Update}) {
            const Products& products = phases_[phase];
            const double operators = host_ns(phase);
            if (products.calls == 0 && operators == 0) {
                continue;
            }
            const double total = products.times.total() + operators;
            json[name_of(phase)] = {
                {"gemm_calls", products.calls},           {"gemm_ns", products.times.total()},
                {"gemm_on_host_ns", products.on_host_ns}, {"gemm_speedup", products.speedup()},
                {"host_operators_ns", operators},         {"total_ns", total}};
            table.rows.push_back(
                {name_of(phase), std::to_string(products.calls), ms(products.times.total()),
                 ms(products.on_host_ns),
                 products.calls > 0 ? fmt::format("{:.2f}", products.speedup()) : "-",
                 ms(operators), ms(total)});
        }
        result_->details["phases"] = std::move(json);
        result_->tables.push_back(std::move(table));
    }

    void report_sizes() {
        ResultTable table{"GEMM sizes, us a call (mean of the calls)", {"M x K x N", "calls"}, {}};
        for (std::size_t i = 0; i < kCallStages; ++i) {
            table.header.push_back(name_of(static_cast<CallStage>(i)));
        }
        for (const char* column : {"total", "on processor", "speed-up", "array TOPS", "padding"}) {
            table.header.push_back(column);
        }
        Json json = Json::array();
        for (const Size& size : sizes_) {
            const auto& [m, k, n] = size.extents;
            const double calls = size.all.calls;
            json.push_back({{"M", m},
                            {"K", k},
                            {"N", n},
                            {"calls", size.all.calls},
                            {"uses", size.uses},
                            {"array_ns", size.array.time_ns},
                            {"array_tops", size.array.tops},
                            {"padding_waste", size.array.padding_waste},
                            {"bottleneck", size.array.bottleneck},
                            {"stages_ns", in_json(size.all.times)},
                            {"total_ns", size.all.times.total()},
                            {"on_host_ns", size.all.on_host_ns},
                            {"speedup", size.all.speedup()}});
            std::vector<std::string> row{name_of(size.extents), std::to_string(size.all.calls)};
            for (const double ns : size.all.times.ns) {
                row.push_back(us(ns / calls));
            }
            row.push_back(us(size.all.times.total() / calls));
            row.push_back(us(size.all.on_host_ns / calls));
            row.push_back(fmt::format("{:.2f}", size.all.speedup()));
            row.push_back(fmt::format("{:.2f}", size.array.tops));
            row.push_back(fmt::format("{:.1f} %", kPercent * size.array.padding_waste));
            table.rows.push_back(std::move(row));
        }
        result_->details["gemms"] = std::move(json);
        result_->tables.push_back(std::move(table));
    }

    void report_stages(const CallTimes& times, double operators_ns) {
        ResultTable table{"where the step's time goes", {"stage", "ms", "share"}, {}};
        std::vector<std::pair<std::string, double>> stages;
        for (std::size_t i = 0; i < kCallStages; ++i) {
            stages.emplace_back(name_of(static_cast<CallStage>(i)), times.ns[i]);
        }
        stages.emplace_back("host_operators", operators_ns);
        Json json = Json::object();
        auto& states =
            result_->where
                .emplace_back("training_step", std::vector<std::pair<std::string, double>>{})
                .second;
        for (const auto& [name, ns] : stages) {
            json[name] = ns;
            table.rows.push_back(
                {name, ms(ns), fmt::format("{:.1f} %", kPercent * ns / result_->time_ns)});
            if (ns > 0) {
                states.emplace_back(name, ns * result_->clock_ghz);
            }
        }
        result_->details["stages_ns"] = std::move(json);
        result_->tables.push_back(std::move(table));
        std::stable_sort(stages.begin(), stages.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        result_->bottleneck = stages[0].first;
        result_->next_bottleneck = stages[1].first;
    }

    void report_operators() {
        ResultTable table{"operators on the processor",
                          {"operator", "phase", "calls", "ms", "GFLOP", "MB moved", "cores"},
                          {}};
        Json json = Json::array();
        constexpr double kMega = 1e6;
        for (const HostOperator& each : operators_on_host_) {
            json.push_back({{"name", each.name},
                            {"phase", name_of(each.phase)},
                            {"calls", each.calls},
                            {"total_ns", each.ns},
                            {"flop", each.work.flop()},
                            {"memory_bytes", each.work.memory_bytes()},
                            {"parallel", each.work.parallel}});
            table.rows.push_back({each.name, name_of(each.phase), std::to_string(each.calls),
                                  ms(each.ns), fmt::format("{:.3f}", each.work.flop() / kGiga),
                                  fmt::format("{:.1f}", each.work.memory_bytes() / kMega),
                                  each.work.parallel ? "all" : "one"});
        }
        result_->details["host_operators"] = std::move(json);
        result_->tables.push_back(std::move(table));
    }

    const Case& case_;
    const arch::npu::NpuConfig& npu_;
    const arch::host::HostConfig& host_;
    const OffloadMapping offload_;
    const Mapping mapping_;
    const std::vector<TrainingOperator> operators_;
    std::vector<Size> sizes_;  // in order of their first call
    std::vector<HostOperator> operators_on_host_;
    std::map<TrainingPhase, Products> phases_;
    TrainingProduct::Size last_size_;
    int size_changes_ = 0;
    RunResult* result_ = nullptr;  // of `run`
};

// An offload around the mapping its products share; that may be left out.
struct Offload {
    OffloadMapping keys;
    Mapping products;
};

void read_keys(Node& node, OffloadMapping& offload) {
    using Reconfiguration = OffloadMapping::Reconfiguration;
    node.optional(
        "reconfiguration", offload.reconfiguration,
        {{"minimal", Reconfiguration::Minimal}, {"whole_array", Reconfiguration::WholeArray}},
        "what a new problem size costs");
    node.optional("b_layout", offload.b_column_major,
                  {{"column_major", true}, {"row_major", false}}, "how the array reads B");
    node.optional("operands", offload.operands, arch::npu::kDataTypes, "type of A and B");
    node.optional("result", offload.result, arch::npu::kDataTypes, "type of C");
    node.optional("parallel_copies", offload.parallel_copies,
                  "whether all cores copy, or one does");
    node.optional("parallel_operators", offload.parallel_operators,
                  "whether all cores share every operator, or only those llm.c shares out");
    node.done();
}

TrainingWorkload read_training(Node& node) {
    TrainingWorkload training;
    std::string name;
    node.required("model", name, "a shipped transformer, or the path of a model file");
    node.required("batch", training.shape.batch, {1, kMostTokens}, "sequences worked on at once");
    node.required("sequence", training.shape.sequence, {1, kMostTokens}, "tokens of each");
    using Phase = TrainingWorkload::Phase;
    node.optional(
        "phase", training.phase,
        {{"forward", Phase::Forward}, {"backward", Phase::Backward}, {"step", Phase::Step}},
        "forward with the loss, backward, or both and the update of the weights");
    training.model = load_transformer(node, name);
    const std::int64_t positions = training.model.positions;
    if (positions > 0 && training.shape.sequence > positions) {
        node.error("sequence", fmt::format("must be 1..{}, the positions '{}' knows; got {}",
                                           positions, name, training.shape.sequence));
    } else if (training.shape.tokens() > kMostTokens) {
        node.error("batch", fmt::format("batch x sequence must be at most {}, got {}", kMostTokens,
                                        training.shape.tokens()));
    }
    return training;
}

class TrainingKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "model"; }
    std::string hint() const override {
        return "; a training step needs an NPU with a `host` section";
    }
    bool found(const Node& node) const override {
        return node.has("model") && (node.has("sequence") || node.has("phase"));
    }
    Problem read(ProblemSource& source) const override {
        return {*this, read_training(source.node)};
    }
    Json describe(const Problem& problem) const override {
        const auto& training = problem.get<TrainingWorkload>();
        return {{"model", training.model.name},
                {"batch", training.shape.batch},
                {"sequence", training.shape.sequence},
                {"phase", name_of(training.phase)}};
    }
};

std::vector<TrainingOperator> operators_of(const TrainingWorkload& training) {
    std::vector<TrainingOperator> operators;
    for (TrainingOperator& each : training_step(training.model, training.shape)) {
        if (wanted(each.phase, training.phase)) {
            operators.push_back(std::move(each));
        }
    }
    return operators;
}

class OffloadDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return "offload"; }
    std::string_view summary() const override { return "to an NPU, in training"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<TrainingWorkload>() != nullptr && tile_fed(device) &&
               device.has<arch::host::HostConfig>();
    }

    bool takes(const Mapping& mapping) const override {
        return Dataflow::takes(mapping) || &mapping.dataflow() == &inner();
    }

    bool holds(const Dataflow& other) const override { return &other == &inner(); }

    Mapping read(Node& mapping) const override {
        Offload read;
        Node node = mapping.child(name(), summary());
        read_keys(node, read.keys);
        if (mapping.has(inner().name()) && !mapping.describing()) {
            read.products = inner().read(mapping);
        }
        return {*this, std::move(read)};
    }

    Json describe(const Mapping& mapping) const override {
        const auto& offload = mapping.get<Offload>();
        Json json = offload.products.empty() ? Json::object() : inner().describe(offload.products);
        json[std::string{name()}] = keys_of(offload.keys, read_keys);
        return json;
    }

    // One mapping for all sizes: another tile would need another configuration of the array.
    Choice choose(const Case& a_case, Runner& runner) const override {
        Offload offload = offload_of(a_case.mapping);
        std::map<TrainingProduct::Size, double> flop;
        std::optional<TrainingProduct> most;
        for (const TrainingOperator& each : operators_of(a_case.problem.get<TrainingWorkload>())) {
            if (each.product) {
                flop[each.product->size()] += each.product->flop();
                if (!most || flop[each.product->size()] > flop[most->size()]) {
                    most = each.product;
                }
            }
        }
        Case one = a_case;
        one.problem = {gemm_kind(), gemm_of(*most, offload.keys)};
        one.mapping = {};
        offload.products = inner().choose(one, runner).mapping;
        return {
            {*this, std::move(offload)},
            fmt::format("no mapping given: chosen by the bounds of the size with the most work, {}",
                        name_of(most->size()))};
    }

    // An offload alone leaves its products' mapping open.
    bool complete(const Mapping& mapping) const override {
        return !mapping.empty() && !offload_of(mapping).products.empty();
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        std::vector<Refusal> refusals;
        if (a_case.run.functional) {
            refusals.push_back(
                {"run", "functional mode needs a gemm: a training step has no data of its own"});
        }
        const Offload offload = offload_of(a_case.mapping);
        const auto& kernels = a_case.device.get<arch::npu::NpuConfig>().kernels;
        const auto& keys = offload.keys;
        if (arch::npu::core::KernelTiming(kernels).find_mode(keys.operands, keys.operands,
                                                             keys.result) == nullptr) {
            refusals.push_back(
                {"mapping", fmt::format("offload: '{}' has no {} x {} -> {} multiply",
                                        a_case.device.name, name_of(keys.operands),
                                        name_of(keys.operands), name_of(keys.result))});
            return refusals;
        }
        if (!offload.products.empty()) {
            check_products(a_case, offload, refusals);
        }
        return refusals;
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        const auto& training = a_case.problem.get<TrainingWorkload>();
        Offload offload = offload_of(a_case.mapping);
        return std::make_unique<TrainingJob>(a_case, offload.keys, offload.products,
                                             operators_of(training));
    }

  private:
    static const Dataflow& inner() { return output_stationary::output_stationary_dataflow(); }

    Offload offload_of(const Mapping& mapping) const {
        if (mapping.empty()) {
            return {};
        }
        return &mapping.dataflow() == this ? mapping.get<Offload>() : Offload{{}, mapping};
    }

    static void check_products(const Case& a_case, const Offload& offload,
                               std::vector<Refusal>& refusals) {
        std::set<std::string> said;  // most problems are the same for every product
        for (const TrainingOperator& each : operators_of(a_case.problem.get<TrainingWorkload>())) {
            if (!each.product) {
                continue;
            }
            Case one = a_case;
            one.problem = {gemm_kind(), gemm_of(*each.product, offload.keys)};
            one.mapping = offload.products;
            for (Refusal& refusal : inner().refusals(one)) {
                if (said.insert(refusal.reason).second) {
                    refusals.push_back(std::move(refusal));
                }
            }
        }
    }
};

}  // namespace

const char* name_of(TrainingWorkload::Phase phase) {
    using Phase = TrainingWorkload::Phase;
    return phase == Phase::Forward ? "forward" : phase == Phase::Backward ? "backward" : "step";
}

GemmProblem gemm_of(const TrainingProduct& product, const OffloadMapping& offload) {
    return {product.m,
            product.k,
            product.n,
            offload.operands,
            offload.operands,
            offload.result,
            offload.b_column_major};
}

const ProblemKind& training_kind() {
    static const TrainingKind kind;
    return kind;
}

const Dataflow& offload_dataflow() {
    static const OffloadDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::training
