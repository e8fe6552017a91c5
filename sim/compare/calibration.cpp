#include "sim/compare/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "sim/compare/least_squares.hpp"
#include "sim/compare/predictor.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::compare {

using arch::base::kPercent;
using arch::base::config::ConfigError;

namespace {

constexpr double kStep = 0.1;           // of a derivative
constexpr double kGrain = 1e-3;         // of a time: what a simulation cannot tell
constexpr std::size_t kMostRounds = 8;  // of Gauss-Newton
constexpr std::size_t kMostDescents = 4;
// Of a step, the least change of a time that says something of the parameter.
constexpr double kFelt = kGrain / kStep;
// What of a parameter's effect no combination of the others has.
constexpr double kOwn = 0.3;

Values values_of(const std::vector<FittedParameter>& parameters) {
    Values values;
    for (const FittedParameter& parameter : parameters) {
        values.push_back(parameter.value);
    }
    return values;
}

Values moved(const std::vector<FittedParameter>& parameters, const Values& from,
             const Vector& step) {
    Values to;
    for (std::size_t i = 0; i < from.size(); ++i) {
        to.push_back(parameters[i].moved(from[i], step[i]));
    }
    return to;
}

// A column a parameter: change of the logarithm of time over that of the parameter, for a step up,
// or down where its range ends or a run is refused.
std::vector<Vector> derivatives(Predictor& predictor,
                                const std::vector<FittedParameter>& parameters, const Values& at,
                                const Vector& errors) {
    std::vector<Values> beside(at.size(), at);
    std::vector<Values> other_side(at.size(), at);
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::int64_t step =
            std::max<std::int64_t>(1, std::llround(static_cast<double>(at[i]) * kStep));
        if (at[i] + step > parameters[i].most) {
            step = -step;
        }
        beside[i][i] += step;
        other_side[i][i] -= step;
    }
    std::vector<Vector> columns;
    const std::vector<std::optional<Vector>> possible = predictor.errors_where_possible(beside);
    for (std::size_t i = 0; i < at.size(); ++i) {
        const bool turned = !possible[i] && other_side[i][i] >= parameters[i].least;
        const Values& values = turned ? other_side[i] : beside[i];
        columns.push_back(possible[i] ? *possible[i] : predictor.errors({values})[0]);
        const double change = std::log(static_cast<double>(values[i]) / static_cast<double>(at[i]));
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

// Where the fit stands.
struct Fit {
    Values values;
    Vector errors;
    std::vector<Vector> columns;  // derivatives
};

// The standard deviation of a run's error, were what is left by chance.
double deviation_of_errors(const Fit& at) {
    const double freedom = static_cast<double>(at.errors.size() - at.columns.size());
    return std::max(std::sqrt(sum_of_squares(at.errors) / freedom), kGrain);
}

// The same of a parameter's logarithm: of its column counts what no combination of the others has.
double deviation(const Fit& at, std::size_t parameter) {
    const Vector& column = at.columns[parameter];
    const double own =
        own_share(column, without(at.columns, parameter)).first * std::sqrt(sum_of_squares(column));
    return deviation_of_errors(at) / own;
}

Fit fit_at(Predictor& predictor, const std::vector<FittedParameter>& parameters,
           const Values& values, Vector errors) {
    std::vector<Vector> columns = derivatives(predictor, parameters, values, errors);
    return {values, std::move(errors), std::move(columns)};
}

// One step, shortened as long as it makes the errors larger; nothing: none makes them smaller.
std::optional<Fit> improved(Predictor& predictor, const std::vector<FittedParameter>& parameters,
                            const Fit& at) {
    const Vector step = least_squares_step(at.columns, at.errors);
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
            return fit_at(predictor, parameters, values, std::move(errors));
        }
    }
    return std::nullopt;
}

// Step by step to where no step makes the errors smaller.
Fit descended(Predictor& predictor, const std::vector<FittedParameter>& parameters, Fit at) {
    for (std::size_t round = 0; round < kMostRounds; ++round) {
        std::optional<Fit> next = improved(predictor, parameters, at);
        if (!next) {
            break;
        }
        constexpr double kLittle = 1e-3;  // of the sum of squares
        const bool settled =
            sum_of_squares(next->errors) > (1 - kLittle) * sum_of_squares(at.errors);
        at = std::move(*next);
        if (settled) {
            break;
        }
    }
    return at;
}

double distance(std::int64_t from, std::int64_t to) {
    return std::abs(std::log(static_cast<double>(to) / static_cast<double>(from)));
}

