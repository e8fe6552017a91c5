#include "sim/explore/tune_space.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::explore {

namespace {

void append(std::vector<TuneCandidate>& all, std::vector<workloads::Candidate> more) {
    for (workloads::Candidate& each : more) {
        all.push_back({std::move(each)});
    }
}

}  // namespace

Settings TuneCandidate::settings() const {
    return {{"mapping", described().dump()}};
}

std::vector<TuneCandidate> tune_space(const Scenario& scenario) {
    std::vector<TuneCandidate> space;
    const workloads::Dataflow* given =
        scenario.mapping.empty() ? nullptr : &scenario.mapping.dataflow();
    for (const workloads::Dataflow* dataflow : workloads::catalogue::dataflows()) {
        if (dataflow->serves(scenario.problem, scenario.device) &&
            (given == nullptr || dataflow->alike(*given))) {
            append(space, dataflow->candidates(scenario));
        }
    }
    if (space.empty() && !scenario.agents.empty()) {
        throw arch::base::config::ConfigError(
            "tune: of one machine's mapping: agents are swept (agents.NAME.mapping...)");
    }
    if (space.empty() && scenario.problem.kind().at_root()) {
        throw arch::base::config::ConfigError(
            fmt::format("tune: a {} has no mapping; its keys are swept (`tilesim sweep`)",
                        scenario.problem.kind().key()));
    }
    if (space.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("tune: no mapping to search of a workload of these types and this size on "
                        "'{}'; `tilesim run` takes the default or says why none fits, others are "
                        "swept",
                        scenario.device.name));
    }
    return space;
}

std::vector<TuneCandidate> variants(const Scenario& scenario, const TuneCandidate& candidate) {
    std::vector<TuneCandidate> list;
    append(list, candidate.mapping.dataflow().variants(scenario, candidate.mapping));
    return list;
}

std::vector<TuneCandidate> reduced(const Scenario& scenario, const TuneCandidate& candidate) {
    std::vector<TuneCandidate> list;
    append(list, candidate.mapping.dataflow().reduced(scenario, candidate.mapping));
    return list;
}

}  // namespace tilesim::sim::explore
