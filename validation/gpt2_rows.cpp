#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "arch/base/config.hpp"
#include "sim/session/session.hpp"
#include "validation/rows.hpp"
#include "workloads/npu/training/training_workload.hpp"
#include "workloads/paths.hpp"

namespace tilesim::validation {

namespace {

using Json = nlohmann::ordered_json;
using namespace workloads::npu::training;

sim::Scenario scenario(const char* phase) {
    return sim::load_scenario(workloads::configs_folder() + "/scenarios/gpt2_step_xdna.yaml",
                              {{"workload.phase", phase}});
}

Json simulated(const char* phase) {
    return sim::session::run(scenario(phase)).details;
}

// What follows from the model's shape alone.
std::vector<TrainingOperator> operators() {
    const sim::Scenario step = scenario("step");
    const auto& training = step.problem.get<TrainingWorkload>();
    return training_step(training.model, training.shape);
}

double gflop() {
    constexpr double kGiga = 1e9;
    double flop = 0;
    for (const auto& each : operators()) {
        flop += each.product ? each.product->flop() : each.work.flop();
    }
    return flop / kGiga;
}

double sizes() {
    std::set<TrainingProduct::Size> found;
    for (const auto& each : operators()) {
        if (each.product) {
            found.insert(each.product->size());
        }
    }
    return static_cast<double>(found.size());
}

double phase_speedup(const char* phase) {
    return simulated(phase)["phases"][phase]["gemm_speedup"];
}

std::string text_of(std::int64_t m, std::int64_t k, std::int64_t n) {
    return fmt::format("{}x{}x{}", m, k, n);
}

// The phase in which a size, "256x768x2304" (M x K x N), is used first.
const char* phase_of(const std::string& size) {
    for (const auto& each : operators()) {
        if (each.product && text_of(each.product->m, each.product->k, each.product->n) == size) {
            return name_of(each.phase);
        }
    }
    throw arch::base::config::ConfigError(fmt::format("the step has no product of size {}", size));
}

double size_speedup(const std::string& size) {
    const Json details = simulated(phase_of(size));
    const auto& gemms = details["gemms"];
    const auto found = std::find_if(gemms.begin(), gemms.end(), [&](const Json& gemm) {
        return text_of(gemm["M"], gemm["K"], gemm["N"]) == size;
    });
    return found->at("speedup");
}

Task task_of(const Record& r) {
    const std::string& quantity = r.at("quantity");
    const std::string speedup = "gemm_speedup_";
    const bool timed = quantity.starts_with(speedup);
    Task task;
    task.row = {fmt::format("{}/{}", timed ? "predicted" : "from_shapes", quantity),
                "xdna",
                r.at("unit"),
                r.number("value"),
                0,
                r.at("use"),
                timed ? "predicted" : "from_shapes"};
    if (quantity == "gflop_per_training_step") {
        task.parts = {gflop};
    } else if (quantity == "distinct_gemm_sizes") {
        task.parts = {sizes};
    } else if (quantity == speedup + "forward_vs_cpu") {
        task.parts = {[] { return phase_speedup("forward"); }};
    } else if (quantity == speedup + "backward_vs_cpu") {
        task.parts = {[] { return phase_speedup("backward"); }};
    } else if (timed) {
        task.parts = {[size = quantity.substr(speedup.size())] { return size_speedup(size); }};
    } else {
        throw arch::base::config::ConfigError(
            fmt::format("reference row of unknown quantity '{}'", quantity));
    }
    return task;
}

}  // namespace

std::vector<Task> gpt2_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& record : read_csv(folder + "/offload.csv")) {
        tasks.push_back(task_of(record));
    }
    return tasks;
}

}  // namespace tilesim::validation
