#include "workloads/pim/transformer/model_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/config.hpp"

namespace tilesim::workloads::pim::transformer {

using Json = nlohmann::ordered_json;
using arch::base::kNanosecondsPerMicrosecond;
using arch::base::kNanosecondsPerSecond;

namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kOperationsPerMac = 2;

std::string us(double ns) {
    return fmt::format("{:.2f}", ns / kNanosecondsPerMicrosecond);
}

std::string ms(double ns) {
    return fmt::format("{:.3f}", ns / kNanosecondsPerMillisecond);
}

double time_of(const std::vector<PromptPart>& parts) {
    double sum = 0;
    for (const PromptPart& part : parts) {
        sum += part.times * part.ns;
    }
    return sum;
}

class ModelReport {
  public:
    ModelReport(const ModelWorkload& workload, const ModelTimes& times, arch::base::Hertz clock,
                RunResult& result)
        : workload_(workload), times_(times), clock_(clock), result_(result) {}

    void fill() {
        add_step();
        add_attention();
        add_contexts();
        const double prompt = time_of(times_.prompt);
        const double decode = generated_ * step_ns_ + attention_ns_;
        const double soc_alone =
            time_of(times_.soc_prompt) + generated_ * soc_step_ns_ + soc_attention_ns_;
        add_totals(prompt, decode, soc_alone);
        result_.details = {
            {"prompt_ns", prompt},
            {"decode_ns", decode},
            {"per_token_ns", generated_ > 0 ? decode / generated_ : 0},
            {"tokens_per_s", decode > 0 ? batch_ * generated_ * kNanosecondsPerSecond / decode : 0},
            {"matrices_in_banks_ns", in_banks_ns_},
            {"rest_ns", decode - in_banks_ns_},
            {"soc_alone_ns", soc_alone},
            {"operators", std::move(operators_)},
            {"by_context", std::move(contexts_)},
            {"layer_matrices", std::move(matrices_)}};
        result_.tables = {whole_table(prompt, decode)};
        if (!times_.prompt.empty()) {
            result_.tables.push_back(prompt_table());
        }
        if (generated_ > 0) {
            result_.tables.push_back(std::move(by_operator_));
            result_.tables.push_back(std::move(by_context_));
        }
        add_prompt();
    }

  private:
    double layers() const { return static_cast<double>(workload_.model.layers); }
    double times_of(const StepPart& part) const { return part.op.of_layer ? layers() : 1; }

    void add_operator(const std::string& name, Place place, double times, double ns,
                      double on_soc) {
        operators_.push_back({{"name", name},
                              {"runs_on", name_of(place)},
                              {"times", times},
                              {"time_ns", ns},
                              {"soc_ns", on_soc}});
        by_operator_.rows.push_back(
            {name, name_of(place), fmt::format("{}", times), us(times * ns), us(times * on_soc)});
    }

    void add_step() {
        for (const StepPart& part : times_.step) {
            const double times = times_of(part);
            add_operator(part.op.name, part.op.place, times, part.ns, part.soc_ns);
            step_ns_ += times * part.ns;
            soc_step_ns_ += times * part.soc_ns;
            macs_ += times * part.op.gemv.macs() * part.op.uses;
            if (part.op.place == Place::Banks) {
                in_banks_ns_ += times * part.ns * generated_;
                matrices_.push_back({{"name", part.op.name},
                                     {"M", part.op.gemv.m},
                                     {"K", part.op.gemv.k},
                                     {"mapping", part.mapping},
                                     {"time_ns", part.ns},
                                     {"soc_ns", part.soc_ns},
                                     {"speedup_over_soc", part.soc_ns / part.ns}});
            }
        }
    }

    // The table shows the token in the middle.
    void add_attention() {
        const AttentionTimes& attention = times_.attention;
        for (std::int64_t token = 0; token < workload_.generate; ++token) {
            const auto context = static_cast<double>(workload_.prompt + token);
            attention_ns_ += layers() * attention.ns(context);
            soc_attention_ns_ += layers() * attention.on_soc_ns(context);
        }
        const double middle = static_cast<double>(workload_.prompt) + generated_ / 2;
        add_operator("attention", workload_.places.attention, layers(), attention.ns(middle),
                     attention.on_soc_ns(middle));
    }

