#include <fmt/format.h>

#include "sim/session/session.hpp"
#include "validation/rows.hpp"

namespace tilesim::validation {

std::vector<Task> memory_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& r : read_csv(folder + "/streams.csv")) {
        Task task;
        task.row = {fmt::format("stream/{}/{}/{}_writes", r.at("device"), r.at("pattern"),
                                r.at("write_permille")),
                    r.at("device"),
                    "req/CK",
                    std::stod(r.at("requests_per_cycle")),
                    0,
                    r.at("use"),
                    "stream",
                    {"memory_stream"}};
        const std::string text = fmt::format(
            "device: {}/{}.yaml\n"
            "workload: {{memory_stream: {{pattern: {}, granule: {} B, requests: {}, range: 1 GiB, "
            "write_permille: {}, outstanding: 4096}}}}\n",
            folder, r.at("device"), r.at("pattern"), r.at("granule"), r.at("requests"),
            r.at("write_permille"));
        task.parts = {[text, requests = std::stod(r.at("requests"))] {
            return requests /
                   static_cast<double>(
                       sim::session::run(sim::parse_scenario(text, "reference row", {})).cycles);
        }};
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace tilesim::validation
