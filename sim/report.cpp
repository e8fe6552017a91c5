#include "sim/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "sim/band.hpp"

namespace tilesim::sim {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kSchema = "tilesim-result-1";
using arch::base::kPercent;

double row_hit_rate(const arch::memory::port::MemoryTotals& totals) {
    return totals.bursts > 0
               ? static_cast<double>(totals.row_hits) / static_cast<double>(totals.bursts)
               : 0.0;
}

double gb_per_s(const workloads::RunResult& result) {  // bytes a ns are GB/s
    return result.memory && result.time_ns > 0
               ? static_cast<double>(result.memory->bytes_read + result.memory->bytes_written) /
                     result.time_ns
               : 0.0;
}

std::string line(const std::string& label, const std::string& value) {
    return fmt::format("  {:<17} {}\n", label, value);
}

std::string band_text(const Band& band) {
    const auto microseconds = [](double ns) {
        constexpr double kFourDigits = 1e6;
        return ns < kFourDigits ? fmt::format("{:.4g}", ns / 1e3) : fmt::format("{:.0f}", ns / 1e3);
    };
    return fmt::format(", 90 %: {} to {}", microseconds(band.low_ns), microseconds(band.high_ns));
}

std::string bounds_table(const workloads::RunResult& result) {
    const workloads::GemmBounds& bounds = *result.bounds;
    std::string text;
    const auto bound = [&](const char* label, double ns) {
        text += line(label, fmt::format("{:>12.3f} us  {:5.1f} % of the simulated time", ns / 1e3,
                                        kPercent * ns / result.time_ns));
    };
    bound("compute bound", bounds.compute_ns);
    bound("stream bound", bounds.stream_ns);
    bound("memory bound", bounds.memory_ns);
    const std::string intensity =
        bounds.dram_bytes > 0 ? fmt::format("{:.1f} operations per DRAM byte",
                                            1e3 * result.tops * result.time_ns / bounds.dram_bytes)
                              : "no DRAM traffic counted";
    text += line("roofline", fmt::format("{} bound binds; {}", bounds.binding(), intensity));
    return text;
}

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

std::string critical_text(const std::vector<std::string>& nodes) {
    constexpr std::size_t kShown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
        text += (i == 0 ? "" : " -> ") + nodes[i];
    }
    return text + (nodes.size() > kShown ? fmt::format(" -> {} more", nodes.size() - kShown) : "");
}

std::string where_table(const workloads::RunResult& result) {
    std::string text = "where time went (cycles of each clock, mean of a class)\n";
    for (const auto& [component, states] : result.where) {
        double total = 0;
        for (const auto& [state, cycles] : states) {
            total += cycles;
        }
        std::string row;
        for (const auto& [state, cycles] : states) {
            if (total > 0 && cycles / total >= 0.0005) {
                row += fmt::format("{}{} {:.1f} %", row.empty() ? "" : ", ", state,
                                   kPercent * cycles / total);
            }
        }
        text += line(component, row);
    }
    return text;
}

// Keys that were read but could not matter, a section a line.
std::string unexercised_text(const workloads::RunResult& result) {
    std::map<std::string, std::string> sections;
    for (const std::string& key : result.not_exercised) {
        const std::size_t dot = key.rfind('.');
        std::string& names = sections[dot == key.npos ? "" : key.substr(0, dot)];
        names += (names.empty() ? "" : ", ") + (dot == key.npos ? key : key.substr(dot + 1));
    }
    std::string text = sections.empty() ? "" : "keys of the device that could not matter here\n";
    for (const auto& [section, names] : sections) {
        text += line(section, " " + names);
    }
    return text;
}

// The first column to the left, the others to the right.
std::string aligned(const workloads::ResultTable& table) {
    std::vector<std::size_t> widths;
    for (const std::string& name : table.header) {
        widths.push_back(name.size());
    }
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text = table.title + "\n";
    const auto add = [&](const std::vector<std::string>& row) {
        text += fmt::format("  {:<{}}", row[0], widths[0]);
        for (std::size_t i = 1; i < row.size(); ++i) {
            text += fmt::format("  {:>{}}", row[i], widths[i]);
        }
        text += '\n';
    };
    add(table.header);
    std::for_each(table.rows.begin(), table.rows.end(), add);
    return text;
}

}  // namespace

