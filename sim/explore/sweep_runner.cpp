#include "sim/explore/sweep_runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "arch/base/config.hpp"
#include "sim/explore/interrupt.hpp"
#include "sim/explore/model_version.hpp"
#include "sim/explore/progress.hpp"
#include "sim/explore/simulate.hpp"
#include "sim/explore/stored_point.hpp"

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

// Puts points that have ended into the store. Each commit waits for the disk, some milliseconds:
// short points wait for others to share one with, never for longer than this.
class Keeper {
  public:
    explicit Keeper(Store& store) : store_(store) {}

    void add(StoredPoint point) { ended_.push_back(std::move(point)); }
    // Until the next commit.
    milliseconds patience() const {
        return ended_.empty() ? WorkerPool::kPatience : std::max(milliseconds{0}, left());
    }
    void keep_when_due() {
        if (!ended_.empty() && left() <= milliseconds{0}) {
            keep();
        }
    }
    void keep() {
        if (!ended_.empty()) {
            store_.save(ended_);
            ended_.clear();
            kept_ = Clock::now();
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr milliseconds kShared{100};

    milliseconds left() const {
        return std::chrono::ceil<milliseconds>(kept_ + kShared - Clock::now());
    }

    Store& store_;
    std::vector<StoredPoint> ended_;
    Clock::time_point kept_ = Clock::now() - kShared;
};

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
    WorkerPool pool(options.jobs, sweep.limits, simulations_of(sweep.base_text, sweep.base_file));
    Keeper keeper(store);
    AxisEffects effects(sweep);
    std::size_t next = 0;
    const auto fill = [&] {
        while (next < todo.size() && !pool.full() && !interrupt.requested()) {
            pool.start(next, task_of(overrides_of(sweep, *todo[next])));
            ++next;
        }
    };
    for (fill(); !pool.idle() && !interrupt.insisted();) {
        const std::vector<WorkerReport> reports = pool.wait(keeper.patience());
        fill();  // before saving: writing to disk must not keep a processor idle
        for (const WorkerReport& report : reports) {
            const Simulated result = simulated(report);
            keeper.add(stored_point(sweep, *todo[report.id], result, model));
            count(outcome, result);
            effects.add(*todo[report.id], result);
            progress.advance(result.good());
        }
        keeper.keep_when_due();
        progress.show();
    }
    keeper.keep();
    progress.finish();
    outcome.unfelt = effects.unfelt();
    outcome.left = outcome.points - outcome.reused - outcome.ok - outcome.invalid - outcome.failed;
    return outcome;
}

}  // namespace tilesim::sim::explore
