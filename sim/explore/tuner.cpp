#include "sim/explore/tuner.hpp"

#include <algorithm>
#include <tuple>

#include "arch/base/config.hpp"
#include "sim/explore/batch.hpp"
#include "sim/explore/interrupt.hpp"
#include "sim/explore/progress.hpp"
#include "sim/explore/simulate.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;

namespace {

constexpr std::chrono::milliseconds kPatience{200};
// By how much an excerpt may misjudge the whole product.
constexpr double kEstimate = 1.03;
constexpr std::size_t kMostWhole = 6;

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
                return most_ns_ > 0 && candidate.bounds.tightest_ns() >= most_ns_;
            }));
        const auto best =
            std::min_element(open_.begin(), open_.end(), [this](const auto& a, const auto& b) {
                return expected_ns(a, bytes_per_ns_) < expected_ns(b, bytes_per_ns_);
            });
        if (best == open_.end() ||
            (most_seen_ > 0 && expected_ns(*best, bytes_per_ns_) >= most_ns_)) {
            return std::nullopt;
        }
        const TuneCandidate candidate = *best;
        open_.erase(best);
        return candidate;
    }

    // A time beyond the compute and stream bounds shows what DRAM delivers to such mappings.
    void learn(const Trial& trial) {
        const double most = trial.time_ns * (trial.estimated ? kEstimate : 1.0);
        most_ns_ = most_ns_ > 0 ? std::min(most_ns_, most) : most;
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
    double most_ns_ = 0;  // the best mapping takes at most this
    std::int64_t cut_ = 0;
};

// What a simulation of an excerpt, or of the whole, says of a candidate.
Trial trial_of(const TuneCandidate& candidate, const Simulated& simulated, const workloads::Excerpt& excerpt) {
    Trial trial;
    trial.candidate = candidate;
    trial.status = simulated.status;
    trial.error = simulated.error;
    if (simulated.good()) {
        trial.estimate_ns = excerpt.whole_ns(simulated.result["time_ns"]);
        trial.time_ns = trial.estimate_ns;
        trial.tops = simulated.result["tops"];
        trial.bottleneck = simulated.result["bottleneck"];
        trial.estimated = !excerpt.whole();
    }
    return trial;
}

Settings settings_of(const Settings& overrides, const TuneCandidate& candidate,
                     const workloads::Excerpt& excerpt) {
    Settings all = overrides;
    const Settings chosen = candidate.settings();
    all.insert(all.end(), chosen.begin(), chosen.end());
    all.insert(all.end(), excerpt.settings.begin(), excerpt.settings.end());
    return all;
}

// Simulates candidates, several at a time, until the search has none left.
std::vector<Trial> run_trials(Search& search, const Scenario& scenario, const Job& base,
                              const TuneOptions& options) {
    std::vector<Trial> trials;
    std::vector<TuneCandidate> started;
    std::vector<workloads::Excerpt> excerpts;
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
            excerpts.push_back(candidate->excerpt(scenario));
            pool.start(started.size(), {}, [&] {
                return simulate(base.text, base.file,
                                settings_of(base.overrides, *candidate, excerpts.back()));
            });
            started.push_back(*candidate);
        }
    };
    for (fill(); !pool.idle() && !interrupt.insisted(); fill()) {
        for (const WorkerReport& report : pool.wait(kPatience)) {
            trials.push_back(trial_of(started[report.id], simulated(report), excerpts[report.id]));
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

void sort(std::vector<Trial>& trials) {
    std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
        return std::tuple{a.status != "ok", a.estimated, a.time_ns} <
               std::tuple{b.status != "ok", b.estimated, b.time_ns};
    });
}

// Tries candidates side by side, on excerpts or whole.
std::vector<Trial> try_all(const std::vector<TuneCandidate>& candidates,
                           const std::vector<workloads::Excerpt>& excerpts, const Job& base,
                           std::size_t processes) {
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        jobs.push_back(
            {base.text, base.file, settings_of(base.overrides, candidates[i], excerpts[i])});
    }
    const std::vector<Simulated> simulated = simulate_all(jobs, processes);
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        trials.push_back(trial_of(candidates[i], simulated[i], excerpts[i]));
    }
    return trials;
}

