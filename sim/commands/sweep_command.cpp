// `tilesim sweep`: runs, plans, lists or hands to a batch system the points of a sweep file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "arch/base/config.hpp"
#include "sim/commands/commands.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/explore/array_job.hpp"
#include "sim/explore/cost_estimate.hpp"
#include "sim/explore/interrupt.hpp"
#include "sim/explore/model_version.hpp"
#include "sim/explore/simulate.hpp"
#include "sim/explore/sweep_runner.hpp"
#include "sim/session/session.hpp"

namespace tilesim::sim::commands {

using namespace explore;

using arch::base::config::ConfigError;

namespace {

struct SweepArguments {
    std::string file;
    std::string store;
    std::string shard = "1/1";
    std::string scheduler;  // "slurm" or "condor"
    SweepOptions options;
    ArrayJob job;
    bool dry_run = false;
    bool sampled = false;
    bool show = false;
};

Shard parse_shard(const std::string& text) {
    Shard shard;
    const char* const end = text.data() + text.size();
    const auto [slash, problem] = std::from_chars(text.data(), end, shard.index);
    bool good = problem == std::errc{} && slash != end && *slash == '/';
    if (good) {
        const auto [rest, wrong] = std::from_chars(slash + 1, end, shard.count);
        good = wrong == std::errc{} && rest == end;
    }
    if (!good || shard.count < 1 || shard.index < 1 || shard.index > shard.count) {
        throw ConfigError(fmt::format("--shard {}: must be i/n with 1 <= i <= n", text));
    }
    return shard;
}

std::string store_of(const SweepArguments& arguments, Shard shard) {
    if (!arguments.store.empty()) {
        return arguments.store;
    }
    return shard.count == 1 ? "results.db"
                            : fmt::format("results.shard-{}-of-{}.db", shard.index, shard.count);
}

int show(const SweepArguments& arguments) {
    const bool named = arguments.file.ends_with(".db");
    Store store(named ? arguments.file : store_of(arguments, {}), Store::Mode::Read);
    store.check();
    std::string text = fmt::format("{:>4} {:<28} {:<20} {:>9}  {}\n", "id", "sweep", "model",
                                   "finished", "status");
    for (const StoredSweep& sweep : store.sweeps()) {
        std::string states;
        for (const auto& [status, points] : sweep.by_status) {
            states += fmt::format("{}{} {}", states.empty() ? "" : ", ", points, status);
        }
        text += fmt::format("{:>4} {:<28} {:<20} {:>9}  {}\n", sweep.id, sweep.name, sweep.model,
                            fmt::format("{}/{}", sweep.finished, sweep.points), states);
    }
    print(text);
    return kFine;
}

// The mean of the store's points where it has some.
CostEstimate expected_cost(const SweepFile& sweep, const SweepArguments& arguments, Shard shard) {
    const std::string store = store_of(arguments, shard);
    std::error_code error;
    if (std::filesystem::exists(store, error)) {
        if (const auto cost = Store(store, Store::Mode::Read).mean_cost(sweep.name)) {
            return {cost->wall_s, cost->bytes, "mean of its points in the store"};
        }
    }
    return estimate_cost(sweep, arguments.options.jobs);
}

// For what is tried before a sweep.
constexpr std::chrono::seconds kPatience{30};

using Keys = std::vector<std::string>;

// Keys that one run of the sweep says could not matter to it, where it ends well.
std::optional<Keys> unfelt_by(const SweepFile& sweep, const Point& point) {
    Limits limits = sweep.limits;
    limits.time = std::min<std::chrono::milliseconds>(limits.time, kPatience);
    WorkerPool pool(1, limits, simulations_of(sweep.base_text, sweep.base_file));
    pool.start(0, task_of(overrides_of(sweep, point)));
    std::vector<WorkerReport> reports;
    while (reports.empty()) {
        reports = pool.wait(limits.time);
    }
    const nlohmann::ordered_json& result = simulated(reports[0]).result;
    return result.contains("not_exercised") ? std::optional{result["not_exercised"].get<Keys>()}
                                            : std::nullopt;
}

// By its own name, or with the whole entry of a list it is of ("npu.kernels.modes[3]").
bool holds(const std::vector<std::string>& keys, const std::string& key) {
    return std::any_of(keys.begin(), keys.end(), [&key](const std::string& named) {
        return key == named || (named.ends_with(']') && key.starts_with(named + '.'));
    });
}

// The same point with the axis at one of its values.
Point moved(Point point, const Axis& axis, const std::vector<std::string>& values) {
    for (auto& [key, value] : point.settings) {
        const auto place = std::find(axis.keys.begin(), axis.keys.end(), key);
        if (place != axis.keys.end()) {
            value = values[static_cast<std::size_t>(place - axis.keys.begin())];
        }
    }
    return point;
}

// Keys of the file that cannot matter to a point, for which nothing is simulated, where it can be
// built.
std::optional<Keys> unfelt_of_file(const SweepFile& sweep, const Point& point) {
    try {
        return session::unfelt_keys(
            parse_scenario(sweep.base_text, sweep.base_file, overrides_of(sweep, point)));
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

// Axes of which some keys have not mattered so far. What another axis sets may be another mapping,
// to which they matter: every axis is tried at its values, one axis at a time.
class UnfeltAxes {
  public:
    // Of the keys that are the device's, or of the others.
    UnfeltAxes(const SweepFile& sweep, bool of_device) {
        for (const Axis& axis : sweep.axes) {
            Keys keys;
            std::copy_if(axis.keys.begin(), axis.keys.end(), std::back_inserter(keys),
                         [of_device](const auto& key) {
                             return key.starts_with(kDevicePrefix) == of_device;
                         });
            axes_.emplace_back(&axis, std::move(keys));
        }
    }

    bool none() const {
        return std::all_of(axes_.begin(), axes_.end(),
                           [](const auto& each) { return each.second.empty(); });
    }

    // Keeps what is among the keys unfelt where `tried` was moved. Where that cannot be run, the
    // value matters, and of the other axes nothing is known.
    void keep(const std::optional<Keys>& unfelt, const Axis* tried) {
        for (auto& [axis, keys] : axes_) {
            if (unfelt || axis == tried) {
                std::erase_if(keys, [&](const std::string& key) {
                    return !unfelt || !holds(*unfelt, key.starts_with(kDevicePrefix)
                                                          ? key.substr(kDevicePrefix.size())
                                                          : key);
                });
            }
        }
    }

    void complain(const SweepFile& sweep, const char* tried) const {
        for (const auto& [axis, keys] : axes_) {
            for (const std::string& key : keys) {
                sim::complain(fmt::format("{}: axis {}: cannot matter to this scenario ({} tried)",
                                          sweep.name, key, tried));
            }
        }
    }

  private:
    std::vector<std::pair<const Axis*, Keys>> axes_;
};

void name_unfelt_of_file(const SweepFile& sweep, const Point& point) {
    UnfeltAxes axes(sweep, false);
    for (const Axis& axis : sweep.axes) {
        for (const auto& values : axis.values) {
            if (axes.none()) {
                return;
            }
            axes.keep(unfelt_of_file(sweep, moved(point, axis, values)), &axis);
        }
    }
    axes.complain(sweep, "each value was");
}

// Of names none is like another; of numbers the ends tell (a queue that is large enough at one may
// not be at the other).
std::vector<std::vector<std::string>> telling_values(const Axis& axis) {
    const auto is_number = [](const std::string& value) {
        return value.find_first_of("0123456789") <= value.find_first_not_of("+-.");
    };
    const bool numbers = std::all_of(axis.values.begin(), axis.values.end(), [&](const auto& each) {
        return std::all_of(each.begin(), each.end(), is_number);
    });
    return numbers ? std::vector{axis.values.front(), axis.values.back()} : axis.values;
}

// A point is tried first, and where it says so, what is around it.
void name_unfelt_of_device(const SweepFile& sweep, const Point& point) {
    UnfeltAxes axes(sweep, true);
    if (axes.none()) {
        return;
    }
    const auto until = std::chrono::steady_clock::now() + kPatience;
    axes.keep(unfelt_by(sweep, point).value_or(Keys{}), nullptr);
    for (const Axis& axis : sweep.axes) {
        for (const auto& values : telling_values(axis)) {
            if (axes.none() || std::chrono::steady_clock::now() > until) {
                return;
            }
            axes.keep(unfelt_by(sweep, moved(point, axis, values)), &axis);
        }
    }
    axes.complain(sweep, "both its ends were");
}

// Axes that change nothing are named before hours are spent on them.
void name_unfelt_axes(const SweepFile& sweep) {
    for (const Point& point : some_points(sweep, 1)) {
        name_unfelt_of_file(sweep, point);
        name_unfelt_of_device(sweep, point);
    }
}

int dry_run(const SweepArguments& arguments, const SweepFile& sweep, Shard shard) {
    const std::int64_t points = count_points(sweep, shard);
    const CostEstimate cost = expected_cost(sweep, arguments, shard);
    const auto count = static_cast<double>(points);
    constexpr double kBytesPerMb = 1e6;
    print(fmt::format("{}: {} points, model {}\n", sweep.name, points, model_version()) +
          fmt::format("  time  about {:.1f} s of {:.2f} s a point, {} at a time ({})\n",
                      count * cost.wall_s / static_cast<double>(arguments.options.jobs),
                      cost.wall_s, arguments.options.jobs, cost.source) +
          fmt::format("  disk  about {:.1f} MB\n", count * cost.bytes / kBytesPerMb));
    return kFine;
}

int exit_code_of(const SweepOutcome& outcome, const std::string& store) {
    std::string text =
        fmt::format("{}: {} points: {} simulated, {} already there, {} failed, {} invalid", store,
                    outcome.points, outcome.ok, outcome.reused, outcome.failed, outcome.invalid);
    if (outcome.left > 0) {
        text += fmt::format(", {} left; the same command goes on", outcome.left);
    }
    print(text + "\n");
    for (const AxisEffects::Unfelt& each : outcome.unfelt) {
        complain(fmt::format("axis {}: changed nothing in {} points that were simulated now",
                             each.axis, each.compared));
    }
    if (!outcome.first_problem.empty()) {
        complain("first problem: " + outcome.first_problem);
    }
    const bool all_invalid = outcome.invalid > 0 && outcome.invalid == outcome.points;
    return all_invalid ? kBadInput : outcome.failed > 0 || outcome.left > 0 ? kCheckFailed : kFine;
}

int sweep(const SweepArguments& arguments) {
    if (arguments.show) {
        return show(arguments);
    }
    if (arguments.file.empty()) {
        throw ConfigError("sweep: a sweep file must be named");
    }
    const Shard shard = parse_shard(arguments.shard);
    SweepFile file = load_sweep(arguments.file);
    if (arguments.sampled) {
        file.fixed.emplace_back("run.sampled", "on");
    }
    if (arguments.dry_run) {
        return dry_run(arguments, file, shard);
    }
    if (!arguments.scheduler.empty()) {
        if (arguments.file == "-") {
            throw ConfigError("-: tasks of a job array read the sweep file again: give its name");
        }
        ArrayJob job = arguments.job;
        job.sweep_file = std::filesystem::absolute(arguments.file);
        job.name = file.name;
        job.points = count_points(file, shard);
        job.sampled = arguments.sampled;
        print(arguments.scheduler == "slurm" ? write_slurm(job) : write_condor(job));
        return kFine;
    }
    const std::vector<Point> points = points_of(file, shard);
    const std::string store_file = store_of(arguments, shard);
    const StoreLock lock(store_file);
    name_unfelt_axes(file);
    Store store(store_file, Store::Mode::Create);
    return exit_code_of(run_sweep(file, points, store, arguments.options), store_file);
}

}  // namespace

void add_sweep(CLI::App& app, std::optional<int>& exit_code) {
    auto arguments = std::make_shared<SweepArguments>();
    arguments->options.jobs = std::max(1U, std::thread::hardware_concurrency());
    CLI::App* command = app.add_subcommand("sweep", "simulate every point of a sweep file");
    command->add_option("file", arguments->file, "sweep file");
    command->add_option("--store", arguments->store, "results, an SQLite file [results.db]");
    command->add_option("--jobs", arguments->options.jobs, "worker processes [one a processor]")
        ->check(CLI::Range(1, 4096));
    command->add_option("--shard", arguments->shard, "i/n: every n-th point, from the i-th");
    command->add_flag("--dry-run", arguments->dry_run, "count points, estimate time and disk");
    command->add_flag("--sampled", arguments->sampled,
                      "a few rounds of each point, the rest extrapolated, where that is possible");
    command->add_flag("--show", arguments->show, "list the sweeps of the store");
    command->add_flag("--retry-failed", arguments->options.retry_failed,
                      "run again what did not end well");
    command->add_flag("--new-model", arguments->options.new_model,
                      "compute anew beside an older model's results");
    command->add_flag("--quiet", arguments->options.quiet, "no progress");
    command->add_flag_callback(
        "--slurm", [arguments] { arguments->scheduler = "slurm"; },
        "write a Slurm job array instead of running");
    command->add_flag_callback(
        "--condor", [arguments] { arguments->scheduler = "condor"; },
        "write an HTCondor submit file instead of running");
    command->add_option("--tasks", arguments->job.tasks, "tasks of the array [one a point]")
        ->check(CLI::Range(1, 1'000'000));
    command
        ->add_option("--array-limit", arguments->job.limit,
                     "the site's largest array [Slurm's own]")
        ->check(CLI::Range(1, 1'000'000));
    command->add_option("--folder", arguments->job.folder, "where scripts and shards go");
    command->add_flag("--submit", arguments->job.submit, "submit it too");
    command->callback([arguments, &exit_code] { exit_code = sweep(*arguments); });
}

}  // namespace tilesim::sim::commands
