#include "workloads/npu/training/training_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilesim::workloads::npu::training {

using Json = nlohmann::ordered_json;
using arch::base::kPercent;

namespace {

constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;

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

class TrainingReport {
  public:
    TrainingReport(const TrainingTotals& totals, arch::base::Hertz clock, RunResult& result)
        : totals_(totals), clock_(clock), result_(result) {}

    void summarize() {
        ProductTotals products;
        for (const SizeTotals& size : totals_.sizes) {
            products.calls += size.all.calls;
            products.flop += size.all.flop;
            products.times += size.all.times;
            products.on_host_ns += size.all.on_host_ns;
        }
        double operators_ns = 0;
        double operators_flop = 0;
        for (const HostOperator& each : totals_.operators) {
            operators_ns += each.ns;
            operators_flop += each.work.flop();
        }
        const double on_host = products.on_host_ns + operators_ns;
        result_.time_ns = products.times.total() + operators_ns;
        result_.cycles = static_cast<std::int64_t>(
            std::llround(result_.time_ns * static_cast<double>(clock_.count()) / kGiga));
        set_rates(result_, (products.flop + operators_flop) / 2, clock_);
        result_.details = {{"gflop", (products.flop + operators_flop) / kGiga},
                           {"gemm_gflop", products.flop / kGiga},
                           {"distinct_gemm_sizes", totals_.sizes.size()},
                           {"gemm_calls", products.calls},
                           {"size_changes", totals_.size_changes},
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

  private:
    double host_ns(TrainingPhase phase) const {
        double ns = 0;
        for (const HostOperator& each : totals_.operators) {
            ns += each.phase == phase ? each.ns : 0;
        }
        return ns;
    }

    ProductTotals in_phase(TrainingPhase phase) const {
        const auto found = totals_.phases.find(phase);
        return found == totals_.phases.end() ? ProductTotals{} : found->second;
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
            const ProductTotals products = in_phase(phase);
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
        for (const SizeTotals& size : totals_.sizes) {
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
        for (const HostOperator& each : totals_.operators) {
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
        result_.details["host_operators"] = std::move(json);
        result_.tables.push_back(std::move(table));
    }

    const TrainingTotals& totals_;
    const arch::base::Hertz clock_;
    RunResult& result_;
};

}  // namespace

std::string name_of(const TrainingProduct::Size& size) {
    const auto& [m, k, n] = size;
    return fmt::format("{} x {} x {}", m, k, n);
}

void report(const TrainingTotals& totals, arch::base::Hertz clock, RunResult& result) {
    TrainingReport(totals, clock, result).summarize();
}

}  // namespace tilesim::workloads::npu::training
