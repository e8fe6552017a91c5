#include "workloads/result.hpp"

#include <algorithm>

namespace tilesim::workloads {

namespace {

constexpr double kHertzPerGigahertz = 1e9;

}  // namespace

const char* name_of(Status status) {
    switch (status) {
        case Status::Ok:
            return "ok";
        case Status::Mismatch:
            return "mismatch";
        case Status::Deadlock:
            return "deadlock";
        case Status::TimeLimit:
            return "time_limit";
    }
    return "";
}

void add_not_exercised(RunResult& result, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        if (std::find(result.not_exercised.begin(), result.not_exercised.end(), key) ==
            result.not_exercised.end()) {
            result.not_exercised.push_back(key);
        }
    }
}

void set_rates(RunResult& result, double macs, arch::base::Hertz clock) {
    result.clock_ghz = static_cast<double>(clock.count()) / kHertzPerGigahertz;
    result.macs_per_cycle = result.cycles > 0 ? macs / static_cast<double>(result.cycles) : 0;
    // 2 operations a multiply-accumulate; operations per ns are 1e-3 TOPS.
    result.tops = result.time_ns > 0 ? 2 * macs / result.time_ns * 1e-3 : 0;
}

}  // namespace tilesim::workloads
