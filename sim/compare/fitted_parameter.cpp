#include "sim/compare/fitted_parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::compare {

using namespace arch::base::config;

namespace {

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

// Of three digits: more say nothing, and 201 ns is easier to read than 200837996 fs.
double last_digit(double count) {
    constexpr double kDigits = 3;
    return std::max(1.0, std::pow(10, std::floor(std::log10(count)) + 1 - kDigits));
}

}  // namespace

std::string FittedParameter::text(std::int64_t count) const {
    return dimension == nullptr ? std::to_string(count) : format_quantity(count, *dimension);
}

std::int64_t FittedParameter::moved(std::int64_t from, double logarithm) const {
    const double count = static_cast<double>(from) * std::exp(logarithm);
    const double grain = last_digit(count);
    return std::clamp<std::int64_t>(std::llround(std::round(count / grain) * grain), least, most);
}

std::int64_t FittedParameter::beside(std::int64_t from, double logarithm) const {
    const std::int64_t to = moved(from, logarithm);
    const auto digit = static_cast<std::int64_t>(last_digit(static_cast<double>(from)));
    return to != from ? to : std::clamp(logarithm > 0 ? from + digit : from - digit, least, most);
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

}  // namespace tilesim::sim::compare
