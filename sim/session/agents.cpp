#include "sim/session/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "arch/base/clock.hpp"
#include "arch/base/units.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "arch/pim/pim_config.hpp"
#include "sim/session/parts.hpp"
#include "sim/session/together.hpp"
#include "workloads/memory/streams/streams.hpp"

namespace tilesim::sim::session {

using Json = nlohmann::ordered_json;
using workloads::ResultTable;
using workloads::RunResult;
using workloads::Status;

namespace {

using arch::base::kPercent;

// An agent in both runs.
struct Pair {
    const AgentOutcome& together;
    std::optional<double> alone_ns;

    // Of a run; of one that never came to its end, nothing.
    std::optional<double> together_ns() const {
        return together.runs > 0 ? std::optional{together.mean_ns} : std::nullopt;
    }
    std::optional<double> slowdown() const {
        const auto both = together_ns();
        return both && alone_ns && *alone_ns > 0 ? std::optional{*both / *alone_ns} : std::nullopt;
    }
};

std::string micro(std::optional<double> ns) {
    return ns ? fmt::format("{:.3f}", *ns / 1e3) : "unfinished";
}

Json number(std::optional<double> value) {
    return value ? Json(*value) : Json(nullptr);
}

double gb_per_s(const AgentOutcome& agent, double time_ns) {
    return time_ns > 0 ? static_cast<double>(agent.bytes) / time_ns : 0;
}

ResultTable times_table(const std::vector<Pair>& pairs, double time_ns) {
    ResultTable table{"agents",
                      {"agent", "runs", "alone us", "together us", "slower by", "GB/s", "share %",
                       "mean read ns"},
                      {}};
    double bytes = 0;
    for (const Pair& pair : pairs) {
        bytes += static_cast<double>(pair.together.bytes);
    }
    for (const Pair& pair : pairs) {
        const auto slowdown = pair.slowdown();
        table.rows.push_back(
            {pair.together.name, std::to_string(pair.together.runs), micro(pair.alone_ns),
             micro(pair.together_ns()), slowdown ? fmt::format("{:.3f}", *slowdown) : "-",
             fmt::format("{:.2f}", gb_per_s(pair.together, time_ns)),
             fmt::format("{:.1f}", bytes > 0
                                       ? kPercent * static_cast<double>(pair.together.bytes) / bytes
                                       : 0.0),
             fmt::format("{:.1f}", pair.together.read_latency_ns)});
    }
    return table;
}

// Who kept whom waiting: rows are those who waited.
ResultTable waits_table(const std::vector<Pair>& pairs) {
    ResultTable table{
        "us of a channel's time, on average, that a request of ... waited for work for ...",
        {"waits"},
        {}};
    for (const Pair& pair : pairs) {
        table.header.push_back(pair.together.name);
    }
    for (const Pair& pair : pairs) {
        table.rows.push_back({pair.together.name});
        for (const double waited : pair.together.waited_ns) {
            table.rows.back().push_back(fmt::format("{:.3f}", waited / 1e3));
        }
    }
    return table;
}

ResultTable rows_table(const std::vector<Pair>& pairs) {
    ResultTable table{"rows of ... opened again because ... had closed them", {"loses"}, {}};
    for (const Pair& pair : pairs) {
        table.header.push_back(pair.together.name);
    }
    for (const Pair& pair : pairs) {
        table.rows.push_back({pair.together.name});
        for (const std::int64_t lost : pair.together.rows_lost) {
            table.rows.back().push_back(std::to_string(lost));
        }
    }
    return table;
}

Json details_of(const std::vector<Pair>& pairs, double time_ns) {
    Json details = Json::object();
    for (const Pair& pair : pairs) {
        const AgentOutcome& own = pair.together;
        Json waited = Json::object();
        Json lost = Json::object();
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            waited[pairs[i].together.name] = own.waited_ns[i];
            lost[pairs[i].together.name] = own.rows_lost[i];
        }
        details[own.name] = {{"device", own.result.device},
                             {"workload", own.result.workload},
                             {"mapping", own.result.mapping},
                             {"status", name_of(own.result.status)},
                             {"runs", own.runs},
                             {"alone_ns", number(pair.alone_ns)},
                             {"together_ns", number(pair.together_ns())},
                             {"slowdown", number(pair.slowdown())},
                             {"cycles", own.result.cycles},
                             {"bytes", own.bytes},
                             {"gb_per_s", gb_per_s(own, time_ns)},
                             {"mean_read_ns", own.read_latency_ns},
                             {"waited_ns", waited},
                             {"rows_lost", lost},
                             {"bottleneck", own.result.bottleneck}};
    }
    return {{"agents", details}};
}

// A stream beside others has its keys there, not below `workload`.
std::string of_stream(std::string text, std::string_view place) {
    constexpr std::string_view kAlone = "workload.memory_stream.";
    return text.starts_with(kAlone) ? text.replace(0, kAlone.size(), place) : text;
}

// As it stands in the file: keys of a device are relative to it.
std::string key_of(const std::string& agent, const std::string& key) {
    const bool of_file = key.starts_with("mapping.") || key.starts_with("workload.");
    return fmt::format("agents.{}.{}{}", agent, of_file ? "" : "device.",
                       of_stream(key, "stream."));
}

void add_parts(const TogetherOutcome& together, RunResult& result) {
    result.where = together.where;
    for (const AgentOutcome& agent : together.agents) {
        for (const auto& [component, states] : agent.result.where) {
            result.where.emplace_back(agent.name + "." + component, states);
        }
        for (const auto& [component, share] : agent.result.busy) {
            result.busy.emplace_back(agent.name + "." + component, share);
        }
        for (const std::string& note : agent.result.notes) {
            result.notes.push_back(agent.name + ": " + of_stream(note, "stream."));
        }
        for (const std::string& key : agent.result.not_exercised) {
            if (!key.starts_with("memory.")) {
                result.not_exercised.push_back(key_of(agent.name, key));
            }
        }
        result.functional = agent.result.functional ? agent.result.functional : result.functional;
    }
}

// The agent that lost most by the others, and by whom.
void name_the_slowed(const std::vector<Pair>& pairs, RunResult& result) {
    const Pair* most = nullptr;
    for (const Pair& pair : pairs) {
        if (pair.slowdown() && (most == nullptr || *pair.slowdown() > *most->slowdown())) {
            most = &pair;
        }
    }
    if (most == nullptr) {
        return;
    }
    std::size_t by = pairs.size();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const bool other = &pairs[i] != most;
        if (other &&
            (by == pairs.size() || most->together.waited_ns[i] > most->together.waited_ns[by])) {
            by = i;
        }
    }
    result.bottleneck =
        fmt::format("{} is {:.2f} times slower than alone", most->together.name, *most->slowdown());
    if (by < pairs.size() && most->together.waited_ns[by] > 0) {
        result.bottleneck += fmt::format(", most of it by {}", pairs[by].together.name);
    }
}

