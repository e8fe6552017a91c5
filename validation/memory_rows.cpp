#include <fmt/format.h>

#include "sim/session/session.hpp"
#include "validation/rows.hpp"

namespace tilesim::validation {

namespace {

using workloads::Overrides;

// A saturating stream of a row to a memory of `folder`, in requests a CK.
Task stream_task(const std::string& folder, const std::string& device, const Record& r, Row row,
                 const Overrides& overrides) {
    row.device = device;
    row.unit = "req/CK";
    row.measured = r.number("requests_per_cycle");
    row.use = r.at("use");
    row.kind = {"memory_stream"};
    const std::string text = fmt::format(
        "device: {}/{}.yaml\n"
        "workload: {{memory_stream: {{pattern: {}, granule: {} B, requests: {}, {}, "
        "write_permille: {}, outstanding: 4096}}}}\n",
        folder, device, r.at("pattern"), r.at("granule"), r.at("requests"),
        r.contains("stride") ? fmt::format("stride: {} B, range: 256 MiB", r.at("stride"))
                             : "range: 1 GiB",
        r.at("write_permille"));
    return {.row = std::move(row),
            .parts = {[text, overrides, requests = r.number("requests")] {
                const auto scenario = sim::parse_scenario(text, "reference row", overrides);
                return requests / static_cast<double>(sim::session::run(scenario).cycles);
            }}};
}

Task dramsys_task(const std::string& folder, const Record& r) {
    const bool released = r.at("multiplexer") == "released";
    Row row;
    row.group = released ? "dramsys" : "dramsys_ready_time";
    row.id = fmt::format("{}/{}/{}/{}/{}_writes", row.group, r.at("device"), r.at("refresh"),
                         r.at("pattern"), r.at("write_permille"));
    Overrides overrides{{"device.memory.refresh", "off"}};
    if (r.at("refresh") != "off") {
        overrides = {{"device.memory.controller.refresh_policy", r.at("refresh")}};
    }
    return stream_task(folder, "dramsys_" + r.at("device"), r, std::move(row), overrides);
}

}  // namespace

std::vector<Task> memory_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/streams.csv")) {
        Row row;
        row.group = "stream";
        row.id = fmt::format("stream/{}/{}/{}_writes", r.at("device"), r.at("pattern"),
                             r.at("write_permille"));
        tasks.push_back(stream_task(folder, r.at("device"), r, std::move(row), {}));
    }
    for (const Record& r : read_csv(folder + "/dramsys.csv")) {
        tasks.push_back(dramsys_task(folder, r));
    }
    return tasks;
}

}  // namespace tilesim::validation
