#include "sim/explore/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "sim/explore/command_line.hpp"
#include "sim/explore/interrupt.hpp"
#include "sim/explore/progress.hpp"
#include "workloads/candidate_search.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;

namespace {

using HostClock = std::chrono::steady_clock;

constexpr std::size_t kMostWhole = 6;
using arch::base::kPercent;
// Of the time, until the best are simulated whole and their other keys are tried.
constexpr double kSearchShare = 0.6;
constexpr double kVariantShare = 0.8;

Settings with(const Job& base, const TuneCandidate& candidate) {
    Settings all = base.overrides;
    std::erase_if(all, [](const auto& setting) { return setting.first.starts_with("mapping"); });
    const Settings chosen = candidate.settings();
    all.insert(all.end(), chosen.begin(), chosen.end());
    return all;
}

// As its run has them: those of one trial are then comparable with another's, and a mapping between
// those of the search has no others.
void take_bounds(const Simulated& run, workloads::GemmBounds& bounds) {
    const auto& stored = run.result["bounds"];
    if (!stored.empty()) {
        bounds.compute_ns = stored["compute_ns"];
        bounds.stream_ns = stored["stream_ns"];
        bounds.memory_ns = stored["memory_ns"];
        bounds.dram_bytes = stored["dram_bytes"];
    }
}

Trial trial_of(const TuneCandidate& candidate, const Simulated& simulated) {
    Trial trial;
    trial.candidate = candidate;
    trial.status = simulated.status;
    trial.error = simulated.error;
    if (simulated.good()) {
        const auto& result = simulated.result;
        trial.time_ns = result["time_ns"];
        trial.host_s = result["wall_s"];
        trial.tops = result["tops"];
        trial.bottleneck = result["bottleneck"];
        trial.sampled = result.contains("sampled");
        take_bounds(simulated, trial.candidate.bounds);
        trial.error_percent = trial.sampled ? result["sampled"]["error_percent"].get<double>() : 0;
    }
    return trial;
}

void sort(std::vector<Trial>& trials) {
    std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
        return std::tuple{!a.good(), a.sampled, a.time_ns} <
               std::tuple{!b.good(), b.sampled, b.time_ns};
    });
}

class Tuner {
  public:
    Tuner(const Job& base, const TuneOptions& options)
        : base_(base),
          options_(options),
          scenario_(parse_scenario(base.text, base.file, base.overrides)),
          space_(tune_space(scenario_)),
          progress_(options.simulations, options.quiet, "mappings"),
          began_(HostClock::now()) {}

    TuneResult run() {
        try_first();
        began_ = HostClock::now();
        search();
        improve();
        simulate_best_whole();
        sort(result_.trials);
        result_.mappings = static_cast<std::int64_t>(space_.size());
        result_.ruled_out = search_->ruled_out();
        result_.left = search_->open();
        result_.spread = options_.spread > 0;
        result_.least_bound_ns = search_->least_bound_ns();
        result_.interrupted = interrupt_.requested();
        if (result_.trials.empty() || !result_.trials[0].good()) {
            throw ConfigError("tune: no mapping could be simulated: " +
                              (result_.trials.empty() ? "interrupted" : result_.trials[0].error));
        }
        find_saturation();
        weigh();
        progress_.finish();
        result_.command = run_command(base_.file, with(base_, result_.winner().candidate));
        const workloads::Mapping& best = result_.winner().candidate.mapping;
        result_.reservation = best.dataflow().reservation(scenario_, best);
        return std::move(result_);
    }

  private:
    bool late(double share) const {
        const double gone = std::chrono::duration<double>(HostClock::now() - began_).count();
        return interrupt_.requested() || (!options_.all && gone >= share * options_.seconds);
    }
    bool enough() const {
        return options_.simulations > 0 &&
               static_cast<std::int64_t>(result_.trials.size()) >= options_.simulations;
    }

    // Whole, and so the best time known is one that was simulated.
    double best_ns() const {
        double best = 0;
        for (const Trial& trial : result_.trials) {
            if (trial.good() && !trial.sampled && (best == 0 || trial.time_ns < best)) {
                best = trial.time_ns;
            }
        }
        return best;
    }

