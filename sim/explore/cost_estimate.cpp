#include "sim/explore/cost_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/explore/cost_law.hpp"
#include "sim/explore/model_version.hpp"
#include "sim/explore/outlook.hpp"
#include "sim/explore/simulate.hpp"
#include "sim/explore/stored_point.hpp"

namespace tilesim::sim::explore {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostLookedAt = 200;
constexpr milliseconds kMostTried{8000};
// One trial gets no more than this of what is left: others shall follow it.
constexpr double kShareOfPatience = 0.6;
constexpr milliseconds kNotWorthIt{200};
constexpr milliseconds kLook{100};
// A kind of which nothing has ended yet gets more.
constexpr milliseconds kMostForTheFirst{20'000};
// Points so short, or of such rounds, are simulated whole: what a few rounds take says little.
constexpr double kShortWhole_s = 0.5;
constexpr double kShortBasis_s = 0.02;
// More of a kind do not change what is tried next.
constexpr std::size_t kMostWeighed = 40;
// A point that was stopped takes at least so many times as long as it had, where nothing says more.
constexpr double kStopped = 2;

// Host time of the rounds that were simulated.
double basis_s(const Json& sampled) {
    const double simulated = sampled.value("simulated", 1.0);
    return sampled.value("whole_wall_s", 0.0) * simulated /
           (sampled.value("rounds", simulated) - simulated);
}

class Mean {
  public:
    void add(std::chrono::duration<double> time) {
        sum_ += time.count();
        ++count_;
    }
    double mean_s() const { return sum_ / std::max(1, count_); }

  private:
    double sum_ = 0;
    int count_ = 0;
};

// Tries points until the patience is over: the smallest of each kind, then always the one that
// promises to tell most.
class Trials {
  public:
    Trials(const SweepFile& sweep, std::vector<Outlook>& list, std::size_t processes)
        : sweep_(sweep),
          list_(list),
          pool_(processes, sweep.limits, simulations_of(sweep.base_text, sweep.base_file)) {
        for (const Outlook& at : list) {
            kinds_[at.kind];
        }
    }

    void run() {
        const auto fill = [&] {
            while (!pool_.full() && start_next()) {
            }
        };
        for (fill(); !pool_.idle(); fill()) {
            for (const WorkerReport& report : pool_.wait(kLook)) {
                note(report);
            }
        }
        for (const std::size_t i : again_) {
            Outlook& at = list_[i];
            Kind& kind = kinds_.at(at.kind);
            if (kind.law.empty()) {
                add(kind, at, *at.wall_s);
            }
            at.wall_s.reset();  // others that were simulated whole say more
        }
        for (auto& [name, kind] : kinds_) {
            kind.learn(kind.tried.size());
        }
    }

    std::size_t ended() const { return ended_; }
    double bytes() const { return ended_ > 0 ? bytes_ / static_cast<double>(ended_) : 0; }
    // What this process does for a point: it starts its own, and takes and keeps its result.
    double beside_s() const { return started_.mean_s() + taken_.mean_s(); }

    // Of a point; nothing where none of its kind has ended.
    std::optional<double> expected(const Outlook& at) const {
        if (at.wall_s) {
            return at.wall_s;
        }
        const Kind& kind = kinds_.at(at.kind);
        const auto good = static_cast<double>(kind.tried.size());
        if (kind.law.empty() && kind.refused == 0) {
            return std::nullopt;
        }
        const double share = kind.refused / std::max(1.0, good + kind.refused);
        const double wall_s = kind.law.empty() ? 0 : kind.law.at(at.features).wall_s;
        return std::max(at.stopped_s, (1 - share) * wall_s + share * kind.refused_s);
    }

  private:
    struct Kind {
        std::vector<TriedPoint> tried, stopped;
        CostLaw law{{}};
        bool begun = false, ended = false;  // of its points, the first
        double spent_s = 0;                 // on what came after its first
        double refused = 0;                 // could not be built after all
        double refused_s = 0;               // mean of these
        double sampled_share = 1;           // of a whole run's time, that a few of its rounds take
        double sampled_whole_s = 0;         // of the run that says so

        void learn(std::size_t most) {
            std::vector<TriedPoint> all(
                tried.begin(),
                tried.begin() + static_cast<std::ptrdiff_t>(std::min(most, tried.size())));
            const CostLaw known(all);
            for (const TriedPoint& each : stopped) {
                if (known.empty() || known.at(each.features).wall_s < kStopped * each.wall_s) {
                    all.push_back({each.features, kStopped * each.wall_s});
                }
            }
            law = CostLaw(std::move(all));
        }
    };

    milliseconds left(milliseconds patience) const {
        const auto gone = std::chrono::duration_cast<milliseconds>(Clock::now() - began_);
        return std::max(patience - gone, kNotWorthIt);
    }

    bool start_next() {
        for (auto& [name, kind] : kinds_) {
            if (!kind.begun) {
                kind.begun = true;
                start(smallest(name), left(kMostForTheFirst), true);
                return true;
            }
        }
        if (firsts_ == kinds_.size() && !others_) {
            others_ = true;
            began_ = Clock::now();
        }
        const milliseconds rest = left(kMostTried);
        if (rest <= kNotWorthIt) {
            return false;
        }
        const auto patience = std::chrono::duration_cast<milliseconds>(kShareOfPatience * rest);
        if (!again_.empty()) {
            const std::size_t next = again_.back();
            again_.pop_back();
            start(next, patience, false);
            return true;
        }
        const auto next = most_telling(std::chrono::duration<double>(patience).count());
        if (next) {
            const Outlook& at = list_[*next];
            const double expected_s = kinds_.at(at.kind).law.at(at.features).wall_s;
            start(*next, patience, expected_s >= kShortWhole_s);
        }
        return next.has_value();
    }

    std::size_t smallest(const std::string& kind) const {
        std::optional<std::size_t> least;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            if (list_[i].kind == kind &&
                (!least || list_[i].features.work < list_[*least].features.work)) {
                least = i;
            }
        }
        return *least;
    }

    // Of the kind that had the least time: of those that almost surely end in time, the one whose
    // cost is known least, in seconds; where there is none, the one most likely to end.
    std::optional<std::size_t> most_telling(double patience_s) const {
        std::optional<std::size_t> best;
        std::tuple<double, bool, double> most;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            const Kind& kind = kinds_.at(list_[i].kind);
            if (list_[i].state != Outlook::State::Open || kind.law.empty()) {
                continue;
            }
            const auto [wall_s, log_error] = kind.law.at(list_[i].features);
            const double spare = std::log(patience_s / (wall_s * kind.sampled_share)) / log_error;
            const std::tuple told{-kind.spent_s, spare >= 1,
                                  spare >= 1 ? wall_s * log_error : spare};
            if (!best || told > most) {
                most = told;
                best = i;
            }
        }
        return best;
    }

