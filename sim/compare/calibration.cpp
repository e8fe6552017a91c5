#include "sim/compare/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "sim/compare/least_squares.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::compare {

using namespace arch::base::config;

namespace {

using arch::base::kPercent;
constexpr double kStep = 0.1;           // of a derivative
constexpr double kGrain = 1e-3;         // of a time: what a simulation cannot tell
constexpr std::size_t kMostRounds = 8;  // of Gauss-Newton
// Of a step, the least change of a time that says something of the parameter.
constexpr double kFelt = kGrain / kStep;
// What of a parameter's effect no combination of the others has.
constexpr double kOwn = 0.3;

using Values = std::vector<std::int64_t>;

const Dimension* dimension_of(const KeyDescription& key) {
    for (const Dimension* dimension :
         {&kBytesDimension, &kTimeDimension, &kFrequencyDimension, &kBytesPerCycleDimension,
          &kCyclesDimension, &kBandwidthDimension, &kThroughputDimension}) {
        if (dimension->names() == key.units) {
            return dimension;
        }
    }
    return nullptr;
}

std::int64_t count_of(const std::string& text, const Dimension* dimension,
                      const std::string& where) {
    const auto parsed =
        dimension == nullptr ? parse_integer(text) : parse_quantity(text, *dimension);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
        throw ConfigError(fmt::format("--fit {}: {}", where, *problem));
    }
    return std::get<std::int64_t>(parsed);
}

FittedParameter parameter_of(const KeyDescription& key, const std::optional<std::string>& range) {
    if (key.type != "integer" && key.type != "quantity") {
        throw ConfigError(fmt::format("--fit {}: is no number", key.path));
    }
    FittedParameter parameter;
    parameter.key = key.path;
    parameter.dimension = key.type == "quantity" ? dimension_of(key) : nullptr;
    parameter.before = count_of(key.value, parameter.dimension, key.path);
    if (parameter.before <= 0) {
        throw ConfigError(
            fmt::format("--fit {}: is {}: only what is above 0 is fitted", key.path, key.value));
    }
    parameter.value = parameter.before;
    constexpr std::int64_t kTimes = 3;
    parameter.least = std::max<std::int64_t>(1, parameter.before / kTimes);
    parameter.most = parameter.before * kTimes;
    if (range) {
        const std::size_t dots = range->find("..");
        if (dots == range->npos) {
            throw ConfigError(fmt::format("--fit {}={}: must be LEAST..MOST", key.path, *range));
        }
        parameter.least = count_of(range->substr(0, dots), parameter.dimension, key.path);
        parameter.most = count_of(range->substr(dots + 2), parameter.dimension, key.path);
        if (parameter.least < 1 || parameter.least >= parameter.most ||
            parameter.before < parameter.least || parameter.before > parameter.most) {
            throw ConfigError(fmt::format("--fit {}={}: must be 0 < LEAST < MOST with {} between",
                                          key.path, *range, key.value));
        }
    }
    return parameter;
}

// The model of the device as a function of its parameters, by simulation.
class Predictor {
  public:
    Predictor(const std::string& device, const std::vector<FittedParameter>& parameters,
              const std::vector<MeasuredRun>& runs, std::size_t processes)
        : device_(device), parameters_(parameters), runs_(runs), processes_(processes) {}

    // Logarithms of predicted over measured time, a row a run, for each of these values.
    std::vector<Vector> errors(const std::vector<Values>& all) {
        const std::vector<explore::Simulated> done = simulated(all);
        std::vector<Vector> result;
        for (std::size_t i = 0; i < all.size(); ++i) {
            result.push_back(errors_of(&done[i * runs_.size()], all[i]));
        }
        return result;
    }

