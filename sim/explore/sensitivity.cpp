#include "sim/explore/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/base/quantity.hpp"
#include "arch/base/units.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

using namespace arch::base::config;

namespace {

using arch::base::kPercent;

// Changes that many times smaller than those that are ranked, of those 10 % at most, cannot matter:
// what they do beyond their share is chance, as of requests that come in another order.
constexpr double kTooSmall = 20;
constexpr double kMostPercent = 10;
constexpr std::size_t kNumbersOfChance = 12;  // that are changed by so little, both ways

// A number of the device file, in its base unit.
struct Number {
    std::int64_t count = 0;
    const Dimension* dimension = nullptr;  // none: a plain integer

    std::string text(std::int64_t value) const {
        return dimension == nullptr ? std::to_string(value) : format_quantity(value, *dimension);
    }
};

std::optional<Number> number_of(const KeyDescription& key) {
    std::variant<std::int64_t, std::string> parsed = std::string{};
    Number number;
    if (key.type == "integer") {
        parsed = parse_integer(key.value);
    }
    for (const Dimension* dimension : {&kBytesDimension, &kTimeDimension, &kFrequencyDimension,
                                       &kBytesPerCycleDimension, &kCyclesDimension}) {
        if (key.type == "quantity" && dimension->names() == key.units) {
            parsed = parse_quantity(key.value, *dimension);
            number.dimension = dimension;
        }
    }
    const auto* count = std::get_if<std::int64_t>(&parsed);
    if (count == nullptr || *count <= 0) {
        return std::nullopt;
    }
    number.count = *count;
    return number;
}

// The texts of all devices, and what their keys begin with.
std::vector<std::pair<std::string, const Document*>> documents_of(const Scenario& scenario) {
    std::vector<std::pair<std::string, const Document*>> documents;
    for (const NamedDevice& named : devices_of(scenario)) {
        for (const Document& document : named.device.documents) {
            documents.emplace_back(named.prefix, &document);
        }
    }
    return documents;
}

// A number that much smaller and larger; by a whole or more, divided and multiplied.
std::pair<std::int64_t, std::int64_t> changed(std::int64_t count, double share) {
    const auto exact = static_cast<double>(count);
    const auto change = std::max<std::int64_t>(1, std::llround(exact * share));
    const std::int64_t divided =
        std::min<std::int64_t>(count - 1, std::llround(exact / (1 + share)));
    return {share < 1 ? count - change : divided, count + change};
}

// Of a number that can be changed by so little.
std::vector<std::string> nearby(const Number& number, double share) {
    const double small = std::min(share, kMostPercent / kPercent) / kTooSmall;
    if (static_cast<double>(number.count) * small < 1) {
        return {};
    }
    const auto [smaller, larger] = changed(number.count, small);
    return {number.text(smaller), number.text(larger)};
}

std::vector<Sensitivity> parameters_of(const Scenario& scenario, double share,
                                       const std::set<std::string>* only) {
    std::vector<Sensitivity> parameters;
    for (const auto& [prefix, document] : documents_of(scenario)) {
        for (const KeyDescription& key : document->descriptions()) {
            const auto number = number_of(key);
            // Of a list (the modes of a core, say) most entries are for other work.
            if (!number || key.path.find('[') != key.path.npos) {
                continue;
            }
            // An agent's memory is the shared one.
            if (prefix != "device." && key.path.starts_with("memory.")) {
                continue;
            }
            const std::int64_t count = number->count;
            const auto [smaller, larger] = changed(count, share);
            Sensitivity parameter;
            parameter.key = prefix + key.path;
            if (only != nullptr && !only->contains(parameter.key)) {
                continue;
            }
            parameter.value = key.value;
            parameter.smaller.value = number->text(smaller);
            parameter.larger.value = number->text(larger);
            const auto ratio = [count](std::int64_t changed_count) {
                return static_cast<double>(changed_count) / static_cast<double>(count);
            };
            parameter.smaller.ratio = ratio(smaller);
            parameter.larger.ratio = ratio(larger);
            parameter.smaller.other_ratio = ratio(count / 2);
            parameter.larger.other_ratio = 2;
            // What must be a power of two cannot be a little smaller or larger.
            parameter.smaller.otherwise = count % 2 == 0 ? number->text(count / 2) : "";
            parameter.larger.otherwise = number->text(2 * count);
            parameter.nearby = nearby(*number, share);
            parameters.push_back(std::move(parameter));
        }
    }
    return parameters;
}

// The result without what changes by itself: the change's own trace, the host's figures, and
// bounds, which are made of the device's numbers, whether the run needs them or not.
nlohmann::ordered_json comparable(nlohmann::ordered_json result) {
    for (const char* key : {"provenance", "wall_s", "events", "not_exercised", "bounds"}) {
        result.erase(key);
    }
    return result;
}

// Simulates every change; `tried_before`: only those that could not be built, the other way.
void simulate_changes(SensitivityResult& result, const Job& base,
                      const nlohmann::ordered_json& unchanged, bool tried_before,
                      std::size_t processes) {
    std::vector<Job> jobs;
    std::vector<Change*> changes;
    for (Sensitivity& parameter : result.parameters) {
        for (Change* change : {&parameter.smaller, &parameter.larger}) {
            if (tried_before) {
                if (change->time_percent || change->otherwise.empty() ||
                    change->otherwise == change->value) {
                    continue;
                }
                change->value = change->otherwise;
                change->ratio = change->other_ratio;
            }
            jobs.push_back(base);
            jobs.back().overrides.emplace_back(parameter.key, change->value);
            changes.push_back(change);
        }
    }
    const std::vector<Simulated> runs = simulate_all(jobs, processes);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].good()) {
            changes[i]->time_percent =
                kPercent * (runs[i].result["time_ns"].get<double>() / result.time_ns - 1);
            changes[i]->differs = comparable(runs[i].result) != unchanged;
        }
        changes[i]->refused = runs[i].error;
    }
}

