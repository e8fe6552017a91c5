#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "arch/base/config.hpp"
#include "workloads/paths.hpp"
#include "sim/session/session.hpp"
#include "validation/rows.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::validation {

namespace {

using Overrides = std::vector<std::pair<std::string, std::string>>;
using Values = std::vector<double>;

const std::vector<std::string> kModels{"opt_125m", "opt_350m", "opt_1.3b", "opt_2.7b",
                                       "opt_6.7b", "opt_13b",  "opt_30b"};
constexpr std::size_t kMatrices = 4;  // of a layer

// A published design as mapping and device.
struct Design {
    std::string mapping = "pimnast: {}";
    std::string workload;  // beyond M and K
    Overrides overrides{{"device.memory.refresh", "off"}};
};

Design design_of(const std::string& name) {
    Design design;
    if (name == "pimnast_in_reg_8_cr_1") {
        design.mapping = "pimnast: {input_registers: 8, cr_degree: 1}";
    } else if (name == "pimnast_in_reg_14_cr_1") {
        design.mapping = "pimnast: {input_registers: 14, cr_degree: 1}";
    } else if (name == "pimnast_opt_reduction_tree") {
        design.overrides.emplace_back("device.pim.reduction_tree", "on");
    } else if (name == "pimnast_opt_scale_block_32_8bit") {
        design.workload = ", scale_block: 32";
    }
    return design;
}

workloads::RunResult run(const Design& design, std::int64_t rows, std::int64_t columns) {
    const std::string text = fmt::format(
        "device: lpddr5x_pim\nworkload: {{gemv: {{M: {}, K: {}{}}}}}\nmapping: {{{}}}\n", rows,
        columns, design.workload, design.mapping);
    return sim::session::run(sim::parse_scenario(text, "reference row", design.overrides));
}

// Speed-ups of the four GEMVs of each model, one part each.
void add_models(Task& task, const std::string& design, const std::vector<std::string>& models) {
    for (const std::string& name : models) {
        auto document = arch::base::config::Document::load(workloads::model_file(name));
        for (const auto& matrix : workloads::read_transformer(document.root()).layer_matrices()) {
            task.parts.push_back([design = design_of(design), matrix] {
                return *run(design, matrix.rows, matrix.columns).speedup_over_soc;
            });
        }
    }
}

Values means_of_models(const Values& values) {
    Values means;
    for (auto first = values.begin(); first != values.end(); first += kMatrices) {
        means.push_back(std::accumulate(first, first + kMatrices, 0.0) / kMatrices);
    }
    return means;
}

double mean(const Values& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double largest(const Values& values) {
    return *std::max_element(values.begin(), values.end());
}

// The bound of MACs alone, or of MACs and row switches, for a matrix so large that nothing else
// counts.
double bound(bool with_rows) {
    constexpr std::int64_t kRows = 28672;
    constexpr std::int64_t kColumns = 7168;
    const workloads::RunResult result = run(Design{}, kRows, kColumns);
    double cycles = 0;
    for (const auto& [component, states] : result.where) {
        for (const auto& [state, spent] : states) {
            cycles += component == "pim" && (state == "mac" || (with_rows && state == "row_open"))
                          ? spent
                          : 0;
        }
    }
    return *result.speedup_over_soc * static_cast<double>(result.cycles) / cycles;
}

// The selection of a row: one model, the best, the average; of single GEMVs or of model means.
void select(Task& task, const Record& r, const std::string& design) {
    const std::string& selection = r.at("selection");
    const bool one_model = selection == "opt-125m";
    add_models(task, design, one_model ? std::vector<std::string>{"opt_125m"} : kModels);
    const bool single = r.at("scope") == "gemv";
    task.combine = [single, most = selection == "max"](const Values& values) {
        const Values chosen = single ? values : means_of_models(values);
        return most ? largest(chosen) : mean(chosen);
    };
}

Task task_of(const Record& r) {
    const std::string& design = r.at("design");
    Task task;
    task.row = {fmt::format("gemv/{}/{}/{}", design, r.at("scope"), r.at("selection")),
                "lpddr5x_pim",
                "x",
                std::stod(r.at("value")),
                0,
                r.at("use"),
                "gemv"};
    if (design == "ideal" || design == "roofline_with_row_opens") {
        task.parts = {[with_rows = design != "ideal"] { return bound(with_rows); }};
    } else if (r.at("quantity") == "gain_over_pimnast_opt") {
        task.row.measured += 1;  // compared as a ratio
        add_models(task, design, {"opt_125m"});
        add_models(task, "pimnast_opt", {"opt_125m"});
        task.combine = [](const Values& values) {
            Values gains;
            for (std::size_t i = 0; i < kMatrices; ++i) {
                gains.push_back(values[i] / values[i + kMatrices]);
            }
            return largest(gains);
        };
    } else if (design == "pimnast_in_reg_14_vs_8") {
        add_models(task, "pimnast_in_reg_14_cr_1", kModels);
        add_models(task, "pimnast_in_reg_8_cr_1", kModels);
        task.combine = [](const Values& values) {
            const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
            return mean({values.begin(), middle}) / mean({middle, values.end()});
        };
    } else {
        select(task, r, design);
    }
    return task;
}

}  // namespace

std::vector<Task> pim_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& record : read_csv(folder + "/gemv.csv")) {
        tasks.push_back(task_of(record));
    }
    return tasks;
}

}  // namespace tilesim::validation
