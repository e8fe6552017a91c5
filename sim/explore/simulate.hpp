// Simulates one scenario in a worker process and carries what became of it back as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/explore/sweep_file.hpp"
#include "sim/explore/worker_pool.hpp"

namespace tilesim::sim::explore {

struct Simulated {
    std::string status;  // of the result; or invalid, fault, failed, crashed, hung, out_of_memory
    std::string error;
    std::string scenario;  // resolved, without what lies below `device.`
    nlohmann::ordered_json result = nlohmann::ordered_json::object();
    double wall_s = 0;
    double peak_mib = 0;

    bool good() const { return status == "ok"; }
};

// Runs in a worker.
std::string simulate(const std::string& scenario_text, const std::string& file,
                     const Settings& overrides);
// What the workers of a pool do whose tasks are settings of one scenario, and such a task.
WorkerPool::Work simulations_of(std::string scenario_text, std::string file);
std::string task_of(const Settings& overrides);
// What the worker's report says.
Simulated simulated(const WorkerReport& report);

}  // namespace tilesim::sim::explore