    void start(std::size_t next, milliseconds patience, bool short_way) {
        Outlook& at = list_[next];
        at.state = Outlook::State::Running;
        Settings settings = overrides_of(sweep_, *at.point);
        if (short_way && at.has_rounds && !at.sampled) {
            settings.emplace_back("run.sampled", "on");
        }
        const auto began = Clock::now();
        pool_.start(next, task_of(settings), std::min(sweep_.limits.time, patience));
        started_.add(Clock::now() - began);
    }

    void note(const WorkerReport& report) {
        Outlook& at = list_[report.id];
        at.state = Outlook::State::Done;
        Kind& kind = kinds_.at(at.kind);
        firsts_ += kind.ended ? 0 : 1;
        kind.spent_s += kind.ended ? report.wall_s : 0;
        kind.ended = true;
        if (report.end == WorkerReport::End::OutOfTime && at.wall_s) {
            add(kind, at, *at.wall_s);  // judged by a few rounds before
            return;
        }
        if (report.end == WorkerReport::End::OutOfTime && report.wall_s < limit_s()) {
            at.stopped_s = report.wall_s;
            kind.stopped.push_back({at.features, report.wall_s});
            kind.learn(kMostWeighed);
            return;
        }
        const auto began = Clock::now();
        const Simulated run = simulated(report);
        stored_point(sweep_, *at.point, run, model_version());
        taken_.add(Clock::now() - began);
        bytes_ += at.wall_s ? 0 : static_cast<double>(report.text.size());
        ended_ += at.wall_s ? 0 : 1;
        if (run.status == "invalid") {
            at.wall_s = run.wall_s;
            kind.refused_s += (run.wall_s - kind.refused_s) / ++kind.refused;
            return;
        }
        const Json part = run.result.value("sampled", Json::object());
        const double rest = at.sampled ? 0 : part.value("whole_wall_s", 0.0);
        const double whole = run.wall_s + rest;
        at.wall_s = whole;
        if (rest > 0 && (whole < kShortWhole_s || basis_s(part) < kShortBasis_s)) {
            again_.push_back(report.id);
            return;
        }
        if (whole > kind.sampled_whole_s) {
            kind.sampled_share = run.wall_s / whole;
            kind.sampled_whole_s = whole;
        }
        add(kind, at, whole);
    }

