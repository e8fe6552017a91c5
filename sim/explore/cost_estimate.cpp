#include "sim/explore/cost_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "arch/base/config.hpp"
#include "sim/explore/simulate.hpp"
#include "sim/scenario.hpp"
#include "workloads/gemm.hpp"
#include "workloads/gemv.hpp"

namespace tilesim::sim::explore {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLookedAt = 200;
constexpr std::chrono::seconds kMostTried{6};
constexpr std::chrono::milliseconds kLook{100};

struct Outlook {
    const Point* point = nullptr;
    std::string device;
    double macs = 0;
    std::optional<double> wall_s;
};

double macs_of(const workloads::Problem& problem) {
    if (const auto* gemm = problem.find<workloads::GemmProblem>()) {
        return gemm->macs();
    }
    const auto* gemv = problem.find<workloads::GemvProblem>();
    return gemv != nullptr ? gemv->macs() : 1;
}

// The points that can be built, small ones of each device first.
std::vector<Outlook> outlooks(const SweepFile& sweep, const std::vector<Point>& points) {
    std::vector<Outlook> list;
    for (const Point& point : points) {
        try {
            const Scenario scenario =
                parse_scenario(sweep.base_text, sweep.base_file, overrides_of(sweep, point));
            list.push_back({&point, scenario.device.name, macs_of(scenario.problem), {}});
        } catch (const arch::base::config::ConfigError&) {  // costs nothing
        }
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Outlook& a, const Outlook& b) { return a.macs < b.macs; });
    return list;
}

bool sets(const Settings& settings, const char* key, const char* value) {
    return std::any_of(settings.begin(), settings.end(), [&](const auto& each) {
        return each.first == key && each.second == value;
    });
}

// Tries points of every device and size until the patience is over.
class Trials {
  public:
    Trials(const SweepFile& sweep, std::vector<Outlook>& list, std::size_t processes)
        : sweep_(sweep), list_(list), pool_(processes) {
        // One point of each size, small ones first, then another of each.
        std::map<std::pair<std::string, double>, std::size_t> seen;
        std::map<std::string, std::multimap<std::size_t, std::size_t>> order;
        for (std::size_t i = 0; i < list.size(); ++i) {
            order[list[i].device].emplace(seen[{list[i].device, list[i].macs}]++, i);
        }
        for (const auto& [device, points] : order) {
            for (const auto& [turn, point] : points) {
                waiting_[device].push_back(point);
            }
        }
    }

    void run() {
        const auto until = std::chrono::steady_clock::now() + kMostTried;
        const auto fill = [&] {
            while (!pool_.full() && std::chrono::steady_clock::now() < until && start_next()) {
            }
        };
        for (fill(); !pool_.idle(); fill()) {
            for (const WorkerReport& report : pool_.wait(kLook)) {
                note(report);
            }
        }
    }

    std::size_t ended() const { return ended_; }
    double bytes() const { return ended_ > 0 ? bytes_ / static_cast<double>(ended_) : 0; }

  private:
    bool start_next() {
        std::vector<std::size_t>* most = nullptr;  // the device with the least time so far
        for (auto& [device, points] : waiting_) {
            if (!points.empty() && (most == nullptr || spent_[device] < spent_[list_[most->front()].device])) {
                most = &points;
            }
        }
        if (most == nullptr) {
            return false;
        }
        const std::size_t next = most->front();
        most->erase(most->begin());
        Settings settings = overrides_of(sweep_, *list_[next].point);
        settings.emplace_back("run.sampled", "on");
        Limits limits = sweep_.limits;
        limits.time = std::min<std::chrono::milliseconds>(limits.time, kMostTried);
        spent_[list_[next].device] += 1e-3;
        pool_.start(next, limits, [this, settings] {
            return simulate(sweep_.base_text, sweep_.base_file, settings);
        });
        return true;
    }

    void note(const WorkerReport& report) {
        Outlook& at = list_[report.id];
        spent_[at.device] += report.wall_s;
        if (report.end == WorkerReport::End::OutOfTime) {  // nor will larger ones end
            std::erase_if(waiting_[at.device],
                          [&](std::size_t i) { return list_[i].macs >= at.macs; });
            return;
        }
        const Simulated run = simulated(report);
        const bool sampled = sets(sweep_.fixed, "run.sampled", "on");
        const Json part = run.result.value("sampled", Json::object());
        at.wall_s = run.wall_s + (sampled ? 0 : part.value("whole_wall_s", 0.0));
        bytes_ += static_cast<double>(report.text.size());
        ++ended_;
    }

    const SweepFile& sweep_;
    std::vector<Outlook>& list_;
    WorkerPool pool_;
    std::map<std::string, std::vector<std::size_t>> waiting_;  // by device, small ones first
    std::map<std::string, double> spent_;
    std::size_t ended_ = 0;
    double bytes_ = 0;
};

double mean_at(const std::vector<TriedPoint>& tried, double macs) {
    double sum = 0;
    double count = 0;
    for (const TriedPoint& each : tried) {
        if (each.macs == macs) {
            sum += each.wall_s;
            ++count;
        }
    }
    return sum / count;
}

}  // namespace

std::optional<double> expected_wall_s(const std::vector<TriedPoint>& tried,
                                      const std::string& device, double macs) {
    std::vector<TriedPoint> own;
    std::copy_if(tried.begin(), tried.end(), std::back_inserter(own),
                 [&](const TriedPoint& each) { return each.device == device; });
    if (own.empty()) {
        return std::nullopt;
    }
    std::vector<double> sizes;
    for (const TriedPoint& each : own) {
        sizes.push_back(each.macs);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    const auto above = std::lower_bound(sizes.begin(), sizes.end(), macs);
    if (above != sizes.end()) {
        return mean_at(own, *above);
    }
    const double largest = sizes.back();
    const double wall = mean_at(own, largest);
    if (sizes.size() == 1) {
        return wall * macs / largest;
    }
    const double before = sizes[sizes.size() - 2];
    const double growth = std::clamp(
        std::log(wall / mean_at(own, before)) / std::log(largest / before), 0.0, 1.3);
    return wall * std::pow(macs / largest, growth);
}

CostEstimate estimate_cost(const SweepFile& sweep, std::size_t processes) {
    const std::vector<Point> points = some_points(sweep, kMostLookedAt);
    std::vector<Outlook> list = outlooks(sweep, points);
    Trials trials(sweep, list, processes);
    trials.run();
    std::vector<TriedPoint> tried;
    for (const Outlook& at : list) {
        if (at.wall_s) {
            tried.push_back({at.device, at.macs, *at.wall_s});
        }
    }
    double sum = 0;
    std::size_t unknown = 0;
    for (const Outlook& at : list) {
        const auto wall = at.wall_s ? at.wall_s : expected_wall_s(tried, at.device, at.macs);
        sum += wall.value_or(0);
        unknown += wall ? 0 : 1;
    }
    return {sum / static_cast<double>(std::max<std::size_t>(1, points.size())), trials.bytes(),
            fmt::format("from {} of {} points tried{}", trials.ended(), points.size(),
                        unknown > 0 ? fmt::format("; at least: none of the device of {} ended",
                                                  unknown)
                                    : "")};
}

}  // namespace tilesim::sim::explore
