#include "sim/compare/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "arch/base/units.hpp"

namespace tilesim::sim::compare {

using arch::base::kPercent;

std::string to_table(const TraceComparison& comparison) {
    std::size_t width = std::string_view("memory.channel").size();
    for (const EventRow& row : comparison.rows) {
        width = std::max(width, row.unit.size());
    }
    std::string text = fmt::format(
        "{:<{}} {:<30} {:>5} {:>15} {:>10} {:>10} {:>8} {:>10} {:>10} {:>8} {:>8} "
        "{:>12}\n",
        "unit", width, "event", "tiles", "compared", "measured", "simulated", "error", "period",
        "simulated", "gap", "worst", "excess/tile");
    for (const EventRow& row : comparison.rows) {
        const std::string error =
            row.measured_mean > 0
                ? fmt::format("{:+.1f}%", kPercent * (row.simulated_mean / row.measured_mean - 1))
                : "-";
        text += fmt::format(
            "{:<{}} {:<30} {:>5} {:>15} {:>10.1f} {:>10.1f} {:>8} {:>10.1f} {:>10.1f} "
            "{:>7.1f}% {:>7.1f}% {:>+12.0f}\n",
            row.unit, width, row.event, row.tiles,
            fmt::format("{}/{}/{}", row.compared, row.measured, row.simulated), row.measured_mean,
            row.simulated_mean, error, row.measured_period, row.simulated_period,
            row.median_gap_error, row.worst_gap_error, row.excess);
    }
    text += fmt::format(
        "cycles of each unit's clock; compared/measured/simulated occurrences; gap: median error "
        "of "
        "the gaps between begins\ncoverage: {} of {} measured units, {} of {} events' lanes; {} of "
        "{} events paired ({:.0f} %), median gap error {:.1f} %\n",
        comparison.units_common, comparison.units_measured, comparison.lanes_common,
        comparison.lanes_measured, comparison.events_paired, comparison.events_measured,
        kPercent * static_cast<double>(comparison.events_paired) /
            static_cast<double>(std::max<std::int64_t>(1, comparison.events_measured)),
        comparison.median_gap_error);
    if (comparison.as_compiled) {
        std::string settings;
        for (const std::string& setting : comparison.as_compiled->settings) {
            settings += fmt::format(" --set '{}'", setting);
        }
        text += fmt::format(
            "with locks and kernels as the trace has them,{}: median gap error {:.1f} %\n",
            settings, comparison.as_compiled->median_gap_error);
    }
    if (comparison.column_shift != 0) {
        text += fmt::format("the design was loaded {} columns further east than it says\n",
                            comparison.column_shift);
    }
    for (const std::string& event : comparison.only_measured) {
        text += fmt::format("  not simulated: {}\n", event);
    }
    for (const std::string& flaw : comparison.flaws) {
        text += fmt::format("  partial trace: {}\n", flaw);
    }
    for (const std::string& note : comparison.notes) {
        text += fmt::format("note: {}\n", note);
    }
    for (const Divergence& at : comparison.first) {
        text += fmt::format(
            "first divergence: {} {} number {} (cycle {} of the measurement): {} cycles after the "
            "first {} measured, {} simulated\n",
            at.unit, at.event, at.occurrence, at.recorded_at, at.measured, at.since, at.simulated);
    }
    return text + fmt::format("most of the difference: {}\n", comparison.cause);
}

nlohmann::ordered_json to_json(const TraceComparison& comparison) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const EventRow& row : comparison.rows) {
        rows.push_back({{"unit", row.unit},
                        {"event", row.event},
                        {"tiles", row.tiles},
                        {"compared", row.compared},
                        {"measured", row.measured},
                        {"simulated", row.simulated},
                        {"measured_mean_cycles", row.measured_mean},
                        {"simulated_mean_cycles", row.simulated_mean},
                        {"measured_period_cycles", row.measured_period},
                        {"simulated_period_cycles", row.simulated_period},
                        {"median_gap_error_percent", row.median_gap_error},
                        {"worst_gap_error_percent", row.worst_gap_error},
                        {"gap_errors_percent", row.gap_errors},
                        {"excess_cycles_per_tile", row.excess}});
    }
    nlohmann::ordered_json first;
    for (const Divergence& at : comparison.first) {
        first = {{"unit", at.unit},
                 {"event", at.event},
                 {"occurrence", at.occurrence},
                 {"since", at.since},
                 {"measured_cycle", at.measured},
                 {"simulated_cycle", at.simulated}};
    }
    nlohmann::ordered_json as_compiled;
    if (comparison.as_compiled) {
        as_compiled = {{"settings", comparison.as_compiled->settings},
                       {"median_gap_error_percent", comparison.as_compiled->median_gap_error}};
    }
    return {{"rows", std::move(rows)},
            {"units_measured", comparison.units_measured},
            {"units_common", comparison.units_common},
            {"lanes_measured", comparison.lanes_measured},
            {"lanes_common", comparison.lanes_common},
            {"events_measured", comparison.events_measured},
            {"events_paired", comparison.events_paired},
            {"median_gap_error_percent", comparison.median_gap_error},
            {"as_compiled", std::move(as_compiled)},
            {"column_shift", comparison.column_shift},
            {"lost_packets", comparison.lost_packets},
            {"not_simulated", comparison.only_measured},
            {"flaws", comparison.flaws},
            {"notes", comparison.notes},
            {"first_divergence", first},
            {"uniform_factor", comparison.uniform_factor
                                   ? nlohmann::ordered_json(*comparison.uniform_factor)
                                   : nlohmann::ordered_json(nullptr)},
            {"cause", comparison.cause}};
}

}  // namespace tilesim::sim::compare
