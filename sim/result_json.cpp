#include "sim/result_json.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sim/band.hpp"
#include "sim/report_figures.hpp"

namespace tilesim::sim {

using Json = nlohmann::ordered_json;
using workloads::RunResult;

namespace {

// Counts of each channel's banks, row by row; of a command nobody gave, nothing.
Json to_json(const arch::memory::port::BankUse& use) {
    using arch::memory::port::BankCounts;
    Json json{{"banks_per_group", use.banks_per_group}};
    for (const auto& [name, counter] : {std::pair{"activates", &BankCounts::activates},
                                        {"reads", &BankCounts::reads},
                                        {"writes", &BankCounts::writes}}) {
        std::int64_t sum = 0;
        Json rows = Json::array();
        for (const auto& channel : use.channels) {
            Json row = Json::array();
            for (const BankCounts& bank : channel) {
                row.push_back(bank.*counter);
                sum += bank.*counter;
            }
            rows.push_back(std::move(row));
        }
        if (sum > 0) {
            json[name] = std::move(rows);
        }
    }
    return json;
}

Json to_json(const workloads::Sampling& sampled, bool host) {
    Json json{{"rounds", sampled.rounds},
              {"simulated", sampled.simulated},
              {"error_percent", sampled.error_percent},
              {"memory_error_percent", sampled.memory_error_percent},
              {"activates_error_percent", sampled.activates_error_percent}};
    if (host) {
        json["whole_wall_s"] = sampled.whole_wall_s;
    }
    return json;
}

Json to_json(const Band& band) {
    return {
        {"low_ns", band.low_ns}, {"high_ns", band.high_ns}, {"rows", band.rows}, {"far", band.far}};
}

Json bounds_in_json(const RunResult& result) {
    Json json = Json::object();
    if (result.bounds) {
        json = {{"compute_ns", result.bounds->compute_ns},
                {"stream_ns", result.bounds->stream_ns},
                {"memory_ns", result.bounds->memory_ns},
                {"binding", result.bounds->binding()},
                {"dram_bytes", result.bounds->dram_bytes}};
    }
    if (result.steady_state) {
        const workloads::SteadyState& steady = *result.steady_state;
        json["period"] = {
            {"channel", steady.channel},
            {"cycles", steady.bound},
            {"simulated_cycles", steady.simulated ? Json(*steady.simulated) : Json(nullptr)},
            {"tightest_cycle", steady.critical}};
    }
    return json;
}

Json where_in_json(const RunResult& result) {
    Json json = Json::object();
    for (const auto& [component, states] : result.where) {
        Json& entry = json[component] = Json::object();
        for (const auto& [state, cycles] : states) {
            entry[state] = cycles;
        }
    }
    return json;
}

Json busy_in_json(const RunResult& result) {
    constexpr double kDigits = 1e4;
    Json json = Json::object();
    for (const auto& [component, share] : result.busy) {
        json[component] = std::round(share * kDigits) / kDigits;
    }
    return json;
}

Json memory_in_json(const RunResult& result) {
    if (!result.memory) {
        return Json::object();
    }
    return {{"bytes_requested", result.memory->bytes_requested},
            {"bytes_read", result.memory->bytes_read},
            {"bytes_written", result.memory->bytes_written},
            {"gb_per_s", gb_per_s(result)},
            {"row_hit_rate", row_hit_rate(*result.memory)},
            {"activates", result.memory->activates},
            {"refreshes", result.memory->refreshes}};
}

Json latencies_in_json(const arch::memory::traffic::StreamResult& stream) {
    const auto ns = [](arch::base::Femtoseconds t) { return static_cast<double>(t.count()) / 1e6; };
    return {{"p50", ns(stream.latency_p50)},
            {"p90", ns(stream.latency_p90)},
            {"p99", ns(stream.latency_p99)},
            {"max", ns(stream.latency_max)}};
}

Json functional_in_json(const RunResult& result) {
    return {{"checked", result.functional ? result.functional->checked : 0},
            {"match", result.functional && result.functional->compared()
                          ? Json(result.functional->match)
                          : Json(nullptr)},
            {"method", result.functional ? result.functional->method : "timing mode"}};
}

Json to_json(const arch::base::DeadlockReport& deadlock) {
    Json waits = Json::array();
    Json spinning = Json::array();
    for (const arch::base::Spinner& spinner : deadlock.spinners) {
        spinning.push_back({{"who", spinner.who}, {"calls", spinner.calls}});
    }
    for (const arch::base::Wait& wait : deadlock.waits) {
        waits.push_back({{"who", wait.who},
                         {"what", wait.what},
                         {"on", wait.on},
                         {"held_by", wait.held_by},
                         {"since_cycle", wait.since},
                         {"in_cycle", wait.in_cycle}});
    }
    return {{"cycle", deadlock.cycle},
            {"livelock", !deadlock.spinners.empty()},
            {"last_progress_cycle", deadlock.last_progress},
            {"last_progress_by", deadlock.last_progress_by},
            {"waits", waits},
            {"spinning", spinning},
            {"queued", deadlock.queued},
            {"dropped_pushes", deadlock.dropped_pushes},
            {"graphviz", deadlock.graphviz()}};
}

}  // namespace

Json to_json(const RunResult& result, bool host) {
    Json json{{"schema", kResultSchema},
              {"status", name_of(result.status)},
              {"device", result.device},
              {"workload", result.workload},
              {"mapping", result.mapping},
              {"time_ns", result.time_ns},
              {"cycles", result.cycles},
              {"clock_ghz", result.clock_ghz},
              {"tops", result.tops},
              {"macs_per_cycle", result.macs_per_cycle},
              {"padding_waste", result.padding_waste}};
    if (result.sampled) {
        json["sampled"] = to_json(*result.sampled, host);
    }
    const auto band = band_of(result);
    json["band_90"] = band ? to_json(*band) : Json(nullptr);
    json["bounds"] = bounds_in_json(result);
    json["findings"] = result.findings;
    if (result.speedup_over_soc) {
        json["speedup_over_soc"] = *result.speedup_over_soc;
    }
    if (!result.details.empty()) {
        json["details"] = result.details;
    }
    json["bottleneck"] = result.bottleneck;
    json["next_bottleneck"] = result.next_bottleneck;
    if (result.most_saved_percent) {
        json["most_saved_percent"] = *result.most_saved_percent;
    }
    if (result.faster_together) {
        json["faster_together"] = {result.faster_together->first, result.faster_together->second};
    }
    json["where_time_went"] = where_in_json(result);
    json["busy"] = busy_in_json(result);
    json["memory"] = memory_in_json(result);
    if (!result.energy.empty()) {
        json["memory_energy"] = result.energy;
    }
    if (result.banks && result.banks->used()) {
        json["banks"] = to_json(*result.banks);
    }
    if (result.stream) {
        json["latency_ns"] = latencies_in_json(*result.stream);
    }
    json["functional"] = functional_in_json(result);
    if (result.deadlock) {
        json["deadlock"] = to_json(*result.deadlock);
    }
    json["notes"] = result.notes;
    json["not_exercised"] = result.not_exercised;
    json["events"] = result.events;
    if (host) {
        json["wall_s"] = result.wall_s;
    }
    json["provenance"] = result.provenance;
    return json;
}

std::string json_text(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tilesim::sim