void simulate_whole(const std::vector<Trial*>& trials, const Job& base, std::size_t processes) {
    std::vector<TuneCandidate> candidates;
    for (const Trial* trial : trials) {
        candidates.push_back(trial->candidate);
    }
    const std::vector<Trial> whole =
        try_all(candidates, std::vector<workloads::Excerpt>(candidates.size()), base, processes);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const double estimate = trials[i]->estimate_ns;
        *trials[i] = whole[i];
        trials[i]->estimate_ns = estimate;
    }
}

// The estimated trials that may be the best.
void simulate_best_whole(std::vector<Trial>& trials, const Job& base, std::size_t processes) {
    sort(trials);
    std::vector<Trial*> best;
    for (Trial& trial : trials) {
        if (trial.status == "ok" && trial.estimated && best.size() < kMostWhole &&
            trial.time_ns <= kEstimate * trials[0].time_ns) {
            best.push_back(&trial);
        }
    }
    simulate_whole(best, base, processes);
    sort(trials);
}

// A shorter block of the winner's tile may be faster than the winner: which run lengths DRAM's rows
// and refresh favour no bound knows.
void promote_faster_block(TuneResult& result, const Job& base, std::size_t processes) {
    const auto fastest = std::min_element(result.shorter.begin(), result.shorter.end(),
                                          [](const Trial& a, const Trial& b) {
                                              return std::pair{a.status != "ok", a.estimate_ns} <
                                                     std::pair{b.status != "ok", b.estimate_ns};
                                          });
    if (fastest == result.shorter.end() || fastest->status != "ok" ||
        fastest->estimate_ns >= result.trials[0].estimate_ns) {
        return;
    }
    if (fastest->estimated) {
        simulate_whole({&*fastest}, base, processes);
    }
    if (fastest->status == "ok" && fastest->time_ns < result.trials[0].time_ns) {
        result.trials.insert(result.trials.begin(), *fastest);
        result.shorter.erase(fastest, result.shorter.end());
    }
}

// The smallest block along K at which the throughput of the winner's tile saturates: smaller
// blocks leave memory tiles room, and DRAM's runs need be no longer than they help.
void find_saturation(TuneResult& result, const Scenario& scenario, const Job& base,
                     std::size_t processes) {
    const auto candidates = reduced(scenario, result.trials[0].candidate);
    if (candidates.empty()) {
        return;
    }
    std::vector<workloads::Excerpt> excerpts;
    for (const TuneCandidate& candidate : candidates) {
        excerpts.push_back(candidate.excerpt(scenario));
    }
    result.shorter = try_all(candidates, excerpts, base, processes);
    promote_faster_block(result, base, processes);
    const Trial& winner = result.trials[0];
    constexpr double kSaturated = 1.01;  // a longer block gains less than that
    for (std::size_t i = 0; i < result.shorter.size() && !result.saturated; ++i) {
        Trial& trial = result.shorter[i];
        if (trial.status != "ok" || trial.estimate_ns > kSaturated * winner.estimate_ns) {
            continue;
        }
        if (trial.estimated) {
            simulate_whole({&trial}, base, processes);
        }
        if (trial.status == "ok" && trial.time_ns <= kSaturated * winner.time_ns) {
            result.saturated = i;
        }
    }
}

}  // namespace

TuneResult tune(const Scenario& scenario, const std::string& text, const std::string& file,
                const Settings& overrides, const TuneOptions& options) {
    const TuneSpace space = tune_space(scenario);
    TuneResult result;
    result.legal = space.legal;
    result.candidates = static_cast<std::int64_t>(space.candidates.size());
    constexpr double kNanosecondsPerSecond = 1e9;
    Search search(space.candidates,
                  scenario.device.memory.peak_bytes_per_second() / kNanosecondsPerSecond);
    const Job base{text, file, overrides};
    result.trials = run_trials(search, scenario, base, options);
    result.cut = search.cut();
    result.left = search.left();
    simulate_best_whole(result.trials, base, options.jobs);
    if (result.trials.empty() || result.trials[0].status != "ok") {
        throw ConfigError("tune: no mapping could be simulated: " +
                          (result.trials.empty() ? "interrupted" : result.trials[0].error));
    }
    find_saturation(result, scenario, base, options.jobs);
    return result;
}

}  // namespace tilesim::sim::explore
