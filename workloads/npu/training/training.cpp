#include "sim/system/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/scenario_training.hpp"
#include "sim/system/npu.hpp"
#include "sim/system/offloaded_call.hpp"

namespace tilesim::sim::system {

using Json = nlohmann::ordered_json;
using workloads::TrainingOperator;
using workloads::TrainingPhase;
using workloads::TrainingProduct;

namespace {

constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kGiga = 1e9;
constexpr double kPercent = 100;

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

const char* name_of(TrainingWorkload::Phase phase) {
    using Phase = TrainingWorkload::Phase;
    return phase == Phase::Forward ? "forward" : phase == Phase::Backward ? "backward" : "step";
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

class TrainingRun {
  public:
    TrainingRun(const Scenario& scenario, const TrainingWorkload& training)
        : scenario_(scenario),
          offload_(scenario.offload.value_or(OffloadMapping{})),
          host_(*scenario.device.host) {
        for (TrainingOperator& each : workloads::training_step(training.model, training.shape)) {
            if (wanted(each.phase, training.phase)) {
                operators_.push_back(std::move(each));
            }
        }
        mapping_ = mapping();
        result_.workload = {{"model", training.model.name},
                            {"batch", training.shape.batch},
                            {"sequence", training.shape.sequence},
                            {"phase", name_of(training.phase)}};
        describe_mapping();
    }

    RunResult run() {
        for (const TrainingOperator& each : operators_) {
            if (!each.product) {
                run_on_host(each);
            } else if (!run_product(each)) {
                return result_;  // its status says why
            }
        }
        summarize();
        return std::move(result_);
    }

  private:
    // One mapping for all sizes: another tile would need another configuration of the array.
    workloads::OutputStationaryMapping mapping() {
        if (const auto* given =
                std::get_if<workloads::OutputStationaryMapping>(&scenario_.mapping)) {
            return *given;
        }
        std::map<TrainingProduct::Size, double> flop;
        const TrainingProduct* most = nullptr;
        for (const TrainingOperator& each : operators_) {
            if (each.product) {
                flop[each.product->size()] += each.product->flop();
                if (most == nullptr || flop[each.product->size()] > flop[most->size()]) {
                    most = &*each.product;
                }
            }
        }
        result_.notes.push_back(
            fmt::format("no mapping given: chosen by the bounds of the size with the most work, {}",
                        name_of(most->size())));
        return workloads::choose_mapping(gemm_of(*most, offload_), *scenario_.device.npu,
                                         scenario_.device.memory);
    }

    Size& size_of(const TrainingProduct& product) {
        const auto found = std::find_if(sizes_.begin(), sizes_.end(), [&](const Size& size) {
            return size.extents == product.size();
        });
        if (found != sizes_.end()) {
            return *found;
        }
        Scenario one = scenario_;
        one.mapping = mapping_;
        sizes_.push_back(
            {product.size(), run_gemm(one, gemm_of(product, offload_), nullptr), {}, {}});
        result_.events += sizes_.back().array.events;
        return sizes_.back();
    }

    bool run_product(const TrainingOperator& each) {
        const TrainingProduct& product = *each.product;
        Size& size = size_of(product);
        if (size.array.status != Status::Ok) {
            result_.status = size.array.status;
            result_.deadlock = size.array.deadlock;
            return false;
        }
        const arch::npu::CommandProcessorConfig& commands = scenario_.device.npu->command_processor;
        const auto in_ns = [](arch::base::Femtoseconds time) {
            return static_cast<double>(time.count()) / kFemtosecondsPerNanosecond;
        };
        CallTimes call = host_stages(host_, offload_, product);
        call[CallStage::Dispatch] = in_ns(commands.dispatch);
        call[CallStage::Run] = size.array.time_ns - in_ns(commands.dispatch);
        const bool other_size = product.size() != last_size_;
        last_size_ = product.size();
        size_changes_ += other_size ? 1 : 0;
        if (other_size && offload_.reconfiguration == OffloadMapping::Reconfiguration::WholeArray) {
            call[CallStage::Reconfigure] = in_ns(commands.reconfiguration);
        }
        const double on_host =
            arch::host::product_ns(host_, product.loop(), static_cast<double>(product.m),
                                   static_cast<double>(product.k), static_cast<double>(product.n));
        size.all.add(product, call, on_host);
        phases_[each.phase].add(product, call, on_host);
        const std::string use = fmt::format("{} {}", each.name, workloads::name_of(product.pass));
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
        result_.time_ns = products.times.total() + operators_ns;
        const arch::base::Hertz clock = scenario_.device.npu->clock;
        result_.cycles = static_cast<std::int64_t>(
            std::llround(result_.time_ns * static_cast<double>(clock.count()) / kGiga));
        set_rates(result_, (products.flop + operators_flop) / 2, clock);
        result_.details = {{"gflop", (products.flop + operators_flop) / kGiga},
                           {"gemm_gflop", products.flop / kGiga},
                           {"distinct_gemm_sizes", sizes_.size()},
                           {"gemm_calls", products.calls},
                           {"size_changes", size_changes_},
                           {"gemm_ns", products.times.total()},
                           {"gemm_on_host_ns", products.on_host_ns},
                           {"gemm_speedup", products.speedup()},
                           {"host_operators_ns", operators_ns},
                           {"on_host_alone_ns", on_host},
                           {"speedup_over_host", on_host / result_.time_ns}};
        report_totals(on_host);
        report_phases();
        report_sizes();
        report_stages(products.times, operators_ns);
        report_operators();
    }

    void describe_mapping() {
        result_.mapping = described(mapping_);
        const bool whole = offload_.reconfiguration == OffloadMapping::Reconfiguration::WholeArray;
        result_.mapping["offload"] = {
            {"reconfiguration", whole ? "whole_array" : "minimal"},
            {"b_layout", offload_.b_column_major ? "column_major" : "row_major"},
            {"operands", arch::base::name_of(offload_.operands)},
            {"result", arch::base::name_of(offload_.result)},
            {"parallel_copies", offload_.parallel_copies},
            {"parallel_operators", offload_.parallel_operators}};
    }

    void report_totals(double on_host) {
        const Json& details = result_.details;
        const auto number = [&](const char* key, const char* format) {
            return fmt::format(fmt::runtime(format), details[key].get<double>());
        };
        result_.tables.push_back({"the step",
                                  {"", "value"},
                                  {{"GFLOP, all operators", number("gflop", "{:.2f}")},
                                   {"GFLOP, matrix products", number("gemm_gflop", "{:.2f}")},
                                   {"distinct GEMM sizes", number("distinct_gemm_sizes", "{:.0f}")},
                                   {"GEMM calls", number("gemm_calls", "{:.0f}")},
                                   {"changes of size", number("size_changes", "{:.0f}")},
                                   {"processor alone, ms", ms(on_host)},
                                   {"with the array, ms", ms(result_.time_ns)},
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
            json[workloads::name_of(phase)] = {
                {"gemm_calls", products.calls},           {"gemm_ns", products.times.total()},
                {"gemm_on_host_ns", products.on_host_ns}, {"gemm_speedup", products.speedup()},
                {"host_operators_ns", operators},         {"total_ns", total}};
            table.rows.push_back(
                {workloads::name_of(phase), std::to_string(products.calls),
                 ms(products.times.total()), ms(products.on_host_ns),
                 products.calls > 0 ? fmt::format("{:.2f}", products.speedup()) : "-",
                 ms(operators), ms(total)});
        }
        result_.details["phases"] = std::move(json);
        result_.tables.push_back(std::move(table));
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
        result_.details["gemms"] = std::move(json);
        result_.tables.push_back(std::move(table));
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
            result_.where
                .emplace_back("training_step", std::vector<std::pair<std::string, double>>{})
                .second;
        for (const auto& [name, ns] : stages) {
            json[name] = ns;
            table.rows.push_back(
                {name, ms(ns), fmt::format("{:.1f} %", kPercent * ns / result_.time_ns)});
            if (ns > 0) {
                states.emplace_back(name, ns * result_.clock_ghz);
            }
        }
        result_.details["stages_ns"] = std::move(json);
        result_.tables.push_back(std::move(table));
        std::stable_sort(stages.begin(), stages.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        result_.bottleneck = stages[0].first;
        result_.next_bottleneck = stages[1].first;
    }

    void report_operators() {
        ResultTable table{"operators on the processor",
                          {"operator", "phase", "calls", "ms", "GFLOP", "MB moved", "cores"},
                          {}};
        Json json = Json::array();
        constexpr double kMega = 1e6;
        for (const HostOperator& each : operators_on_host_) {
            json.push_back({{"name", each.name},
                            {"phase", workloads::name_of(each.phase)},
                            {"calls", each.calls},
                            {"total_ns", each.ns},
                            {"flop", each.work.flop()},
                            {"memory_bytes", each.work.memory_bytes()},
                            {"parallel", each.work.parallel}});
            table.rows.push_back({each.name, workloads::name_of(each.phase),
                                  std::to_string(each.calls), ms(each.ns),
                                  fmt::format("{:.3f}", each.work.flop() / kGiga),
                                  fmt::format("{:.1f}", each.work.memory_bytes() / kMega),
                                  each.work.parallel ? "all" : "one"});
        }
        result_.details["host_operators"] = std::move(json);
        result_.tables.push_back(std::move(table));
    }

    const Scenario& scenario_;
    const OffloadMapping offload_;
    const arch::host::HostConfig& host_;
    workloads::OutputStationaryMapping mapping_;
    std::vector<TrainingOperator> operators_;
    std::vector<Size> sizes_;  // in order of their first call
    std::vector<HostOperator> operators_on_host_;
    std::map<TrainingPhase, Products> phases_;
    TrainingProduct::Size last_size_;
    int size_changes_ = 0;
    RunResult result_;
};

}  // namespace

RunResult run_training(const Scenario& scenario, const TrainingWorkload& training) {
    return TrainingRun(scenario, training).run();
}

}  // namespace tilesim::sim::system