// Beside each agent's run with the others, one of it alone from the beginning.
std::vector<Pair> beside_alone(const std::vector<AgentCase>& agents,
                               const arch::memory::device::MemoryConfig& memory,
                               const workloads::RunOptions& options,
                               const TogetherOutcome& together) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < agents.size(); ++i) {
        std::vector<AgentCase> cases = agents;
        cases[i].repeat = 1;
        cases[i].until_all_done = false;
        cases[i].start = arch::base::Femtoseconds{0};
        const TogetherOutcome alone = run_together(cases, memory, options, i, nullptr);
        const AgentOutcome& own = alone.agents.front();
        pairs.push_back(
            {together.agents[i], own.runs > 0 ? std::optional{own.mean_ns} : std::nullopt});
    }
    return pairs;
}

arch::base::Cycles cycles_of(const arch::memory::device::MemoryConfig& memory, double time_ns) {
    return arch::base::Clock{memory.clock}.cycle_at(arch::base::Femtoseconds{
        static_cast<std::int64_t>(time_ns * workloads::kFemtosecondsPerNanosecond)});
}

std::vector<ResultTable> tables_of(const std::vector<Pair>& pairs, double time_ns) {
    return {times_table(pairs, time_ns), waits_table(pairs), rows_table(pairs)};
}

}  // namespace

