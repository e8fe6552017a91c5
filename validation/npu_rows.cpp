#include <fmt/format.h>

#include "arch/npu/npu_config.hpp"
#include "sim/session/session.hpp"
#include "validation/npu_scenarios.hpp"
#include "validation/rows.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::validation {

std::string gemm_scenario(const Record& r, const std::string& extra) {
    const auto& at = [&r](const char* key) { return r.at(key); };
    const auto or_else = [&r](const char* key, const char* otherwise) {
        return r.contains(key) ? r.at(key) : std::string(otherwise);
    };
    return fmt::format(
        "device: {}\n"
        "workload: {{gemm: {{M: {}, K: {}, N: {}, a: {}, b: {}, c: {}, b_layout: {}}}}}\n"
        "mapping:\n"
        "  output_stationary: {{m_ct: {}, k_ct: {}, n_ct: {}, k_mt: {}, c_buffers: {}, "
        "shim_bds: {}}}\n{}",
        at("device"), at("M"), at("K"), at("N"), at("a_dtype"), at("a_dtype"), at("c_dtype"),
        or_else("b_layout", "column_major"), at("m_ct"), at("k_ct"), at("n_ct"), at("k_mt"),
        or_else("c_buffers", "1"), or_else("shim_bds", "overlapped"), extra);
}

namespace {

double throughput(const std::string& text) {
    return sim::session::run(sim::parse_scenario(text, "reference row", {})).tops;
}

// The row's transfers with idle cores: A, B and C bytes over the run's time.
double bandwidth(const std::string& text) {
    const workloads::RunResult result =
        sim::session::run(sim::parse_scenario(text, "reference row", {}));
    return result.bounds->dram_bytes / result.time_ns;
}

Task single_core_task(const Record& r) {
    Task task;
    task.row = {fmt::format("single_core/{}/{}/{}/{}x{}x{}", r.at("device"), r.at("a_dtype"),
                            r.at("c_dtype"), r.at("m_ct"), r.at("k_ct"), r.at("n_ct")),
                r.at("device"),
                "MAC/cycle",
                r.number("macs_per_cycle"),
                0,
                r.at("use"),
                "single_core",
                {"core_kernel", r.at("a_dtype") + "/" + r.at("c_dtype"),
                 product_of(r, {"m_ct", "k_ct", "n_ct"})}};
    const std::string text = fmt::format(
        "device: {}\nworkload: {{core_kernel: {{m: {}, k: {}, n: {}, a: {}, b: {}, c: {}}}}}\n",
        r.at("device"), r.at("m_ct"), r.at("k_ct"), r.at("n_ct"), r.at("a_dtype"), r.at("b_dtype"),
        r.at("c_dtype"));
    task.parts = {[text] {
        return sim::session::run(sim::parse_scenario(text, "reference row", {})).macs_per_cycle;
    }};
    return task;
}

std::vector<Task> whole_array_tasks(const std::vector<Record>& records) {
    std::vector<Task> tasks;
    std::map<std::string, Record> first_of_device;
    for (const Record& r : records) {
        const std::string& quantity = r.at("quantity");
        Task task;
        task.row = {fmt::format("whole_array/{}/{}", r.at("device"), quantity),
                    r.at("device"),
                    r.at("unit"),
                    r.number("value"),
                    0,
                    r.at("use"),
                    "whole_array"};
        if (quantity == "throughput") {
            first_of_device.try_emplace(r.at("device"), r);
            task.row.id = fmt::format("whole_array/{}/{}/{}/k_mt={}", r.at("device"),
                                      r.at("a_dtype"), r.at("c_dtype"), r.at("k_mt"));
            task.row.kind = {"output_stationary", r.at("a_dtype") + "/" + r.at("c_dtype"),
                             product_of(r, {"M", "K", "N"})};
            task.parts = {[text = gemm_scenario(r, "")] { return throughput(text); }};
        } else if (quantity == "effective_dram_bandwidth") {
            task.parts = {
                [text = gemm_scenario(first_of_device.at(r.at("device")), "  kernel_cycles: 0\n")] {
                    return bandwidth(text);
                }};
        } else {  // a parameter of the device, shown for completeness
            task.parts = {[device = r.at("device")] {
                constexpr double kFemtosecondsPerMillisecond = 1e12;
                return static_cast<double>(workloads::catalogue::load_device(device, {})
                                               .get<arch::npu::NpuConfig>()
                                               .command_processor.reconfiguration.count()) /
                       kFemtosecondsPerMillisecond;
            }};
        }
        tasks.push_back(task);
    }
    return tasks;
}

}  // namespace

std::vector<Task> npu_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& record : read_csv(folder + "/single_core.csv")) {
        tasks.push_back(single_core_task(record));
    }
    for (Task& task : whole_array_tasks(read_csv(folder + "/whole_array.csv"))) {
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace tilesim::validation
