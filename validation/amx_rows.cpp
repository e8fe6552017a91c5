#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "arch/base/config.hpp"
#include "sim/compare/amx_kernel.hpp"
#include "sim/session/session.hpp"
#include "validation/rows.hpp"

namespace tilesim::validation {

namespace {

// Predictions are of the long run: what more repetitions take, over how many more they are. In the
// L3 rows repetitions would find their data in the L2: a single one is taken.
constexpr std::int64_t kFewProducts = 2;
constexpr std::int64_t kManyProducts = 8;

constexpr const char* kDevice = "device: sapphire_rapids\n";
constexpr const char* kMeasuredDevice = "device: emerald_rapids\n";
constexpr const char* kAnyGemm =
    "workload: {gemm: {M: 16, K: 64, N: 16, a: int8, b: int8, c: int32}}\n";

double slope(const std::function<double(std::int64_t)>& run, std::int64_t few, std::int64_t many) {
    return (run(many) - run(few)) / static_cast<double>(many - few);
}

// Cycles an iteration of the kernel's outermost loop, whose count the file leaves open.
double iteration(const std::string& device, const std::string& file) {
    const sim::Scenario any = sim::parse_scenario(device + kAnyGemm, "reference row", {});
    return sim::compare::run_amx_kernel(any, arch::base::config::read_file(file), file).cycles;
}

// "M: 256; K: 256" as YAML writes it.
std::string with_commas(std::string keys) {
    std::replace(keys.begin(), keys.end(), ';', ',');
    return keys;
}

// Where the row's core ran at another clock than the device's.
sim::Overrides clock_of(const Record& r) {
    return r.at("clock").empty() ? sim::Overrides{}
                                 : sim::Overrides{{"device.amx.clock", r.at("clock")}};
}

// Cycles of a product in the long run; of a single one where the operands start in the L3.
double product(const Record& r) {
    const auto run = [&r](std::int64_t repeat) {
        const std::string text = fmt::format(
            "{}workload: {{gemm: {{{}, a: bf16, b: bf16, c: f32}}}}\n"
            "mapping: {{amx: {{m_acc: 2, n_acc: 2, order: interleaved, b_layout: packed, {}, "
            "repeat: {}}}}}\n",
            kDevice, with_commas(r.at("what")), with_commas(r.at("mapping")), repeat);
        return static_cast<double>(
            sim::session::Session()
                .run_whole(sim::parse_scenario(text, "reference row", clock_of(r)))
                .cycles);
    };
    return r.at("level") == "l3" ? run(1) : slope(run, kFewProducts, kManyProducts);
}

// 2 M K N of "M: 256; K: 256; N: 256".
double operations(const std::string& sizes) {
    double result = 2;
    for (std::size_t at = sizes.find(':'); at != std::string::npos; at = sizes.find(':', at + 1)) {
        result *= std::stod(sizes.substr(at + 1));
    }
    return result;
}

}  // namespace

std::vector<Task> amx_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/rows.csv")) {
        Task task;
        task.row = {fmt::format("{}/{}", r.at("level"), r.at("id")),
                    "sapphire_rapids",
                    r.at("unit"),
                    r.number("value"),
                    0,
                    r.at("use"),
                    r.at("level")};
        const double per = r.number("per");
        if (r.at("predict") != "program") {
            task.row.kind = {"amx:" + r.at("level"), "bf16/f32", operations(r.at("what")) / 2,
                             r.at("predict") == "ops"};
        }
        if (r.at("predict") == "program") {
            task.parts = {[file = folder + "/kernels/" + r.at("what"), per] {
                return iteration(kDevice, file) / per;
            }};
        } else if (r.at("predict") == "gemm") {
            task.parts = {[r, per] { return product(r) / per; }};
        } else {
            task.parts = {[r] { return operations(r.at("what")) / product(r); }};
        }
        tasks.push_back(std::move(task));
    }
    return tasks;
}

// The kernels of the suite `amx`, as `validation/amx/harness` has measured them.
std::vector<Task> amx_measured_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/rows.csv")) {
        Task task;
        task.row = {fmt::format("{}/{}", r.at("family"), r.at("kernel")),
                    "emerald_rapids",
                    "cycles",
                    r.number("cycles"),
                    0,
                    r.at("use"),
                    r.at("family")};
        task.parts = {[file = folder + "/../amx/kernels/" + r.at("kernel")] {
            return iteration(kMeasuredDevice, file);
        }};
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace tilesim::validation