RunResult run_agents(const Scenario& scenario, arch::base::ProbeListener* listener,
                     arch::memory::controller::CommandLog* log) {
    const auto& memory = scenario.device.memory;
    const TogetherOutcome together =
        run_together(scenario.agents, memory, scenario.run, std::nullopt, listener, log);
    const std::vector<Pair> pairs = beside_alone(scenario.agents, memory, scenario.run, together);
    RunResult result;
    result.device = scenario.device.name;
    result.status = together.status;
    result.deadlock = together.deadlock;
    result.workload = {{"agents", Json::object()}};
    for (const AgentOutcome& agent : together.agents) {
        result.workload["agents"][agent.name] = agent.result.workload;
    }
    result.mapping = Json::object();
    result.time_ns = together.time_ns;
    const arch::base::Cycles cycles = cycles_of(memory, together.time_ns);
    result.cycles = cycles.count();
    workloads::set_rates(result, 0, memory.clock);
    result.memory = together.memory;
    result.banks = together.banks;
    add_energy(memory, cycles, result);
    result.events = together.events;
    result.details = details_of(pairs, together.time_ns);
    result.tables = tables_of(pairs, together.time_ns);
    add_parts(together, result);
    const bool lent = std::any_of(
        scenario.agents.begin(), scenario.agents.end(),
        [](const AgentCase& agent) { return agent.a_case.device.has<arch::pim::PimConfig>(); });
    workloads::add_not_exercised(
        result, arch::memory::controller::not_exercised(memory, together.memory, lent));
    name_the_slowed(pairs, result);
    if (scenario.run.sampled) {
        result.notes.push_back(
            "run.sampled: agents on one memory have no rounds in common: simulated whole");
    }
    return result;
}

RunResult run_beside_traffic(const Scenario& scenario, arch::base::ProbeListener* listener,
                             arch::memory::controller::CommandLog* log) {
    AgentCase computing{.name = std::string{scenario.problem.kind().key()}, .a_case = scenario};
    computing.a_case.traffic.reset();
    const auto& memory = scenario.device.memory;
    AgentCase asking;
    asking.name = "traffic";
    asking.a_case.problem = {workloads::memory::streams::stream_kind(), *scenario.traffic};
    asking.a_case.device.name = scenario.device.name;
    asking.a_case.device.memory = memory;
    asking.a_case.run = scenario.run;
    const std::vector<AgentCase> cases{computing, asking};
    const TogetherOutcome together =
        run_together(cases, memory, scenario.run, std::nullopt, listener, log);
    const std::vector<Pair> pairs = beside_alone(cases, memory, scenario.run, together);
    RunResult result = together.agents.front().result;
    const RunResult& requests = together.agents.back().result;
    if (together.status != Status::Ok && result.status == Status::Ok) {
        result.status = together.status;
        result.deadlock = together.deadlock;
    }
    result.events = together.events;
    result.banks = together.banks;
    result.memory = together.memory;
    add_energy(memory, cycles_of(memory, together.time_ns), result);
    result.memory.reset();  // the commands are the units'; `banks` counts them
    result.where.insert(result.where.begin(), together.where.begin(), together.where.end());
    result.busy.insert(result.busy.begin(), together.busy.begin(), together.busy.end());
    result.stream = requests.stream;
    for (const std::string& note : requests.notes) {
        result.notes.push_back(of_stream(note, "traffic."));
    }
    for (const std::string& key : requests.not_exercised) {
        if (const std::string own = of_stream(key, "traffic."); own != key) {
            result.not_exercised.push_back(own);
        }
    }
    if (requests.stream) {
        // Until its last write has left the memory's queues, too.
        auto& time = result.stream->time;
        const auto begin = arch::memory::traffic::StreamDriver::latency(memory);
        time = std::max(time, together.memory_done - begin - arch::base::Femtoseconds{1});
        result.details["traffic_gb_per_s"] = static_cast<double>(result.stream->bytes) *
                                             workloads::kFemtosecondsPerNanosecond /
                                             static_cast<double>(time.count());
    }
    result.details.update(details_of(pairs, together.time_ns));
    for (ResultTable& table : tables_of(pairs, together.time_ns)) {
        result.tables.push_back(std::move(table));
    }
    return result;
}

}  // namespace tilesim::sim::session