// Numbers whose full changes were built and felt, evenly spread from the strongest to the weakest.
std::vector<const Sensitivity*> numbers_of_chance(const SensitivityResult& result) {
    std::vector<const Sensitivity*> felt;
    for (const Sensitivity& parameter : result.parameters) {
        const auto full = [](const Change& change) {
            return change.time_percent && change.differs && change.value != change.otherwise;
        };
        if (!parameter.nearby.empty() && full(parameter.smaller) && full(parameter.larger)) {
            felt.push_back(&parameter);
        }
    }
    std::vector<const Sensitivity*> spread;
    const std::size_t count = std::min(kNumbersOfChance, felt.size());
    for (std::size_t i = 0; i < count; ++i) {
        spread.push_back(felt[i * felt.size() / count]);
    }
    return spread;
}

std::optional<double> chance_of(const SensitivityResult& result, const Job& base,
                                const nlohmann::ordered_json& unchanged, std::size_t processes) {
    std::vector<Job> jobs;
    std::vector<double> shares;
    for (const Sensitivity* parameter : numbers_of_chance(result)) {
        for (const bool larger : {false, true}) {
            jobs.push_back(base);
            jobs.back().overrides.emplace_back(parameter->key, parameter->nearby[larger ? 1 : 0]);
            shares.push_back(*(larger ? parameter->larger : parameter->smaller).time_percent *
                             std::min(1.0, kMostPercent / result.percent) / kTooSmall);
        }
    }
    const std::vector<Simulated> runs = simulate_all(jobs, processes);
    std::optional<double> most;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].good() && comparable(runs[i].result) != unchanged) {
            const double time = runs[i].result["time_ns"].get<double>();
            const double moved = kPercent * (time / result.time_ns - 1) - shares[i];
            most = std::max(most.value_or(0), std::abs(moved));
        }
    }
    return most;
}

void name_unexercised(SensitivityResult& result, const std::vector<std::string>& keys) {
    for (Sensitivity& parameter : result.parameters) {
        parameter.not_exercised =
            std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
                return parameter.key == "device." + key || parameter.key == key;
            });
    }
}

}  // namespace

double Sensitivity::strength() const {
    return std::max(std::abs(smaller.time_percent.value_or(0)),
                    std::abs(larger.time_percent.value_or(0)));
}