    // What a plain run takes, and what the scenario names.
    void try_first() {
        std::vector<Job> jobs{base_};
        // Measured kernel cycles belong to the mapping they were measured with.
        if (!scenario_.mapping.empty() &&
            !scenario_.mapping.dataflow().describe(scenario_.mapping).contains("kernel_cycles")) {
            jobs.push_back(without_mapping(base_));
        }
        const std::vector<Simulated> runs = simulate_all(jobs, options_.jobs);
        double best = 0;
        for (const Simulated& run : runs) {
            const double time = run.good() ? run.result["time_ns"].get<double>() : 0;
            best = time > 0 && (best == 0 || time < best) ? time : best;
        }
        std::vector<const workloads::Candidate*> candidates;
        for (const TuneCandidate& each : space_) {
            candidates.push_back(&each);
        }
        search_.emplace(candidates, options_.all ? 0 : best);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (runs[i].good()) {
                add_first(runs[i], i == 0 && !scenario_.mapping.empty() ? "given" : "default");
            }
        }
    }

    void add_first(const Simulated& run, const char* origin) {
        const std::string mapping = run.result["mapping"].dump();
        if (!seen_.insert(mapping).second) {
            return;
        }
        Settings settings = base_.overrides;
        settings.emplace_back("mapping", mapping);
        TuneCandidate candidate;
        candidate.name = origin;
        candidate.mapping = parse_scenario(base_.text, base_.file, settings).mapping;
        for (std::size_t i = 0; i < space_.size(); ++i) {
            if (search_->is_open(i) && space_[i].described().dump() == mapping) {
                candidate = space_[i];
                search_->take(i);
                search_->learn(i, run.result["time_ns"]);
            }
        }
        Trial trial = trial_of(candidate, run);
        trial.origin = origin;
        result_.trials.push_back(std::move(trial));
    }

    // Sampled where that is allowed, and not further than it takes to see that it is slower.
    Settings trial_settings(const TuneCandidate& candidate) const {
        Settings settings = with(base_, candidate);
        if (!options_.exact && !options_.all) {
            settings.emplace_back("run.sampled", "on");
        }
        const double longest_ns = slower_ns();
        const double allowed_ns = arch::base::ns_of(scenario_.run.max_time);
        if (longest_ns > 0 && longest_ns < allowed_ns) {
            settings.emplace_back("run.max_time", fmt::format("{:.0f} ns", longest_ns));
        }
        return settings;
    }

    // What takes as long is no rival, even where it is extrapolated; 0: not known yet.
    double slower_ns() const {
        constexpr double kClearly = 1.3;
        return std::ceil(kClearly * best_ns());
    }

    // A run stopped because it is slower than the best is an answer, too.
    void learn(std::size_t index, const Trial& trial) {
        if (trial.good()) {
            const double bound_ns = space_[index].bound_ns();
            SIM_CHECK(trial.sampled || trial.time_ns >= bound_ns,
                      "{} takes {} ns, less than what bounds it ({} ns)", trial.candidate.name,
                      trial.time_ns, bound_ns);
            search_->learn(index, trial.time_ns);
        } else if (trial.slower()) {
            search_->learn_at_least(index, slower_ns());
        }
    }

    void search() {
        std::vector<std::size_t> started;
        WorkerPool pool(options_.jobs, {}, simulations_of(base_.text, base_.file));
        const double best = options_.all ? 0 : best_ns();
        const auto fill = [&] {
            while (!pool.full() && !late(kSearchShare) && !enough_with(started.size())) {
                const auto index = options_.spread > 0 ? next_spread() : search_->next(best);
                if (!index) {
                    return;
                }
                pool.start(started.size(), task_of(trial_settings(space_[*index])));
                started.push_back(*index);
                seen_.insert(space_[*index].described().dump());
            }
        };
        for (fill(); !pool.idle() && !interrupt_.insisted(); fill()) {
            for (const WorkerReport& report : pool.wait()) {
                const std::size_t index = started[report.id];
                Trial trial = trial_of(space_[index], simulated(report));
                learn(index, trial);
                progress_.advance(trial.answered());
                result_.trials.push_back(std::move(trial));
            }
            progress_.show();
        }
    }

    // Of so many mappings evenly spread over all the next that has not been tried.
    std::optional<std::size_t> next_spread() {
        const auto steps = static_cast<std::size_t>(options_.spread);
        while (spread_at_ < steps) {
            const std::size_t index = spread_at_++ * space_.size() / steps;
            if (search_->is_open(index)) {
                search_->take(index);
                return index;
            }
        }
        return std::nullopt;
    }

    bool enough_with(std::size_t started) const {
        return options_.simulations > 0 &&
               static_cast<std::int64_t>(started) >= options_.simulations;
    }

    // The best of each dataflow with one of its other keys changed, as long as that helps: a
    // dataflow's best may have more to gain than the best of all. What is extrapolated may come
    // out slower, so the best simulated whole has its turn beside it.
    void improve() {
        for (bool better = true; better && !late(kVariantShare) && !enough();) {
            std::vector<TuneCandidate> tried;
            for (const Trial* best : fastest_of_each()) {
                for (TuneCandidate& variant : variants(scenario_, best->candidate)) {
                    if (seen_.insert(variant.described().dump()).second) {
                        tried.push_back(std::move(variant));
                    }
                }
            }
            try_all(tried);
            better = !tried.empty();
        }
    }

    std::vector<const Trial*> fastest_of_each() const {
        std::map<std::pair<std::string_view, bool>, const Trial*> best;
        for (const Trial& trial : result_.trials) {
            if (trial.good()) {
                const Trial*& fastest =
                    best[{trial.candidate.mapping.dataflow().name(), trial.sampled}];
                if (fastest == nullptr || trial.time_ns < fastest->time_ns) {
                    fastest = &trial;
                }
            }
        }
        std::vector<const Trial*> list;
        for (const auto& [kind, trial] : best) {
            list.push_back(trial);
        }
        return list;
    }

    std::vector<Trial> trials_of(const std::vector<TuneCandidate>& candidates, bool whole) {
        std::vector<Job> jobs;
        for (const TuneCandidate& each : candidates) {
            jobs.push_back(
                {base_.text, base_.file, whole ? with(base_, each) : trial_settings(each)});
        }
        const std::vector<Simulated> runs = simulate_all(jobs, options_.jobs);
        std::vector<Trial> trials;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            trials.push_back(trial_of(candidates[i], runs[i]));
            progress_.advance(trials.back().answered());
        }
        progress_.show();
        return trials;
    }

    // A few at a time: the time may be up.
    void try_all(const std::vector<TuneCandidate>& candidates) {
        const std::size_t few = 4 * options_.jobs;
        for (std::size_t i = 0; i < candidates.size() && !late(kVariantShare) && !enough();
             i += few) {
            const auto begin = candidates.begin() + static_cast<std::ptrdiff_t>(i);
            const auto end = candidates.begin() +
                             static_cast<std::ptrdiff_t>(std::min(i + few, candidates.size()));
            for (Trial& trial : trials_of({begin, end}, false)) {
                result_.trials.push_back(std::move(trial));
            }
        }
    }

    // The sampled ones that may be the best, the most promising first.
    void simulate_best_whole() {
        for (std::size_t whole = 0; whole < kMostWhole;) {
            std::vector<Trial*> next;
            const double best = best_ns();
            for (Trial& trial : result_.trials) {
                if (trial.good() && trial.sampled &&
                    (best == 0 || trial.time_ns * (1 - trial.error_percent / kPercent) < best)) {
                    next.push_back(&trial);
                }
            }
            std::sort(next.begin(), next.end(),
                      [](const Trial* a, const Trial* b) { return a->time_ns < b->time_ns; });
            next.resize(std::min({next.size(), options_.jobs, kMostWhole - whole}));
            if (next.empty() || (whole > 0 && late(1))) {
                return;
            }
            std::vector<TuneCandidate> candidates;
            for (const Trial* trial : next) {
                candidates.push_back(trial->candidate);
            }
            const std::vector<Trial> done = trials_of(candidates, true);
            for (std::size_t i = 0; i < next.size(); ++i) {
                *next[i] = done[i];
            }
            whole += next.size();
        }
    }

    // The smallest block at which the throughput of the winner's tile saturates: smaller blocks
    // leave memory tiles room, and DRAM's runs need be no longer than they help.
    void find_saturation() {
        const std::vector<TuneCandidate> candidates =
            reduced(scenario_, result_.winner().candidate);
        if (candidates.empty() || late(1)) {
            return;
        }
        result_.shorter = trials_of(candidates, false);
        constexpr double kSaturated = 1.01;  // a longer block gains less than that
        const double winner = result_.winner().time_ns;
        for (std::size_t i = 0; i < result_.shorter.size() && !result_.saturated; ++i) {
            Trial& trial = result_.shorter[i];
            if (trial.good() && trial.sampled && trial.time_ns <= kSaturated * winner) {
                trial = trials_of({trial.candidate}, true)[0];
            }
            if (trial.good() && trial.time_ns <= kSaturated * winner) {
                result_.saturated = i;
            }
        }
    }

    // Who else might be chosen: the default, what the scenario names, the next best.
    std::vector<std::pair<std::string, const Trial*>> rivals() const {
        std::vector<std::pair<std::string, const Trial*>> list;
        const auto add = [&](const char* name, const Trial* trial) {
            const auto listed = [trial](const auto& rival) { return rival.second == trial; };
            if (trial != nullptr && trial != &result_.winner() && trial->good() &&
                !trial->sampled && std::none_of(list.begin(), list.end(), listed)) {
                list.emplace_back(name, trial);
            }
        };
        add("default", result_.of_origin("default"));
        add("given", result_.of_origin("given"));
        add("next best", result_.trials.size() > 1 ? &result_.trials[1] : nullptr);
        return list;
    }

    Settings shifted(const TuneCandidate& candidate, double share) const {
        constexpr const char* kShift = "device.memory.controller.refresh_shift";
        const auto& memory = scenario_.device.memory;
        const std::int64_t interval = memory.timing.tREFI.count();
        const auto shift = static_cast<std::int64_t>(share * static_cast<double>(interval));
        Settings settings = with(base_, candidate);
        std::erase_if(settings, [](const auto& setting) { return setting.first == kShift; });
        settings.emplace_back(
            kShift,
            fmt::format("{} cycle", (memory.controller.refresh_shift.count() + shift) % interval));
        return settings;
    }

    // A run meets refreshes at some moment, and short ones from DRAM may be a few percent faster
    // for it: what is left of the winner's advantage over those that are about as fast, at others.
    void weigh() {
        // Of an interval, and no multiple of one that banks have for themselves.
        constexpr double kMoments[] = {0.236, 0.618, 0.854};
        constexpr double kAboutAsFast = 1.1;
        const Trial& winner = result_.winner();
        std::vector<const Trial*> close{&winner};
        std::vector<std::size_t> weighed;
        double host_s = winner.host_s;
        for (const auto& [over, trial] : rivals()) {
            if (trial->time_ns <= kAboutAsFast * winner.time_ns) {
                weighed.push_back(result_.advantages.size());
                close.push_back(trial);
                host_s += trial->host_s;
            }
            result_.advantages.push_back({over, trial->candidate.name,
                                          advantage_percent(winner.time_ns, trial->time_ns),
                                          std::nullopt});
        }
        const double takes_s = host_s * std::size(kMoments) / static_cast<double>(options_.jobs);
        if (weighed.empty() || !scenario_.device.memory.refresh ||
            late(1 - takes_s / options_.seconds)) {
            return;
        }
        std::vector<Job> jobs;
        for (const double share : kMoments) {
            for (const Trial* trial : close) {
                jobs.push_back({base_.text, base_.file, shifted(trial->candidate, share)});
            }
        }
        const std::vector<Simulated> runs = simulate_all(jobs, options_.jobs);
        for (std::size_t first = 0; first < runs.size(); first += close.size()) {
            for (std::size_t i = 1; i < close.size(); ++i) {
                widen(result_.advantages[weighed[i - 1]], runs[first], runs[first + i]);
            }
        }
    }

    static double advantage_percent(double winner_ns, double rival_ns) {
        return kPercent * (1 - winner_ns / rival_ns);
    }

    static void widen(Advantage& advantage, const Simulated& winner, const Simulated& rival) {
        if (!winner.good() || !rival.good()) {
            return;
        }
        const double percent = advantage_percent(winner.result["time_ns"], rival.result["time_ns"]);
        const auto [least, most] = advantage.otherwise.value_or(std::pair{percent, percent});
        advantage.otherwise = {std::min(least, percent), std::max(most, percent)};
    }

    const Job& base_;
    const TuneOptions& options_;
    Scenario scenario_;
    std::vector<TuneCandidate> space_;
    std::optional<workloads::CandidateSearch> search_;  // when the first times are known
    Progress progress_;
    HostClock::time_point began_;
    InterruptGuard interrupt_;
    std::size_t spread_at_ = 0;
    std::set<std::string> seen_;  // mappings tried beside the search
    TuneResult result_;
};

}  // namespace

const Trial* TuneResult::of_origin(const std::string& origin) const {
    const auto found = std::find_if(trials.begin(), trials.end(),
                                    [&](const Trial& trial) { return trial.origin == origin; });
    return found == trials.end() ? nullptr : &*found;
}

double TuneResult::most_percent_faster() const {
    double least = winner().time_ns;
    if (least_bound_ns) {
        least = std::min(least, *least_bound_ns);
    }
    for (const Trial& trial : trials) {
        // What is extrapolated, or failed, is proven by its bound alone.
        if (trial.sampled || (!trial.good() && !trial.slower() && trial.status != "invalid")) {
            least = std::min(least, trial.candidate.bound_ns());
        }
    }
    return least > 0 ? kPercent * (winner().time_ns / least - 1) : 0;
}

TuneResult tune(const Job& base, const TuneOptions& options) {
    return Tuner(base, options).run();
}

}  // namespace tilesim::sim::explore
