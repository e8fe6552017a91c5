#include "sim/explore/sweep_runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "arch/base/config.hpp"
#include "sim/explore/command_line.hpp"
#include "sim/explore/interrupt.hpp"
#include "sim/explore/model_version.hpp"
#include "sim/explore/progress.hpp"
#include "sim/explore/simulate.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

using std::chrono::milliseconds;

namespace {

// Results of different models are kept apart: silently adding to an old store would make plots of
// two models look like one.
void refuse_other_models(Store& store, const std::string& model, bool new_model) {
    const std::vector<std::string> others = store.models();
    const bool told = new_model || std::find(others.begin(), others.end(), model) != others.end();
    if (!others.empty() && !told) {
        throw arch::base::config::ConfigError(fmt::format(
            "the store holds results of model {}, this program is {}: use another --store, or "
            "--new-model to compute every point anew beside them",
            fmt::join(others, ", "), model));
    }
}

StoredPoint to_store(const SweepFile& sweep, const Point& point, const Simulated& outcome,
                     const std::string& model) {
    StoredPoint stored;
    stored.hash = point.hash;
    stored.model = model;
    stored.status = outcome.status;
    stored.error = outcome.error;
    stored.scenario = outcome.scenario;
    auto device_settings = nlohmann::ordered_json::object();
    for (const auto& [key, value] : overrides_of(sweep, point)) {
        if (sets_device(key)) {
            device_settings[key] = value;
        }
    }
    stored.device_settings = device_settings.dump();
    stored.base_file = std::filesystem::absolute(sweep.base_file);
    auto result = outcome.result;
    if (outcome.good()) {
        Settings settings = overrides_of(sweep, point);
        if (!result["mapping"].empty()) {  // the one chosen stands for the keys it came from
            std::erase_if(settings,
                          [](const auto& each) { return each.first.starts_with("mapping"); });
            settings.emplace_back("mapping", result["mapping"].dump());
        }
        result["command"] = run_command(stored.base_file, settings);
    }
    stored.result = result.dump();
    stored.wall_s = outcome.wall_s;
    stored.peak_mib = outcome.peak_mib;
    return stored;
}

void count(SweepOutcome& outcome, const Simulated& simulated) {
    outcome.ok += simulated.good() ? 1 : 0;
    outcome.invalid += simulated.status == "invalid" ? 1 : 0;
    outcome.failed += simulated.good() || simulated.status == "invalid" ? 0 : 1;
    if (!simulated.good() && outcome.first_problem.empty()) {
        outcome.first_problem = fmt::format("{}: {}", simulated.status, simulated.error);
    }
}

}  // namespace

SweepOutcome run_sweep(const SweepFile& sweep, const std::vector<Point>& points, Store& store,
                       const SweepOptions& options) {
    const std::string model = model_version();
    refuse_other_models(store, model, options.new_model);
    if (options.retry_failed) {
        store.forget_failed(model);
    }
    store.register_sweep(sweep, points, model);
    std::set<std::string> known = store.ended(model);
    std::vector<const Point*> todo;
    for (const Point& point : points) {
        if (known.insert(point.hash).second) {
            todo.push_back(&point);
        }
    }
    SweepOutcome outcome;
    outcome.points = static_cast<std::int64_t>(points.size());
    outcome.reused = outcome.points - static_cast<std::int64_t>(todo.size());
    Progress progress(static_cast<std::int64_t>(todo.size()), options.quiet);
    const InterruptGuard interrupt;
    WorkerPool pool(options.jobs);
    std::size_t next = 0;
    const auto fill = [&] {
        while (next < todo.size() && !pool.full() && !interrupt.requested()) {
            const Point& point = *todo[next];
            pool.start(next++, sweep.limits, [&sweep, &point] {
                return simulate(sweep.base_text, sweep.base_file, overrides_of(sweep, point));
            });
        }
    };
    for (fill(); !pool.idle() && !interrupt.insisted();) {
        const std::vector<WorkerReport> reports = pool.wait();
        fill();  // before saving: writing to disk must not keep a processor idle
        for (const WorkerReport& report : reports) {
            const Simulated result = simulated(report);
            store.save(to_store(sweep, *todo[report.id], result, model));
            count(outcome, result);
            progress.advance(result.good());
        }
        progress.show();
    }
    progress.finish();
    outcome.left = outcome.points - outcome.reused - outcome.ok - outcome.invalid - outcome.failed;
    return outcome;
}

}  // namespace tilesim::sim::explore
