#include "sim/explore/simulate.hpp"

#include <utility>

#include "arch/base/config.hpp"
#include "arch/npu/program/program_fault.hpp"
#include "sim/result_json.hpp"
#include "sim/session/session.hpp"

namespace tilesim::sim::explore {

using Json = nlohmann::ordered_json;

std::string simulate(const std::string& scenario_text, const std::string& file,
                     const Settings& overrides) {
    Json answer = Json::object();
    try {
        const Scenario scenario = parse_scenario(scenario_text, file, overrides);
        answer["scenario"] = scenario.document->resolved();
        const workloads::RunResult result = session::run(scenario);
        answer["status"] = name_of(result.status);
        answer["error"] = result.deadlock ? result.deadlock->text() : "";
        answer["result"] = sim::to_json(result, true);
    } catch (const arch::base::config::ConfigError& error) {
        answer["status"] = "invalid";
        answer["error"] = error.what();
    } catch (const arch::npu::program::ProgramFault& fault) {
        answer["status"] = "fault";
        answer["error"] = fault.what();
    }
    return answer.dump();
}

WorkerPool::Work simulations_of(std::string scenario_text, std::string file) {
    return [text = std::move(scenario_text), file = std::move(file)](const std::string& task) {
        return simulate(text, file, Json::parse(task).get<Settings>());
    };
}

std::string task_of(const Settings& overrides) {
    return Json(overrides).dump();
}

Simulated simulated(const WorkerReport& report) {
    using End = WorkerReport::End;
    Simulated outcome;
    outcome.wall_s = report.wall_s;
    outcome.peak_mib = report.peak_mib;
    if (report.end == End::Answered) {
        const Json answer = Json::parse(report.text, nullptr, false);
        if (answer.is_object() && answer.contains("status")) {
            outcome.status = answer["status"];
            outcome.error = answer["error"];
            outcome.scenario = answer.value("scenario", "");
            outcome.result = answer.value("result", Json::object());
        } else {
            outcome.status = "crashed";
            outcome.error = "the worker ended without an answer";
        }
        return outcome;
    }
    outcome.error = report.text;
    outcome.status = report.end == End::OutOfTime     ? "hung"
                     : report.end == End::OutOfMemory ? "out_of_memory"
                     : report.end == End::Crashed     ? "crashed"
                                                      : "failed";
    return outcome;
}

}  // namespace tilesim::sim::explore
