#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "arch/base/config.hpp"
#include "sim/session/session.hpp"
#include "validation/rows.hpp"
#include "workloads/paths.hpp"
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
    } else if (name == "pimnast_opt_16bit") {
        design.workload = ", weights: int16, input: int16";
    } else if (name.starts_with("split_k_")) {
        design.mapping = fmt::format("pimnast: {{split_k: {}}}", name.substr(8));
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

Task published_task(const Record& r) {
    const std::string& design = r.at("design");
    Task task;
    task.row = {fmt::format("gemv/{}/{}/{}", design, r.at("scope"), r.at("selection")),
                "lpddr5x_pim",
                "x",
                r.number("value"),
                0,
                r.at("use"),
                "gemv"};
    if (design.starts_with("pimnast") || design.starts_with("column_major")) {
        task.row.kind = {design.starts_with("pimnast") ? "pimnast" : "column_major", "int8/int16"};
    }
    if (design == "ideal" || design == "roofline_with_row_opens") {
        task.parts = {[with_rows = design != "ideal"] { return bound(with_rows); }};
    } else if (r.at("quantity") == "gain_over_pimnast_opt") {
        task.row.measured += 1;  // compared as a ratio
        add_models(task, "pimnast_opt", {"opt_125m"});
        const bool split = design == "pimnast_opt_split_k";
        for (const char* each : {"split_k_2", "split_k_4", "split_k_8"}) {
            add_models(task, split ? each : design, {"opt_125m"});
        }
        task.combine = [](const Values& values) {
            Values gains;
            for (std::size_t i = kMatrices; i < values.size(); ++i) {
                gains.push_back(values[i] / values[i % kMatrices]);
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

// The authors' analytical model, matrix by matrix, on equal rules: no host time, no accumulator
// loads, results to a row of their own, its turns of the bus and no write recovery. It charges both
// turns for every batch of inputs and every visit for results: also the one before the very first
// inputs and the one after the very last results, which a stream of commands does not have.
Overrides equal_rules() {
    constexpr int kSlot = 4;          // of a command
    constexpr int kTurnToWrite = 17;  // tRTW 18.133 ns
    constexpr int kTurnToMac = 11;    // tWTR 12 ns
    const auto cycles = [](int count) { return fmt::format("{} cycle", count); };
    return {{"device.memory.refresh", "off"},
            {"device.pim.host_turn", "0 ns"},
            {"device.pim.accumulator_load", "0"},
            {"device.pim.spill", "visit"},
            {"device.pim.spill_packed", "on"},
            {"device.pim.mac_to_write", cycles(kSlot + kTurnToWrite)},
            {"device.pim.write_to_mac", cycles(kSlot + kTurnToMac)},
            {"device.pim.completion", cycles(kTurnToWrite + kTurnToMac)},
            {"device.pim.write_to_precharge", cycles(kSlot)}};
}

Task matrix_task(const Record& r) {
    Task task;
    task.row = {fmt::format("{}/{}/{}x{}", r.at("law"), r.at("model"), r.at("M"), r.at("K")),
                "lpddr5x_pim",
                "ns",
                r.number("ns"),
                0,
                r.at("use"),
                r.at("law")};
    const std::string text = fmt::format(
        "device: lpddr5x_pim\nworkload: {{gemv: {{M: {}, K: {}}}}}\nmapping: {{pimnast: {{}}}}\n",
        r.at("M"), r.at("K"));
    const Overrides rules = r.at("law") == "geniepim" ? equal_rules() : Design{}.overrides;
    task.parts = {[text, rules] {
        return sim::session::run(sim::parse_scenario(text, "reference row", rules)).time_ns;
    }};
    return task;
}

std::string repeated(std::int64_t times, const std::string& text) {
    std::string all;
    for (std::int64_t i = 0; i < times; ++i) {
        all += text;
    }
    return all;
}

// "b then 4 times (gb row) then r": the traces of the AiM rows.
std::string aim_trace(const std::string& workload) {
    constexpr const char* kMask = "0xffffffff";
    std::int64_t row = 0;
    const auto rows = [&](std::int64_t count) {
        std::string text;
        for (std::int64_t i = 0; i < count; ++i) {
            text += fmt::format("AiM MAC_ABK 64 {} {}\n", kMask, row++);
        }
        return text;
    };
    const std::string gb = fmt::format("AiM WR_GB 64 64 {}\n", kMask);
    const std::string b = fmt::format("AiM WR_BIAS 0 {}\n", kMask);
    const std::string r = fmt::format("AiM RD_MAC 128 {}\n", kMask);
    if (workload == "one row") {
        return rows(1);
    }
    if (workload == "8 rows") {
        return rows(8);
    }
    if (workload.starts_with("1024 rows")) {
        return rows(1024);
    }
    if (workload == "1024 times b") {
        return repeated(1024, b);
    }
    if (workload == "b gb row r") {
        return b + gb + rows(1) + r;
    }
    std::string text = b;
    for (int i = 0; i < 4; ++i) {
        text += gb + rows(1);
    }
    return text + r;
}

double cycles_of(const std::string& text) {
    return static_cast<double>(
        sim::session::run(sim::parse_scenario(text, "reference row", {})).cycles);
}

std::string indented(const std::string& text) {
    std::string all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        all += "    " + line + "\n";
    }
    return all;
}

// Elementwise additions of HBM-PIM: groups of eight columns of two operands are read and their sums
// written, by even and odd banks in turn; the last column is written again (PIMKernel).
std::string hbm_add(std::int64_t elements) {
    constexpr std::int64_t kBanks = 64 * 16;
    constexpr std::int64_t kGroup = 8;  // columns, of 16 elements
    const std::int64_t groups = elements / (kBanks * kGroup * 16);
    std::string text = "mode enter\nmode on\n";
    for (std::int64_t group = 0; group < groups; ++group) {
        for (const char* banks : {"even", "odd"}) {
            const std::int64_t row = group / 4;
            const std::int64_t column = group % 4 * kGroup;
            const auto columns = fmt::format("columns {}-{} banks {}", column, column + 7, banks);
            text += fmt::format("load row {} {}\nload row {} {}\nspill row {} {}\n", row, columns,
                                100 + row, columns, 200 + row, columns);
        }
        text += fmt::format("spill row {0} columns {1}-{1} banks odd\n", 200 + group / 4,
                            group % 4 * kGroup + 7);
    }
    return text + "mode off\nmode leave\n";
}

double stream_cycles(std::int64_t bursts, bool write) {
    return cycles_of(fmt::format(
        "device: hbm2_2000\nworkload: {{memory_stream: {{pattern: sequential, granule: 32 B, "
        "requests: {}, write_permille: {}, outstanding: 16384}}}}\n",
        bursts, write ? 1000 : 0));
}

Task hbm_task(const Record& r, Task task) {
    const std::string& shape = r.at("shape_or_trace");
    const bool add = r.at("workload") == "add";
    const std::int64_t rows = std::stoll(shape);
    const std::int64_t columns = add ? 1 : std::stoll(shape.substr(shape.find('x') + 1));
    const bool two = shape.find("batch 2") != std::string::npos;
    if (r.at("quantity") == "host") {
        // One operand, or two that are read before the result is written.
        const std::int64_t bursts = rows * columns * 2 / 32;
        task.parts = {[bursts, add] { return stream_cycles((add ? 2 : 1) * bursts, false); },
                      [bursts, add] { return add ? stream_cycles(bursts, true) : 0; }};
        task.combine = [](const Values& values) { return values[0] + values[1]; };
    } else if (add) {
        const std::string text =
            "device: hbm_pim\npim_program:\n  weights: f16\n  input: f16\n"
            "  commands: |\n" +
            indented(hbm_add(rows));
        task.parts = {[text] { return cycles_of(text); }};
    } else {
        const std::string format = "a: f16, b: f16, c: f16";
        const std::string text =
            two ? fmt::format(
                      "device: hbm_pim\nworkload: {{gemm: {{M: 2, K: {}, N: {}, {}}}}}\n"
                      "mapping: {{tile_pairs: {{}}}}\n",
                      columns, rows, format)
                : fmt::format(
                      "device: hbm_pim\nworkload: {{gemv: {{M: {}, K: {}, weights: f16, "
                      "input: f16, accumulate: f16}}}}\nmapping: {{tile_pairs: {{}}}}\n",
                      rows, columns);
        task.parts = {[text] { return cycles_of(text); }};
    }
    return task;
}

Task design_task(const Record& r) {
    Task task;
    const std::string& design = r.at("design");
    task.row = {fmt::format("{}/{}/{}/{}", design, r.at("workload"), r.at("shape_or_trace"),
                            r.at("quantity")),
                design == "aim" ? "gddr6_aim" : "hbm_pim",
                r.at("unit"),
                r.number("value"),
                0,
                r.at("use"),
                design};
    if (design == "aim") {
        const std::string text =
            "device: gddr6_aim\npim_program:\n  weights: bf16\n  input: bf16\n  aim_trace: ";
        task.parts = {[trace = aim_trace(r.at("shape_or_trace")), text] {
            char name[] = "/tmp/tilesim_aim_XXXXXX";
            const int file = ::mkstemp(name);
            const ssize_t written = ::write(file, trace.data(), trace.size());
            ::close(file);
            const double cycles =
                written == std::ssize(trace) ? cycles_of(text + name + "\n") : std::nan("");
            ::unlink(name);
            return cycles;
        }};
        return task;
    }
    return hbm_task(r, std::move(task));
}

}  // namespace

std::vector<Task> pim_model_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& record : read_csv(folder + "/matrices.csv")) {
        tasks.push_back(matrix_task(record));
    }
    return tasks;
}

// Rows of designs that no device file here describes are not compared.
std::vector<Task> pim_design_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& record : read_csv(folder + "/designs.csv")) {
        if (record.at("design") != "lpddr5x-pim") {
            tasks.push_back(design_task(record));
        }
    }
    return tasks;
}

std::vector<Task> pim_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& record : read_csv(folder + "/gemv.csv")) {
        tasks.push_back(published_task(record));
    }
    return tasks;
}

}  // namespace tilesim::validation
