#include "sim/compare/trace_cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace tilesim::sim::compare {

namespace {

constexpr const char* kReadsWaiting = "READS_WAITING";

std::string meaning_of(const EventRow& row) {
    if (row.unit == "core_trace" && row.event == kKernel) {
        return "the core kernel";
    }
    if (row.unit == "core_trace" && row.event == "LOCK_STALL") {
        return "cores waiting for locks: data or space arrives at another rate";
    }
    if (row.unit == "shim_trace" && row.event.find("LOCK") == row.event.npos) {
        return "shim transfers: DRAM, its fabric, or back-pressure from the array";
    }
    if (row.unit == "fabric.port") {
        return row.event == kReadsWaiting ? "reads waiting for the link or a page of the fabric"
                                          : "reads under way: the latency of fabric and DRAM";
    }
    if (row.event.ends_with("STALLED_LOCK")) {
        return "buffers that are not free or not full in time";
    }
    return row.event.find("STARVATION") != row.event.npos ||
                   row.event.find("BACKPRESSURE") != row.event.npos
               ? "streams"
               : row.unit + " " + row.event;
}

// A kernel that takes another time explains the waiting around it; then transfers at the shim;
// then whatever has the largest excess.
std::string cause_of(const std::vector<EventRow>& rows) {
    const auto relative = [](const EventRow& row) {
        return row.simulated_mean > 0 ? std::abs(row.measured_mean / row.simulated_mean - 1) : 0.0;
    };
    const auto text = [&](const EventRow& row) {
        return fmt::format("{} ({} {}: {:.0f} cycles measured, {:.0f} simulated)", meaning_of(row),
                           row.unit, row.event, row.measured_mean, row.simulated_mean);
    };
    for (const EventRow& row : rows) {
        if (row.event == kKernel && relative(row) > kApart) {
            return text(row);
        }
    }
    for (const EventRow& row : rows) {
        if (row.unit == "shim_trace" && row.event.ends_with("RUNNING") && relative(row) > kApart) {
            std::string cause = text(row);
            for (const EventRow& fabric : rows) {
                if (fabric.event == kReadsWaiting && std::abs(fabric.excess) > 0) {
                    cause += fmt::format("; {}: {:+.0f} cycles a port", meaning_of(fabric),
                                         fabric.excess);
                }
            }
            return cause;
        }
    }
    return rows.empty() || relative(rows[0]) <= kApart ? "nothing stands out" : text(rows[0]);
}

// Lengths and periods whose ratio is the same for nearly all of them, and not one.
std::optional<double> uniform_factor(const std::vector<EventRow>& rows) {
    constexpr std::int64_t kFewest = 4;  // occurrences
    std::vector<double> factors;
    for (const EventRow& row : rows) {
        if (row.compared >= kFewest && row.simulated_mean > 0 && row.simulated_period > 0) {
            factors.push_back(row.measured_mean / row.simulated_mean);
            factors.push_back(row.measured_period / row.simulated_period);
        }
    }
    if (factors.size() < 4) {
        return std::nullopt;
    }
    std::sort(factors.begin(), factors.end());
    const double middle = factors[factors.size() / 2];
    constexpr double kAlike = 0.005;
    const auto alike = std::count_if(factors.begin(), factors.end(), [&](double factor) {
        return std::abs(factor / middle - 1) < kAlike;
    });
    const bool most = 10 * alike >= 8 * static_cast<std::ptrdiff_t>(factors.size());
    return most && std::abs(middle - 1) > 2 * kAlike ? std::optional{middle} : std::nullopt;
}

}  // namespace

void name_cause(TraceComparison& result) {
    std::stable_sort(result.rows.begin(), result.rows.end(),
                     [](const EventRow& a, const EventRow& b) {
                         return std::abs(a.excess) > std::abs(b.excess);
                     });
    result.uniform_factor = uniform_factor(result.rows);
    result.cause = result.uniform_factor
                       ? fmt::format(
                             "everything lasts {:.4g} times as long in the measurement: "
                             "its ticks are of another clock, or of another length",
                             *result.uniform_factor)
                       : cause_of(result.rows);
}

}  // namespace tilesim::sim::compare
