// Rows of avx512_memory.csv: one core of an Emerald Rapids server, without AMX.
#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "sim/compare/amx_kernel.hpp"
#include "validation/avx512_kernels.hpp"

namespace tilesim::validation {

namespace {

constexpr const char* kAnyAvx512 =
    "device: emerald_rapids\nworkload: {gemm: {M: 16, K: 64, N: 16, a: int8, b: int8, c: int32}}\n";
constexpr double kFoundBelow = 60;  // cycles: between the L2's time and the L3's

// The machine measured: its clock, its L3, 4 KiB frames behind pages of either size, walks through
// two levels of tables for small pages.
sim::Scenario machine(const Record& row) {
    return sim::parse_scenario(
        kAnyAvx512, "reference row",
        {{"device.amx.clock", "2.995 GHz"},
         {"device.amx.uncore.l3.size", fmt::format("{} B", kL3Bytes)},
         {"device.amx.pages.walk_loads", row.at("pages") == "4K" ? "2" : "1"}});
}

double cycles(const Record& row, const std::string& text) {
    return sim::compare::run_amx_kernel(machine(row), text, "reference row").cycles;
}

double found(const Record& row, const ProbeKernel& probe) {
    const double reads = cycles(row, probe.reads);
    double lines = 0;
    for (const std::string& text : probe.probes) {
        if (cycles(row, text) - reads >= kFoundBelow) {
            break;
        }
        ++lines;
    }
    return lines;
}

double predicted(const Record& row, const std::string& folder) {
    if (const auto probe = probe_kernel(row)) {
        return found(row, *probe);
    }
    if (const auto pair = memory_kernel(row)) {
        return (cycles(row, pair->many) - cycles(row, pair->few)) / pair->count;
    }
    const std::string& kernel = row.at("kernel");
    if (kernel.ends_with(".amx")) {
        return cycles(
            row, arch::base::config::read_file(folder + "/../amx/kernels/" + kernel.substr(2)));
    }
    if (const auto text = vector_kernel(kernel)) {
        return cycles(row, *text);
    }
    throw arch::base::config::ConfigError(fmt::format("'{}': no such kernel", kernel));
}

// All that tells a row from the others; without commas, for bounds.csv.
std::string id_of(const Record& row) {
    std::string id = row.at("family") + "/" + row.at("kernel");
    const auto add = [&id, &row](const char* column, const char* unit) {
        id += row.at(column).empty() ? "" : " " + row.at(column) + unit;
    };
    add("footprint_kib", " KiB");
    add("stride_lines", " apart");
    add("lines", " lines");
    add("pages", "");
    if (!row.at("state").starts_with("steady")) {
        add("state", "");
    }
    std::replace(id.begin(), id.end(), ',', ';');
    return id;
}

}  // namespace

std::vector<Task> avx512_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& row : read_csv(folder + "/rows.csv")) {
        Task task;
        const std::string& unit = row.at("unit");
        task.row = {
            id_of(row),    "emerald_rapids", unit.substr(0, unit.find(' ')), row.number("value"), 0,
            row.at("use"), row.at("family")};
        if (!probe_kernel(row)) {
            task.row.kind = {.what = "amx_program", .rate = false};
        }
        task.parts = {[row, folder] { return predicted(row, folder); }};
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace tilesim::validation