    // Nothing for values with which a run is refused.
    std::vector<std::optional<Vector>> errors_where_possible(const std::vector<Values>& all) {
        const std::vector<explore::Simulated> done = simulated(all);
        std::vector<std::optional<Vector>> result;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto* first = &done[i * runs_.size()];
            const bool possible = std::all_of(first, first + runs_.size(),
                                              [](const auto& each) { return each.good(); });
            result.push_back(possible ? std::optional{errors_of(first, all[i])} : std::nullopt);
        }
        return result;
    }

    double error(std::size_t run, const Values& values) {
        ++simulations_;
        return error_of(runs_[run], explore::simulate_all({job_of(runs_[run], values)}, 1)[0],
                        values);
    }

    std::int64_t simulations() const { return simulations_; }

  private:
    // All runs with each of these values.
    std::vector<explore::Simulated> simulated(const std::vector<Values>& all) {
        std::vector<explore::Job> jobs;
        for (const Values& values : all) {
            for (const MeasuredRun& run : runs_) {
                jobs.push_back(job_of(run, values));
            }
        }
        simulations_ += static_cast<std::int64_t>(jobs.size());
        return explore::simulate_all(jobs, processes_);
    }

    Vector errors_of(const explore::Simulated* next, const Values& values) const {
        Vector column;
        for (const MeasuredRun& run : runs_) {
            column.push_back(error_of(run, *next++, values));
        }
        return column;
    }

    explore::Job job_of(const MeasuredRun& run, const Values& values) const {
        explore::Job job = run.job;
        job.overrides.emplace_back("device", device_);
        for (std::size_t i = 0; i < values.size(); ++i) {
            job.overrides.emplace_back("device." + parameters_[i].key,
                                       parameters_[i].text(values[i]));
        }
        return job;
    }

    // What the fit has set otherwise than the device's file; empty: nothing.
    std::string tried(const Values& values) const {
        std::vector<std::string> set;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i] != parameters_[i].before) {
                set.push_back(
                    fmt::format("{}={}", parameters_[i].key, parameters_[i].text(values[i])));
            }
        }
        return set.empty() ? ""
                           : fmt::format(
                                 "the fit tried {} (a range keeps it from there: --fit "
                                 "KEY=LEAST..MOST): ",
                                 fmt::join(set, ", "));
    }

    double error_of(const MeasuredRun& run, const explore::Simulated& simulated,
                    const Values& values) const {
        if (!simulated.good()) {
            throw ConfigError(fmt::format("{}: {}{}: {}", run.name, tried(values), simulated.status,
                                          simulated.error));
        }
        return std::log(simulated.result["time_ns"].get<double>() / run.time_ns);
    }

    const std::string& device_;
    const std::vector<FittedParameter>& parameters_;
    const std::vector<MeasuredRun>& runs_;
    std::size_t processes_;
    std::int64_t simulations_ = 0;
};

Values values_of(const std::vector<FittedParameter>& parameters) {
    Values values;
    for (const FittedParameter& parameter : parameters) {
        values.push_back(parameter.value);
    }
    return values;
}

// Of three digits: more say nothing, and 201 ns is easier to read than 200837996 fs.
double last_digit(double count) {
    constexpr double kDigits = 3;
    return std::max(1.0, std::pow(10, std::floor(std::log10(count)) + 1 - kDigits));
}

std::int64_t moved(const FittedParameter& parameter, double logarithm, std::int64_t from) {
    const double count = static_cast<double>(from) * std::exp(logarithm);
    const double grain = last_digit(count);
    return std::clamp(std::llround(std::round(count / grain) * grain),
                      static_cast<long long>(parameter.least),
                      static_cast<long long>(parameter.most));
}

Values moved(const std::vector<FittedParameter>& parameters, const Values& from,
             const Vector& step) {
    Values to;
    for (std::size_t i = 0; i < from.size(); ++i) {
        to.push_back(moved(parameters[i], step[i], from[i]));
    }
    return to;
}

// A column a parameter: change of the logarithm of time over that of the parameter.
std::vector<Vector> derivatives(Predictor& predictor,
                                const std::vector<FittedParameter>& parameters, const Values& at,
                                const Vector& errors) {
    std::vector<Values> beside;
    for (std::size_t i = 0; i < at.size(); ++i) {
        Values values = at;
        const std::int64_t step =
            std::max<std::int64_t>(1, std::llround(static_cast<double>(at[i]) * kStep));
        values[i] += values[i] + step <= parameters[i].most ? step : -step;
        beside.push_back(std::move(values));
    }
    std::vector<Vector> columns = predictor.errors(beside);
    for (std::size_t i = 0; i < at.size(); ++i) {
        const double change =
            std::log(static_cast<double>(beside[i][i]) / static_cast<double>(at[i]));
        for (std::size_t row = 0; row < errors.size(); ++row) {
            columns[i][row] = (columns[i][row] - errors[row]) / change;
        }
    }
    return columns;
}

std::vector<Vector> without(const std::vector<Vector>& columns, std::size_t column) {
    std::vector<Vector> others = columns;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(column));
    return others;
}