std::string to_table(const workloads::RunResult& result) {
    std::string text = fmt::format("{}: {}\n", result.device, result.workload.dump());
    if (!result.mapping.empty()) {
        text += line("mapping", result.mapping.dump());
    }
    text += line("status", name_of(result.status));
    const std::optional<Band> band = band_of(result);
    text +=
        line("time", fmt::format("{:>12.3f} us{}  {} cycles at {:.4g} GHz", result.time_ns / 1e3,
                                 band ? band_text(*band) : "", result.cycles, result.clock_ghz));
    if (!band || !band->far.empty()) {
        text += line("measured", band ? fmt::format("nothing near it: {}; the band is of other "
                                                    "runs of this kind",
                                                    band->far)
                                      : "nothing of this kind: no band");
    }
    if (result.sampled) {
        text +=
            line("sampled",
                 fmt::format("{:>12.1f} of {:.0f} rounds simulated, the rest extrapolated: time "
                             "and rates within {:.2f} %, memory {:.2f} %; run.sampled=off is "
                             "exact",
                             result.sampled->simulated, result.sampled->rounds,
                             result.sampled->error_percent, result.sampled->memory_error_percent));
    }
    if (result.tops > 0) {
        text += line("throughput", fmt::format("{:>12.3f} TOPS {:.1f} MAC/cycle", result.tops,
                                               result.macs_per_cycle));
    }
    if (result.bounds) {
        text += bounds_table(result);
    }
    if (result.steady_state) {
        const workloads::SteadyState& steady = *result.steady_state;
        text +=
            line("steady state",
                 fmt::format(
                     "{:>12.1f} cycles a round of {} at least{}", steady.bound, steady.channel,
                     steady.simulated ? fmt::format(", {:.1f} simulated", *steady.simulated) : ""));
        if (steady.simulated) {
            text += line("tightest cycle", critical_text(steady.critical));
        }
    }
    if (result.speedup_over_soc) {
        text += line("speed-up over SoC", fmt::format("{:.3f}", *result.speedup_over_soc));
    }
    if (!result.details.empty() && result.tables.empty()) {
        text += line("details", result.details.dump());
    }
    text += line("bottleneck", result.bottleneck);
    text += line("next bottleneck", result.next_bottleneck);
    if (result.memory) {
        text +=
            line("memory", fmt::format("{:.1f} MB read, {:.1f} MB written, {:.2f} GB/s, row hits "
                                       "{:.1f} %",
                                       static_cast<double>(result.memory->bytes_read) / 1e6,
                                       static_cast<double>(result.memory->bytes_written) / 1e6,
                                       gb_per_s(result), kPercent * row_hit_rate(*result.memory)));
    }
    if (result.energy.contains("total_nj")) {
        std::string parts;
        for (const auto& [what, nanojoules] : result.energy.items()) {
            parts += fmt::format("{}{} {:.1f}", parts.empty() ? "" : ", ",
                                 what.substr(0, what.rfind('_')), nanojoules.get<double>() / 1e3);
        }
        text += line("memory energy", parts + " uJ");
    } else if (result.energy.contains("none")) {
        text += line("memory energy", "none: " + result.energy["none"].get<std::string>());
    }
    if (result.stream) {
        const auto ns = [](arch::base::Femtoseconds t) {
            return static_cast<double>(t.count()) / 1e6;
        };
        text += line("read latency",
                     fmt::format("p50 {:.1f} ns, p90 {:.1f} ns, p99 {:.1f} ns, max {:.1f} ns",
                                 ns(result.stream->latency_p50), ns(result.stream->latency_p90),
                                 ns(result.stream->latency_p99), ns(result.stream->latency_max)));
    }
    if (result.padding_waste > 0) {
        text += line("padding", fmt::format("{:.2f} % of the multiply-accumulates are waste",
                                            kPercent * result.padding_waste));
    }
    if (result.functional) {
        text += line("functional",
                     fmt::format("{} ({} elements compared; {}){}",
                                 result.functional->match ? "product matches" : "PRODUCT DIFFERS",
                                 result.functional->checked, result.functional->method,
                                 result.functional->first_mismatch.empty()
                                     ? ""
                                     : ": " + result.functional->first_mismatch));
    }
    for (const std::string& finding : result.findings) {
        text += line("before the run", finding);
    }
    for (const std::string& note : result.notes) {
        text += line("note", note);
    }
    for (const workloads::ResultTable& table : result.tables) {
        text += aligned(table);
    }
    return text + where_table(result) + unexercised_text(result);
}

