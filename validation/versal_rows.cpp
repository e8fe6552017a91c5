#include <fmt/format.h>

#include "sim/session/session.hpp"
#include "validation/rows.hpp"

namespace tilesim::validation {

namespace {

// The micro-kernel alone.
std::string kernel_scenario(const Record& r) {
    return fmt::format(
        "device: vck190\n"
        "workload: {{core_kernel: {{m: {}, k: {}, n: {}, a: int16, b: int16, c: int16}}}}\n",
        r.at("m_r"), r.at("k_c"), r.at("n_r"));
}

// One B_r and one micro-kernel, through the whole array.
std::string panel_scenario(const Record& r) {
    const auto& at = [&r](const char* key) { return r.at(key); };
    return fmt::format(
        "device: vck190\n"
        "workload: {{gemm: {{M: {0}, K: {2}, N: {1}, a: int16, b: int16, c: int16}}}}\n"
        "mapping: {{gotoblas: {{m_r: {0}, n_r: {1}, m_c: {0}, n_c: {1}, k_c: {2}}}}}\n",
        at("m_r"), at("n_r"), at("k_c"));
}

double issue_fraction(const workloads::RunResult& kernel) {
    for (const auto& [state, cycles] : kernel.where.front().second) {
        if (state == "issue") {
            return cycles / static_cast<double>(kernel.cycles);
        }
    }
    return 0;
}

double quantity_of(const std::string& quantity, const workloads::RunResult& run) {
    if (quantity == "total_cycles") {
        return static_cast<double>(run.cycles);
    }
    if (quantity == "mac_cycles") {
        return run.details.at("multiply_cycles");
    }
    if (quantity == "mac_cycle_fraction") {
        return issue_fraction(run);
    }
    const double copy = run.details.at("b_copy_cycles");
    return quantity == "copy_plus_kernel"
               ? copy + run.details.at("micro_kernels_total_cycles").get<double>()
               : copy;
}

}  // namespace

std::vector<Task> versal_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/micro_kernel.csv")) {
        const std::string& quantity = r.at("quantity");
        const bool panel = quantity == "b_panel_copy_from_ddr" || quantity == "copy_plus_kernel";
        Task task;
        task.row = {fmt::format("micro_kernel/{}x{}/k_c={}/{}", r.at("m_r"), r.at("n_r"),
                                r.at("k_c"), quantity),
                    "vck190",
                    r.at("unit"),
                    r.number("value"),
                    0,
                    r.at("use"),
                    "micro_kernel"};
        if (quantity == "total_cycles") {
            task.row.kind = {"core_kernel", "int16/int16", product_of(r, {"m_r", "k_c", "n_r"}),
                             false};
        }
        task.parts = {[quantity, text = panel ? panel_scenario(r) : kernel_scenario(r)] {
            return quantity_of(quantity,
                               sim::session::run(sim::parse_scenario(text, "reference row", {})));
        }};
        tasks.push_back(task);
    }
    return tasks;
}

}  // namespace tilesim::validation