void refuse_what_the_runs_cannot_tell(std::vector<FittedParameter>& parameters,
                                      const std::vector<Vector>& columns, std::size_t runs) {
    if (runs <= parameters.size()) {
        throw ConfigError(fmt::format(
            "{} runs cannot tell {} parameters, with none left to check them; name fewer (--fit), "
            "or measure more",
            runs, parameters.size()));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        double most = 0;
        double sum = 0;
        for (const double each : columns[i]) {
            most = std::max(most, std::abs(each));
            sum += each;
        }
        parameters[i].sensitivity = sum / static_cast<double>(runs);
        if (most < kFelt) {
            throw ConfigError(fmt::format(
                "{}: no run depends on it: ten percent of it change no time by more than {:.2f} %; "
                "leave it out, or measure runs that feel it",
                parameters[i].key, kPercent * kStep * most));
        }
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto [own, nearest] = own_share(columns[i], without(columns, i));
        if (own < kOwn) {
            const std::size_t other = nearest + (nearest >= i ? 1 : 0);
            throw ConfigError(fmt::format(
                "{}: these runs cannot tell it from the others, {} before all: all but {:.0f} % of "
                "what it changes they change alike; leave one out, or measure runs that part them",
                parameters[i].key, parameters[other].key, kPercent * own));
        }
    }
}

// The standard deviation of a run's error, were what is left by chance.
double deviation_of_errors(const Vector& left, std::size_t parameters) {
    const double freedom = static_cast<double>(left.size() - parameters);
    return std::max(std::sqrt(sum_of_squares(left) / freedom), kGrain);
}

// The standard deviation of a parameter's logarithm where that of the errors is this: of its column
// counts what no combination of the others has.
double deviation(const std::vector<Vector>& columns, std::size_t column, double of_errors) {
    const double own = own_share(columns[column], without(columns, column)).first *
                       std::sqrt(sum_of_squares(columns[column]));
    return of_errors / own;
}

// One step, shortened as long as it makes the errors larger; nothing: none makes them smaller.
struct Progress {
    Values values;
    Vector errors;
};
std::optional<Progress> improved(Predictor& predictor,
                                 const std::vector<FittedParameter>& parameters, const Progress& at,
                                 const Vector& step) {
    for (const double share : {1.0, 0.5, 0.2}) {
        Vector shorter = step;
        for (double& each : shorter) {
            each *= share;
        }
        const Values values = moved(parameters, at.values, shorter);
        if (values == at.values) {
            return std::nullopt;
        }
        Vector errors = predictor.errors({values})[0];
        if (sum_of_squares(errors) < sum_of_squares(at.errors)) {
            return Progress{values, std::move(errors)};
        }
    }
    return std::nullopt;
}

// A value of a parameter on one side of the present one, so far away by its logarithm, but at least
// by a digit.
std::int64_t beside(const FittedParameter& parameter, std::int64_t from, double logarithm) {
    const std::int64_t to = moved(parameter, logarithm, from);
    const auto digit = static_cast<std::int64_t>(last_digit(static_cast<double>(from)));
    return to != from ? to
                      : std::clamp(logarithm > 0 ? from + digit : from - digit, parameter.least,
                                   parameter.most);
}

double distance(std::int64_t from, std::int64_t to) {
    return std::abs(std::log(static_cast<double>(to) / static_cast<double>(from)));
}

// A time may be no smooth function of a parameter: that ten percent change it says little of one,
// and errors may be as small far from where the fit has ended. So the deviation of a parameter's
// logarithm reaches as far as the errors do not become as much larger as a deviation says.
double widened(Predictor& predictor, const std::vector<FittedParameter>& parameters,
               const Progress& at, std::size_t which, double deviation, double of_errors) {
    const FittedParameter& parameter = parameters[which];
    const std::int64_t from = at.values[which];
    constexpr double kWider = 2;
    std::vector<Values> around;
    for (const std::int64_t end : {parameter.least, parameter.most}) {
        const double range = distance(from, end);
        Values values = at.values;
        for (double away = std::min(deviation, range); values[which] != end; away *= kWider) {
            values[which] = beside(parameter, from, end < from ? -away : away);
            around.push_back(values);
        }
    }
    // Half of what a deviation makes of the sum of squares: it is so only about.
    const double most = sum_of_squares(at.errors) + of_errors * of_errors / 2;
    const std::vector<std::optional<Vector>> errors = predictor.errors_where_possible(around);
    double reach = std::min(deviation, distance(parameter.least, parameter.most));
    for (std::size_t i = 0; i < around.size(); ++i) {
        if (errors[i] && sum_of_squares(*errors[i]) <= most) {
            reach = std::max(reach, distance(from, around[i][which]));
        }
    }
    return reach;
}

}  // namespace

std::string FittedParameter::text(std::int64_t count) const {
    return dimension == nullptr ? std::to_string(count) : format_quantity(count, *dimension);
}

double Calibration::mean_error(double CalibratedRun::*which) const {
    double sum = 0;
    for (const CalibratedRun& run : runs) {
        sum += std::abs(run.*which);
    }
    return sum / static_cast<double>(runs.size());
}