Json to_json(const workloads::RunResult& result, bool host) {
    Json json{{"schema", kSchema},
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
        json["sampled"] = {{"rounds", result.sampled->rounds},
                           {"simulated", result.sampled->simulated},
                           {"error_percent", result.sampled->error_percent},
                           {"memory_error_percent", result.sampled->memory_error_percent}};
        if (host) {
            json["sampled"]["whole_wall_s"] = result.sampled->whole_wall_s;
        }
    }
    json["band_90"] = nullptr;
    if (const auto band = band_of(result)) {
        json["band_90"] = {{"low_ns", band->low_ns},
                           {"high_ns", band->high_ns},
                           {"rows", band->rows},
                           {"far", band->far}};
    }
    json["bounds"] = Json::object();
    if (result.bounds) {
        json["bounds"] = {{"compute_ns", result.bounds->compute_ns},
                          {"stream_ns", result.bounds->stream_ns},
                          {"memory_ns", result.bounds->memory_ns},
                          {"binding", result.bounds->binding()},
                          {"dram_bytes", result.bounds->dram_bytes}};
    }
    if (result.steady_state) {
        const workloads::SteadyState& steady = *result.steady_state;
        json["bounds"]["period"] = {
            {"channel", steady.channel},
            {"cycles", steady.bound},
            {"simulated_cycles", steady.simulated ? Json(*steady.simulated) : Json(nullptr)},
            {"tightest_cycle", steady.critical}};
    }
    json["findings"] = result.findings;
    if (result.speedup_over_soc) {
        json["speedup_over_soc"] = *result.speedup_over_soc;
    }
    if (!result.details.empty()) {
        json["details"] = result.details;
    }
    json["bottleneck"] = result.bottleneck;
    json["next_bottleneck"] = result.next_bottleneck;
    json["where_time_went"] = Json::object();
    for (const auto& [component, states] : result.where) {
        Json& entry = json["where_time_went"][component] = Json::object();
        for (const auto& [state, cycles] : states) {
            entry[state] = cycles;
        }
    }
    json["busy"] = Json::object();
    for (const auto& [component, share] : result.busy) {
        constexpr double kDigits = 1e4;
        json["busy"][component] = std::round(share * kDigits) / kDigits;
    }
    json["memory"] = Json::object();
    if (result.memory) {
        json["memory"] = {{"bytes_requested", result.memory->bytes_requested},
                          {"bytes_read", result.memory->bytes_read},
                          {"bytes_written", result.memory->bytes_written},
                          {"gb_per_s", gb_per_s(result)},
                          {"row_hit_rate", row_hit_rate(*result.memory)},
                          {"activates", result.memory->activates},
                          {"refreshes", result.memory->refreshes}};
    }
    if (!result.energy.empty()) {
        json["memory_energy"] = result.energy;
    }
    if (result.banks && result.banks->used()) {
        json["banks"] = to_json(*result.banks);
    }
    if (result.stream) {
        const auto ns = [](arch::base::Femtoseconds t) {
            return static_cast<double>(t.count()) / 1e6;
        };
        json["latency_ns"] = {{"p50", ns(result.stream->latency_p50)},
                              {"p90", ns(result.stream->latency_p90)},
                              {"p99", ns(result.stream->latency_p99)},
                              {"max", ns(result.stream->latency_max)}};
    }
    json["functional"] = {
        {"checked", result.functional ? result.functional->checked : 0},
        {"match", result.functional ? Json(result.functional->match) : Json(nullptr)},
        {"method", result.functional ? result.functional->method : "timing mode"}};
    if (result.deadlock) {
        Json waits = Json::array();
        Json spinning = Json::array();
        for (const arch::base::Spinner& spinner : result.deadlock->spinners) {
            spinning.push_back({{"who", spinner.who}, {"calls", spinner.calls}});
        }
        for (const arch::base::Wait& wait : result.deadlock->waits) {
            waits.push_back({{"who", wait.who},
                             {"what", wait.what},
                             {"on", wait.on},
                             {"held_by", wait.held_by},
                             {"since_cycle", wait.since},
                             {"in_cycle", wait.in_cycle}});
        }
        json["deadlock"] = {{"cycle", result.deadlock->cycle},
                            {"livelock", !result.deadlock->spinners.empty()},
                            {"last_progress_cycle", result.deadlock->last_progress},
                            {"last_progress_by", result.deadlock->last_progress_by},
                            {"waits", waits},
                            {"spinning", spinning},
                            {"queued", result.deadlock->queued},
                            {"dropped_pushes", result.deadlock->dropped_pushes},
                            {"graphviz", result.deadlock->graphviz()}};
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

std::string to_csv(const workloads::RunResult& result) {
    return "schema,device,status,time_ns,cycles,tops,macs_per_cycle,gb_per_s,row_hit_rate,"
           "bottleneck,next_bottleneck\n" +
           fmt::format("{},{},{},{},{},{},{},{},{},\"{}\",\"{}\"\n", kSchema, result.device,
                       name_of(result.status), result.time_ns, result.cycles, result.tops,
                       result.macs_per_cycle, gb_per_s(result),
                       result.memory ? row_hit_rate(*result.memory) : 0.0, result.bottleneck,
                       result.next_bottleneck);
}

void write_file(const std::string& path, const std::string& text) {
    write_file(path, [&text](std::ostream& out) { out << text; });
}

void write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
    namespace fs = std::filesystem;
    std::error_code error;
    // A link stays one, and what is no file (a terminal, /dev/full) is written to, not replaced.
    const bool link = fs::is_symlink(path, error);
    const std::string target = link ? fs::weakly_canonical(path, error).string() : path;
    const bool in_place = fs::exists(target, error) && !fs::is_regular_file(target, error);
    const std::string written = in_place ? target : target + ".part";
    std::ofstream out(written, std::ios::binary);
    write(out);
    out.close();
    if (out.fail()) {
        if (!in_place) {
            fs::remove(written, error);
        }
        throw arch::base::config::IoError(fmt::format("{}: cannot be written", path));
    }
    if (!in_place) {
        fs::rename(written, target, error);
    }
    if (error) {
        throw arch::base::config::IoError(fmt::format("{}: {}", path, error.message()));
    }
}

}  // namespace tilesim::sim