    void add_contexts() {
        for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
            const double context = static_cast<double>(workload_.prompt) + share * generated_;
            const double ns = step_ns_ + layers() * times_.attention.ns(context);
            const double tokens_per_s = batch_ * kNanosecondsPerSecond / ns;
            contexts_.push_back(
                {{"context", context}, {"token_ns", ns}, {"tokens_per_s", tokens_per_s}});
            by_context_.rows.push_back(
                {fmt::format("{:.0f}", context), ms(ns), fmt::format("{:.2f}", tokens_per_s)});
        }
    }

    // Second by second: hours do not fit into femtoseconds.
    std::int64_t cycles_of(double ns) const {
        const double seconds = std::floor(ns / kNanosecondsPerSecond);
        const auto of_second = static_cast<double>(clock_.count());
        if (seconds * of_second > static_cast<double>(INT64_MAX / 2)) {
            throw arch::base::config::ConfigError(fmt::format(
                "workload: the model takes {:.0f} s, more than can be counted", seconds));
        }
        const double rest_ns = ns - seconds * kNanosecondsPerSecond;
        const arch::base::Femtoseconds rest{
            static_cast<std::int64_t>(rest_ns * kFemtosecondsPerNanosecond)};
        return static_cast<std::int64_t>(seconds) * clock_.count() +
               arch::base::Clock{clock_}.cycle_at(rest).count();
    }

    void add_totals(double prompt, double decode, double soc_alone) {
        result_.time_ns = prompt + decode;
        result_.cycles = cycles_of(result_.time_ns);
        double macs =
            generated_ * batch_ * macs_ + layers() * attention_of_generated(workload_).macs;
        for (const PromptPart& part : times_.prompt) {
            macs += part.times * part.macs;
        }
        set_rates(result_, macs, clock_);
        result_.speedup_over_soc = soc_alone / result_.time_ns;
    }

    ResultTable whole_table(double prompt, double decode) const {
        ResultTable table{"the model", {"part", "tokens", "ms", "tokens/s"}, {}};
        const auto add = [&](const char* part, std::int64_t tokens, double ns) {
            const double all = static_cast<double>(tokens) * batch_;
            if (tokens > 0) {
                table.rows.push_back({part, fmt::format("{}", all), ms(ns),
                                      fmt::format("{:.2f}", all * kNanosecondsPerSecond / ns)});
            }
        };
        add("prompt", workload_.prompt, prompt);
        add("generated", workload_.generate, decode);
        return table;
    }

    ResultTable prompt_table() const {
        ResultTable table{
            "the prompt, by operator", {"operator", "runs on", "times", "us", "us on soc"}, {}};
        for (std::size_t i = 0; i < times_.prompt.size(); ++i) {
            const PromptPart& part = times_.prompt[i];
            table.rows.push_back({part.name, name_of(part.place), fmt::format("{}", part.times),
                                  us(part.times * part.ns),
                                  us(part.times * times_.soc_prompt[i].ns)});
        }
        return table;
    }

    void add_prompt() {
        if (workload_.prompt_device && workload_.prompt > 0) {
            result_.details["prompt_on"] = workload_.prompt_device->name;
        }
        for (const PromptPart& part : times_.prompt) {
            result_.details["prompt_operators"].push_back(
                {{"name", part.name},
                 {"runs_on", name_of(part.place)},
                 {"times", part.times},
                 {"time_ns", part.ns},
                 {"tops", kOperationsPerMac * part.macs / part.ns / 1000}});
        }
    }

    const ModelWorkload& workload_;
    const ModelTimes& times_;
    const arch::base::Hertz clock_;
    RunResult& result_;
    const double generated_ = static_cast<double>(workload_.generate);
    const double batch_ = static_cast<double>(workload_.batch);

    // Of a generated token of each sequence, but for attention.
    double step_ns_ = 0;
    double soc_step_ns_ = 0;
    double macs_ = 0;  // of one sequence
    // Of all generated tokens.
    double in_banks_ns_ = 0;
    double attention_ns_ = 0;
    double soc_attention_ns_ = 0;
    Json operators_ = Json::array();
    Json matrices_ = Json::array();
    Json contexts_ = Json::array();
    ResultTable by_operator_{
        "a generated token, by operator", {"operator", "runs on", "times", "us", "us on soc"}, {}};
    ResultTable by_context_{"a generated token, by context", {"context", "ms", "tokens/s"}, {}};
};

}  // namespace

void report(const ModelWorkload& workload, const ModelTimes& times, arch::base::Hertz clock,
            RunResult& result) {
    ModelReport(workload, times, clock, result).fill();
}

}  // namespace tilesim::workloads::pim::transformer