// A time may be no smooth function of a parameter: that ten percent change it says little of one,
// and errors may be as small, or smaller, far from where the steps have ended. So each parameter is
// tried alone, out to the ends of its range.
struct Around {
    std::size_t parameter = 0;
    Values values;
    std::optional<Vector> errors;  // none: a run is refused there
};

std::vector<Around> looked_around(Predictor& predictor,
                                  const std::vector<FittedParameter>& parameters, const Fit& at) {
    constexpr double kWider = 2;
    std::vector<Values> all;
    std::vector<Around> around;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const FittedParameter& parameter = parameters[i];
        const double nearest = deviation(at, i);
        for (const std::int64_t end : {parameter.least, parameter.most}) {
            Values values = at.values;
            for (double away = std::min(nearest, distance(at.values[i], end)); values[i] != end;
                 away *= kWider) {
                values[i] = parameter.beside(at.values[i], end < at.values[i] ? -away : away);
                all.push_back(values);
                around.push_back({i, values, {}});
            }
        }
    }
    const std::vector<std::optional<Vector>> errors = predictor.errors_where_possible(all);
    for (std::size_t i = 0; i < around.size(); ++i) {
        around[i].errors = errors[i];
    }
    return around;
}

// By how much sums of squares differ that chance alone may part: half of what a deviation makes of
// one, for it is so only about.
double by_chance(const Fit& at) {
    const double of_errors = deviation_of_errors(at);
    return of_errors * of_errors / 2;
}

// The best place around, if it is better than chance has it.
std::optional<Fit> better(Predictor& predictor, const std::vector<FittedParameter>& parameters,
                          const Fit& at, const std::vector<Around>& around) {
    const Around* best = nullptr;
    double least = sum_of_squares(at.errors) - by_chance(at);
    for (const Around& each : around) {
        if (each.errors && sum_of_squares(*each.errors) < least) {
            best = &each;
            least = sum_of_squares(*each.errors);
        }
    }
    return best == nullptr
               ? std::nullopt
               : std::optional{fit_at(predictor, parameters, best->values, *best->errors)};
}

// The deviation of a parameter's logarithm, which reaches as far as errors become no larger than
// chance has it, and to the ends that were left: where steps end at several, no slope tells more.
double widened(const std::vector<FittedParameter>& parameters, const Fit& at, std::size_t which,
               const std::vector<Around>& around, const std::vector<Values>& left) {
    const FittedParameter& parameter = parameters[which];
    const double most = sum_of_squares(at.errors) + by_chance(at);
    double reach = std::min(deviation(at, which), distance(parameter.least, parameter.most));
    for (const Around& each : around) {
        if (each.parameter == which && each.errors && sum_of_squares(*each.errors) <= most) {
            reach = std::max(reach, distance(at.values[which], each.values[which]));
        }
    }
    for (const Values& end : left) {
        reach = std::max(reach, distance(at.values[which], end[which]));
    }
    return reach;
}

}  // namespace

double Calibration::mean_error(double CalibratedRun::*which) const {
    double sum = 0;
    for (const CalibratedRun& run : runs) {
        sum += std::abs(run.*which);
    }
    return sum / static_cast<double>(runs.size());
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
    const Values given = values_of(parameters);
    const Vector before = predictor.errors({given})[0];
    Fit at = fit_at(predictor, parameters, given, before);
    refuse_what_the_runs_cannot_tell(parameters, at.columns, runs.size());
    at = descended(predictor, parameters, std::move(at));
    std::vector<Around> around = looked_around(predictor, parameters, at);
    std::vector<Values> left;  // where steps have ended, too
    while (left.size() + 1 < kMostDescents) {
        std::optional<Fit> other = better(predictor, parameters, at, around);
        if (!other) {
            break;
        }
        left.push_back(at.values);
        at = descended(predictor, parameters, std::move(*other));
        around = looked_around(predictor, parameters, at);
    }
    Calibration result;
    result.device = device;
    const auto percent = [](double logarithm) { return kPercent * (std::exp(logarithm) - 1); };
    for (std::size_t i = 0; i < runs.size(); ++i) {
        // What the others alone would have fitted, predicts this one.
        const Values by_others =
            moved(parameters, at.values, least_squares_step(at.columns, at.errors, i));
        result.runs.push_back({runs[i].name, runs[i].time_ns, percent(before[i]),
                               percent(at.errors[i]), percent(predictor.error(i, by_others))});
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i].known_percent = percent(widened(parameters, at, i, around, left));
        parameters[i].value = at.values[i];
    }
    result.parameters = std::move(parameters);
    result.simulations = predictor.simulations();
    return result;
}

}  // namespace tilesim::sim::compare
