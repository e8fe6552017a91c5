#include "sim/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"
#include "sim/band.hpp"
#include "sim/report_figures.hpp"

namespace tilesim::sim {

using arch::base::kPercent;
using workloads::RunResult;

namespace {

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

// Of programs whose products nobody has counted the bytes alone.
std::string intensity_text(const RunResult& result) {
    const double bytes = result.bounds->dram_bytes;
    if (bytes <= 0) {
        return "no DRAM bytes";
    }
    return result.tops > 0 ? fmt::format("{:.1f} operations per DRAM byte",
                                         1e3 * result.tops * result.time_ns / bytes)
                           : fmt::format("{:.0f} DRAM bytes", bytes);
}

std::string bounds_table(const RunResult& result) {
    const workloads::GemmBounds& bounds = *result.bounds;
    std::string text;
    const auto bound = [&](const char* label, double ns) {
        text += line(label, fmt::format("{:>12.3f} us  {:5.1f} % of the simulated time", ns / 1e3,
                                        kPercent * ns / result.time_ns));
    };
    bound("compute bound", bounds.compute_ns);
    bound("stream bound", bounds.stream_ns);
    bound("memory bound", bounds.memory_ns);
    text += line("roofline",
                 fmt::format("{} bound binds; {}", bounds.binding(), intensity_text(result)));
    return text;
}

std::string critical_text(const std::vector<std::string>& nodes) {
    constexpr std::size_t kShown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
        text += (i == 0 ? "" : " -> ") + nodes[i];
    }
    return text + (nodes.size() > kShown ? fmt::format(" -> {} more", nodes.size() - kShown) : "");
}

std::string where_table(const RunResult& result) {
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

// Behind other names; entries of one list stand together: modes[1, 2, 4].
void append_name(std::string& names, const std::string& name) {
    const std::string list = name.substr(0, name.find('[') + 1);
    const std::size_t last = names.rfind(", " + list);  // or the first name
    const std::size_t begun = last != names.npos ? last + 2 : 0;
    if (!list.empty() && names.compare(begun, list.size(), list) == 0 &&
        names.find(']', begun) == names.size() - 1) {
        names.back() = ',';
        names += " " + name.substr(list.size());
    } else {
        names += (names.empty() ? "" : ", ") + name;
    }
}

// Keys that were read but could not matter, a section a line.
std::string unexercised_text(const RunResult& result) {
    std::map<std::string, std::string> sections;
    for (const std::string& key : result.not_exercised) {
        const std::size_t dot = key.rfind('.');
        append_name(sections[dot == key.npos ? "" : key.substr(0, dot)],
                    dot == key.npos ? key : key.substr(dot + 1));
    }
    std::string text = sections.empty() ? "" : "keys that could not matter here\n";
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

// What ran, where, and how that ended.
std::string case_lines(const RunResult& result) {
    std::string text = fmt::format("{}: {}\n", result.device, result.workload.dump());
    if (!result.mapping.empty()) {
        text += line("mapping", result.mapping.dump());
    }
    text += line("status", name_of(result.status));
    return text;
}

// How long it took, and how sure that is.
std::string time_lines(const RunResult& result) {
    const std::optional<Band> band = band_of(result);
    std::string text =
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
                             "and rates within {:.2f} %, bytes {:.2f} %, activates {:.0f} %; "
                             "run.sampled=off is exact",
                             result.sampled->simulated, result.sampled->rounds,
                             result.sampled->error_percent, result.sampled->memory_error_percent,
                             result.sampled->activates_error_percent));
    }
    return text;
}

// How fast that is, and what held it back.
std::string rate_lines(const RunResult& result) {
    std::string text;
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
    constexpr double kLittle = 10;
    if (result.most_saved_percent && *result.most_saved_percent < kLittle) {
        text += line("faster alone", fmt::format("the bottleneck saves {:.1f} % at most",
                                                 *result.most_saved_percent));
    }
    if (result.faster_together) {
        text += line("faster together", fmt::format("{}; {}", result.faster_together->first,
                                                    result.faster_together->second));
    }
    return text;
}

std::string energy_line(const RunResult& result) {
    if (result.energy.contains("total_nj")) {
        std::string parts;
        for (const auto& [what, nanojoules] : result.energy.items()) {
            parts += fmt::format("{}{} {:.1f}", parts.empty() ? "" : ", ",
                                 what.substr(0, what.rfind('_')), nanojoules.get<double>() / 1e3);
        }
        return line("memory energy", parts + " uJ");
    }
    return result.energy.contains("none")
               ? line("memory energy", "none: " + result.energy["none"].get<std::string>())
               : "";
}

std::string memory_lines(const RunResult& result) {
    std::string text;
    if (result.memory) {
        text +=
            line("memory", fmt::format("{:.1f} MB read, {:.1f} MB written, {:.2f} GB/s, row hits "
                                       "{:.1f} %",
                                       static_cast<double>(result.memory->bytes_read) / 1e6,
                                       static_cast<double>(result.memory->bytes_written) / 1e6,
                                       gb_per_s(result), kPercent * row_hit_rate(*result.memory)));
    }
    text += energy_line(result);
    if (result.stream) {
        const auto ns = [](arch::base::Femtoseconds t) {
            return static_cast<double>(t.count()) / 1e6;
        };
        text += line("read latency",
                     fmt::format("p50 {:.1f} ns, p90 {:.1f} ns, p99 {:.1f} ns, max {:.1f} ns",
                                 ns(result.stream->latency_p50), ns(result.stream->latency_p90),
                                 ns(result.stream->latency_p99), ns(result.stream->latency_max)));
    }
    return text;
}

// Padding, the check of the product, and what a reader must know.
std::string remark_lines(const RunResult& result) {
    std::string text;
    if (result.padding_waste > 0) {
        text += line("padding",
                     fmt::format("{:.2f} % of the work is waste", kPercent * result.padding_waste));
    }
    if (result.functional) {
        text +=
            line("functional", fmt::format("{} ({} elements compared; {}){}",
                                           !result.functional->match       ? "PRODUCT DIFFERS"
                                           : result.functional->compared() ? "product matches"
                                                                           : "nothing is known",
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
    return text;
}

}  // namespace

std::string to_table(const RunResult& result) {
    std::string text = case_lines(result) + time_lines(result) + rate_lines(result) +
                       memory_lines(result) + remark_lines(result);
    for (const workloads::ResultTable& table : result.tables) {
        text += aligned(table);
    }
    return text + where_table(result) + unexercised_text(result);
}

}  // namespace tilesim::sim