    void add(Kind& kind, const Outlook& at, double wall_s) {
        kind.tried.push_back({at.features, wall_s});
        if (kind.tried.size() <= kMostWeighed) {
            kind.learn(kMostWeighed);
        }
    }

    double limit_s() const { return std::chrono::duration<double>(sweep_.limits.time).count(); }

    const SweepFile& sweep_;
    std::vector<Outlook>& list_;
    WorkerPool pool_;
    // Each kind's first ones; then anew.
    Clock::time_point began_ = Clock::now();
    bool others_ = false;
    std::size_t firsts_ = 0;  // that have ended
    std::map<std::string, Kind> kinds_;
    std::vector<std::size_t> again_;  // to be simulated whole
    std::size_t ended_ = 0;
    double bytes_ = 0;
    Mean started_, taken_;
};

// What every point costs beside its simulation: its hash.
double hash_s(const SweepFile& sweep, const std::vector<Point>& points) {
    constexpr std::size_t kEnough = 20;
    const std::size_t count = std::min(kEnough, points.size());
    const auto began = Clock::now();
    PointHasher hasher(sweep);
    for (std::size_t i = 0; i < count; ++i) {
        hasher.hash(points[i]);
    }
    const std::chrono::duration<double> took = Clock::now() - began;
    return count > 0 ? took.count() / static_cast<double>(count) : 0;
}

}  // namespace

CostEstimate estimate_cost(const SweepFile& sweep, std::size_t processes) {
    const std::vector<Point> points = some_points(sweep, kMostLookedAt);
    std::vector<Outlook> list = outlooks(sweep, points);
    Trials trials(sweep, list, processes);
    trials.run();
    const double limit_s = std::chrono::duration<double>(sweep.limits.time).count();
    double sum = 0;
    std::size_t unknown = 0;
    for (const Outlook& at : list) {
        const std::optional<double> wall = trials.expected(at);
        sum += std::min(wall.value_or(0), limit_s);
        unknown += wall ? 0 : 1;
    }
    const double each = sum / static_cast<double>(std::max<std::size_t>(1, points.size()));
    // All processes share the work, but no point is over sooner than this one has done its part.
    const double beside_s = trials.beside_s();
    const auto at_a_time = static_cast<double>(processes);
    return {std::max(each + beside_s, at_a_time * beside_s) + at_a_time * hash_s(sweep, points),
            trials.bytes(),
            fmt::format("from {} of {} points tried{}", trials.ended(), points.size(),
                        unknown > 0 || (trials.ended() == 0 && !list.empty())
                            ? "; at least: none of some kind has ended"
                            : "")};
}

}  // namespace tilesim::sim::explore
