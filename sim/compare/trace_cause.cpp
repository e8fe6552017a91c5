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

// Of an event, or from one to the next, in cycles.
struct Length {
    double measured = 0, simulated = 0;

    double factor() const { return measured / simulated; }
};

double middle_factor(std::vector<Length> lengths) {
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end(),
                     [](const Length& a, const Length& b) { return a.factor() < b.factor(); });
    return middle->factor();
}

// Lengths and periods whose ratio is the same for nearly all of them, and not one. Ticks are whole:
// a length may be one off, so that long ones tell the ratio, and those too short to show it
// nothing.
std::optional<double> uniform_factor(const std::vector<EventRow>& rows) {
    constexpr std::int64_t kFewest = 4;  // occurrences
    constexpr double kAlike = 0.005;
    constexpr double kTick = 1;
    std::vector<Length> lengths;
    std::vector<Length> long_ones;
    const auto add = [&](double measured, double simulated) {
        lengths.push_back({measured, simulated});
        if (std::min(measured, simulated) * kAlike >= kTick) {
            long_ones.push_back(lengths.back());
        }
    };
    for (const EventRow& row : rows) {
        if (row.compared >= kFewest && row.simulated_mean > 0 && row.simulated_period > 0) {
            add(row.measured_mean, row.simulated_mean);
            add(row.measured_period, row.simulated_period);
        }
    }
    if (lengths.size() < 4) {
        return std::nullopt;
    }
    const double middle = middle_factor(long_ones.size() < 4 ? lengths : long_ones);
    std::erase_if(lengths, [&](const Length& each) {
        return std::abs(middle - 1) * each.simulated < 2 * kTick;
    });
    const auto alike = std::count_if(lengths.begin(), lengths.end(), [&](const Length& each) {
        const double expected = middle * each.simulated;
        return std::abs(each.measured - expected) <= std::max(kTick, kAlike * expected);
    });
    const bool most =
        lengths.size() >= 4 && 10 * alike >= 8 * static_cast<std::ptrdiff_t>(lengths.size());
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