double Sensitivity::elasticity() const {
    double most = 0;
    for (const Change* change : {&smaller, &larger}) {
        if (change->time_percent && change->ratio > 0 && change->ratio != 1) {
            most = std::max(most, std::abs(std::log1p(*change->time_percent / kPercent) /
                                           std::log(change->ratio)));
        }
    }
    return most;
}

bool SensitivityResult::by_chance(const Sensitivity& parameter) const {
    return chance_percent && parameter.strength() <= *chance_percent;
}

SensitivityResult sensitivity(const Job& base, double percent, std::size_t processes,
                              const std::set<std::string>* only) {
    SensitivityResult result;
    result.percent = percent;
    result.parameters = parameters_of(parse_scenario(base.text, base.file, base.overrides),
                                      percent / kPercent, only);
    const Simulated plain = simulate_all({base}, 1)[0];
    if (!plain.good()) {
        throw ConfigError(
            fmt::format("the scenario itself does not end well: {} {}", plain.status, plain.error));
    }
    result.time_ns = plain.result["time_ns"];
    const nlohmann::ordered_json unchanged = comparable(plain.result);
    simulate_changes(result, base, unchanged, false, processes);
    simulate_changes(result, base, unchanged, true, processes);
    name_unexercised(result, plain.result.value("not_exercised", std::vector<std::string>{}));
    std::stable_sort(
        result.parameters.begin(), result.parameters.end(),
        [](const Sensitivity& a, const Sensitivity& b) { return a.elasticity() > b.elasticity(); });
    result.chance_percent = chance_of(result, base, unchanged, processes);
    return result;
}

std::string to_table(const SensitivityResult& result) {
    const auto text_of = [](const Change& change) {
        return change.time_percent
                   ? fmt::format("{:+.2f} % at {}", *change.time_percent, change.value)
                   : "cannot be built";
    };
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    std::string text = fmt::format(
        "time {:.3f} us; change of it when a parameter is {} % smaller or larger, or half or "
        "double where that cannot be\n{:<48} {:>14} {:>32} {:>32}\n",
        result.time_ns / kNanosecondsPerMicrosecond, result.percent, "parameter", "value",
        "smaller", "larger");
    std::string without_effect;
    for (const Sensitivity& parameter : result.parameters) {
        const bool built = parameter.smaller.time_percent || parameter.larger.time_percent;
        if (built && parameter.strength() == 0) {
            without_effect += fmt::format("  {}{}\n", parameter.key,
                                          parameter.not_exercised ? "  (could not matter)" : "");
            continue;
        }
        text += fmt::format("{:<48} {:>14} {:>32} {:>32}{}\n", parameter.key, parameter.value,
                            text_of(parameter.smaller), text_of(parameter.larger),
                            result.by_chance(parameter) ? "  (chance)" : "");
    }
    if (result.chance_percent) {
        text += fmt::format(
            "(chance): no more than the {:.2f} % by which changes too small to matter move the "
            "time\n",
            *result.chance_percent);
    }
    return text + (without_effect.empty() ? "" : "read, but changed nothing:\n" + without_effect);
}

nlohmann::ordered_json to_json(const SensitivityResult& result) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    const auto json_of = [](const Change& change) {
        return nlohmann::ordered_json{
            {"value", change.value},
            {"time_change_percent", change.time_percent
                                        ? nlohmann::ordered_json(*change.time_percent)
                                        : nlohmann::ordered_json(nullptr)},
            {"result_changed", change.differs},
            {"refused", change.refused}};
    };
    for (const Sensitivity& parameter : result.parameters) {
        parameters.push_back({{"key", parameter.key},
                              {"value", parameter.value},
                              {"smaller", json_of(parameter.smaller)},
                              {"larger", json_of(parameter.larger)},
                              {"elasticity", parameter.elasticity()},
                              {"by_chance", result.by_chance(parameter)},
                              {"not_exercised", parameter.not_exercised}});
    }
    return {
        {"time_ns", result.time_ns},
        {"percent", result.percent},
        {"chance_percent", result.chance_percent ? nlohmann::ordered_json(*result.chance_percent)
                                                 : nlohmann::ordered_json(nullptr)},
        {"parameters", std::move(parameters)}};
}

}  // namespace tilesim::sim::explore