std::vector<FittedParameter> parameters_of(const std::string& device,
                                           const std::vector<std::string>& wanted) {
    const workloads::Device loaded = workloads::catalogue::load_device(device, {});
    std::vector<KeyDescription> keys;
    for (const Document& document : loaded.documents) {
        keys.insert(keys.end(), document.descriptions().begin(), document.descriptions().end());
    }
    std::vector<FittedParameter> parameters;
    for (const std::string& each : wanted) {
        const std::string path = each.substr(0, each.find('='));
        const auto known_already =
            std::any_of(parameters.begin(), parameters.end(),
                        [&](const FittedParameter& known) { return known.key == path; });
        if (known_already) {
            throw ConfigError(fmt::format("--fit {}: is named twice", path));
        }
        const auto key = std::find_if(keys.begin(), keys.end(),
                                      [&](const auto& known) { return known.path == path; });
        if (key == keys.end()) {
            std::vector<std::string> names;
            for (const KeyDescription& known : keys) {
                names.push_back(known.path);
            }
            // As --set writes it.
            constexpr std::string_view kDevice = "device.";
            throw ConfigError(fmt::format(
                "--fit {}: '{}' has no such key{}", path, device,
                did_you_mean(path.starts_with(kDevice) ? path.substr(kDevice.size()) : path,
                             names)));
        }
        const std::size_t equals = each.find('=');
        parameters.push_back(parameter_of(
            *key, equals == each.npos ? std::nullopt : std::optional{each.substr(equals + 1)}));
    }
    for (const KeyDescription& key : keys) {
        const bool number = key.type == "integer" || key.type == "quantity";
        if (wanted.empty() && number && key.source.starts_with("calibrated")) {
            parameters.push_back(parameter_of(key, std::nullopt));
        }
    }
    if (parameters.empty()) {
        throw ConfigError(fmt::format(
            "calibrate: no key of '{}' is marked as calibrated; name those to fit: --fit KEY",
            device));
    }
    return parameters;
}

namespace {

// What a run says of the device and of the numbers that are fitted would not count.
void refuse_what_would_not_count(const std::string& device,
                                 const std::vector<FittedParameter>& parameters,
                                 const std::vector<MeasuredRun>& runs) {
    const std::string name = workloads::catalogue::load_device(device, {}).name;
    for (const MeasuredRun& run : runs) {
        for (const auto& [key, value] : run.job.overrides) {
            if (key == "device" && value != device && value != name) {
                throw ConfigError(
                    fmt::format("{}: device: must be {}, which is calibrated, got '{}'", run.name,
                                device, value));
            }
            const bool fitted = std::any_of(
                parameters.begin(), parameters.end(),
                [&key = key](const FittedParameter& each) { return "device." + each.key == key; });
            if (fitted) {
                throw ConfigError(fmt::format(
                    "{}: {}: is what is fitted: leave out the column, or name others (--fit)",
                    run.name, key));
            }
        }
    }
}

}  // namespace

Calibration calibrate(const std::string& device, std::vector<FittedParameter> parameters,
                      const std::vector<MeasuredRun>& runs, std::size_t processes) {
    refuse_what_would_not_count(device, parameters, runs);
    Predictor predictor(device, parameters, runs, processes);
    Progress at{values_of(parameters), {}};
    at.errors = predictor.errors({at.values})[0];
    const Vector before = at.errors;
    std::vector<Vector> columns = derivatives(predictor, parameters, at.values, at.errors);
    refuse_what_the_runs_cannot_tell(parameters, columns, runs.size());
    for (std::size_t round = 0; round < kMostRounds; ++round) {
        const auto next =
            improved(predictor, parameters, at, least_squares_step(columns, at.errors));
        if (!next) {
            break;
        }
        constexpr double kLittle = 1e-3;  // of the sum of squares
        const bool settled =
            sum_of_squares(next->errors) > (1 - kLittle) * sum_of_squares(at.errors);
        at = *next;
        columns = derivatives(predictor, parameters, at.values, at.errors);
        if (settled) {
            break;
        }
    }
    Calibration result;
    result.device = device;
    const auto percent = [](double logarithm) { return kPercent * (std::exp(logarithm) - 1); };
    for (std::size_t i = 0; i < runs.size(); ++i) {
        // What the others alone would have fitted, predicts this one.
        const Values by_others =
            moved(parameters, at.values, least_squares_step(columns, at.errors, i));
        result.runs.push_back({runs[i].name, runs[i].time_ns, percent(before[i]),
                               percent(at.errors[i]), percent(predictor.error(i, by_others))});
    }
    const double of_errors = deviation_of_errors(at.errors, columns.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i].known_percent = percent(
            widened(predictor, parameters, at, i, deviation(columns, i, of_errors), of_errors));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i].value = at.values[i];
    }
    result.parameters = std::move(parameters);
    result.simulations = predictor.simulations();
    return result;
}

}  // namespace tilesim::sim::compare
