#include "sim/explore/tune_space.hpp"

#include <fmt/format.h>

#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::explore {

Settings TuneCandidate::settings() const {
    return {{"mapping", described().dump()}};
}

TuneSpace tune_space(const Scenario& scenario) {
    TuneSpace space;
    const workloads::Dataflow* given =
        scenario.mapping.empty() ? nullptr : &scenario.mapping.dataflow();
    for (const workloads::Dataflow* dataflow : workloads::catalogue::dataflows()) {
        if (!dataflow->serves(scenario.problem, scenario.device) ||
            (given != nullptr && !dataflow->alike(*given))) {
            continue;
        }
        workloads::CandidateList list = dataflow->candidates(scenario);
        space.legal += list.legal;
        for (workloads::Candidate& each : list.candidates) {
            space.candidates.push_back({each.name, std::move(each.mapping), each.bounds});
        }
    }
    if (space.candidates.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("tune: no mapping of this workload to search on '{}'; without one the "
                        "default is taken, others are swept",
                        scenario.device.name));
    }
    return space;
}

std::vector<TuneCandidate> reduced(const Scenario& scenario, const TuneCandidate& candidate) {
    std::vector<TuneCandidate> list;
    for (workloads::Candidate& each :
         candidate.mapping.dataflow().reduced(scenario, candidate.mapping)) {
        list.push_back({each.name, std::move(each.mapping), each.bounds});
    }
    return list;
}

}  // namespace tilesim::sim::explore
