#include "sim/explore/tuner.hpp"

#include <algorithm>

#include "arch/base/config.hpp"
#include "sim/explore/batch.hpp"
#include "sim/explore/interrupt.hpp"
#include "sim/explore/progress.hpp"
#include "sim/explore/simulate.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;

namespace {

constexpr std::chrono::milliseconds kPatience{200};

// What to expect of a candidate where DRAM delivers this much: orders the simulations, decides
// nothing.
double expected_ns(const TuneCandidate& candidate, double dram_bytes_per_ns) {
    return std::max({candidate.bounds.compute_ns, candidate.bounds.stream_ns,
                     candidate.bounds.dram_bytes / dram_bytes_per_ns});
}

// The candidates not tried yet, and what the tried ones have taught.
class Search {
  public:
    Search(std::vector<TuneCandidate> candidates, double peak_bytes_per_ns)
        : open_(std::move(candidates)), bytes_per_ns_(peak_bytes_per_ns) {}

    // The most promising candidate. None when no bound beats the best time any more, or when none
    // would beat it with all the bandwidth DRAM was ever seen to deliver.
    std::optional<TuneCandidate> next() {
        cut_ +=
            static_cast<std::int64_t>(std::erase_if(open_, [this](const TuneCandidate& candidate) {
                return best_ns_ > 0 && candidate.bounds.tightest_ns() >= best_ns_;
            }));
        const auto best =
            std::min_element(open_.begin(), open_.end(), [this](const auto& a, const auto& b) {
                return expected_ns(a, bytes_per_ns_) < expected_ns(b, bytes_per_ns_);
            });
        if (best == open_.end() ||
            (most_seen_ > 0 && expected_ns(*best, bytes_per_ns_) >= best_ns_)) {
            return std::nullopt;
        }
        const TuneCandidate candidate = *best;
        open_.erase(best);
        return candidate;
    }

    // A time beyond the compute and stream bounds shows what DRAM delivers to such mappings.
    void learn(const Trial& trial) {
        best_ns_ = best_ns_ > 0 ? std::min(best_ns_, trial.time_ns) : trial.time_ns;
        const workloads::GemmBounds& bounds = trial.candidate.bounds;
        constexpr double kClearly = 1.15;
        if (bounds.dram_bytes > 0 &&
            trial.time_ns > kClearly * std::max(bounds.compute_ns, bounds.stream_ns)) {
            most_seen_ = std::max(most_seen_, bounds.dram_bytes / trial.time_ns);
            bytes_per_ns_ = most_seen_;
        }
    }

    std::int64_t cut() const { return cut_; }
    std::int64_t left() const { return static_cast<std::int64_t>(open_.size()); }

  private:
    std::vector<TuneCandidate> open_;
    double bytes_per_ns_;
    double most_seen_ = 0;
    double best_ns_ = 0;
    std::int64_t cut_ = 0;
};

Trial trial_of(const TuneCandidate& candidate, const Simulated& simulated) {
    Trial trial{candidate, simulated.status, simulated.error, 0, 0, ""};
    if (simulated.good()) {
        trial.time_ns = simulated.result["time_ns"];
        trial.tops = simulated.result["tops"];
        trial.bottleneck = simulated.result["bottleneck"];
    }
    return trial;
}

// Simulates candidates, several at a time, until the search has none left.
std::vector<Trial> run_trials(Search& search, const std::string& text, const std::string& file,
                              const Settings& overrides, const TuneOptions& options) {
    std::vector<Trial> trials;
    std::vector<TuneCandidate> started;
    const auto most = static_cast<std::size_t>(options.simulations);
    Progress progress(std::min(search.left(), options.simulations), options.quiet);
    const InterruptGuard interrupt;
    WorkerPool pool(options.jobs);
    const auto fill = [&] {
        while (!pool.full() && started.size() < most && !interrupt.requested()) {
            const auto candidate = search.next();
            if (!candidate) {
                return;  // for now: what still runs may teach otherwise
            }
            pool.start(started.size(), {}, [&] {
                Settings all = overrides;
                for (const auto& setting : candidate->settings) {
                    all.push_back(setting);
                }
                return simulate(text, file, all);
            });
            started.push_back(*candidate);
        }
    };
    for (fill(); !pool.idle() && !interrupt.insisted(); fill()) {
        for (const WorkerReport& report : pool.wait(kPatience)) {
            trials.push_back(trial_of(started[report.id], simulated(report)));
            const bool good = trials.back().status == "ok";
            if (good) {
                search.learn(trials.back());
            }
            progress.advance(good);
        }
        progress.show();
    }
    progress.finish();
    return trials;
}

// The smallest block along K at which the throughput of the winner's tile saturates: smaller
// blocks leave memory tiles room, and DRAM's runs need be no longer than they help.
void find_saturation(TuneResult& result, const Scenario& scenario, const std::string& text,
                     const std::string& file, const Settings& overrides,
                     const TuneOptions& options) {
    const Trial& winner = result.trials[0];
    const auto candidates = shorter_blocks(scenario, winner.candidate);
    std::vector<Job> jobs;
    for (const TuneCandidate& candidate : candidates) {
        Settings all = overrides;
        all.insert(all.end(), candidate.settings.begin(), candidate.settings.end());
        jobs.push_back({text, file, all});
    }
    const std::vector<Simulated> simulated = simulate_all(jobs, options.jobs);
    constexpr double kSaturated = 1.01;  // a longer block gains less than that
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        result.shorter.push_back(trial_of(candidates[i], simulated[i]));
        const bool as_fast =
            simulated[i].good() && result.shorter[i].time_ns <= kSaturated * winner.time_ns;
        if (as_fast && !result.saturated) {
            result.saturated = i;
        }
    }
}

}  // namespace

TuneResult tune(const Scenario& scenario, const std::string& text, const std::string& file,
                const Settings& overrides, const TuneOptions& options) {
    if (stream_fed(scenario.device)) {
        throw ConfigError(
            "tune: searches output_stationary mappings; without one gotoblas takes the largest "
            "blocks that fit, others are swept (configs/sweeps/vck190_*.yaml)");
    }
    const TuneSpace space = tune_space(scenario);
    TuneResult result;
    result.legal = space.legal;
    result.candidates = static_cast<std::int64_t>(space.candidates.size());
    constexpr double kNanosecondsPerSecond = 1e9;
    Search search(space.candidates,
                  scenario.device.memory.peak_bytes_per_second() / kNanosecondsPerSecond);
    result.trials = run_trials(search, text, file, overrides, options);
    result.cut = search.cut();
    result.left = search.left();
    std::stable_sort(
        result.trials.begin(), result.trials.end(), [](const Trial& a, const Trial& b) {
            return std::pair{a.status != "ok", a.time_ns} < std::pair{b.status != "ok", b.time_ns};
        });
    if (result.trials.empty() || result.trials[0].status != "ok") {
        throw ConfigError("tune: no mapping could be simulated: " +
                          (result.trials.empty() ? "interrupted" : result.trials[0].error));
    }
    if (result.trials[0].candidate.output_stationary) {
        find_saturation(result, scenario, text, file, overrides, options);
    }
    return result;
}

}  // namespace tilesim::sim::explore
