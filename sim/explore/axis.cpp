#include "sim/explore/axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <variant>

#include "arch/base/quantity.hpp"
#include "workloads/device.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;

namespace {

// The same text for all spellings of a number, a quantity or a switch: "4 KiB" and "4096 B".
std::string in_one_spelling(const std::string& text) {
    using namespace arch::base::config;
    if (const auto integer = parse_integer(text); std::holds_alternative<std::int64_t>(integer)) {
        return std::to_string(std::get<std::int64_t>(integer));
    }
    const std::size_t unit_at = text.find_first_not_of("-.0123456789 ");
    if (const auto unit = known_unit(unit_at == text.npos ? "" : text.substr(unit_at))) {
        const auto count = parse_quantity(text, unit->dimension);
        if (std::holds_alternative<std::int64_t>(count)) {
            return fmt::format("{} {}", std::get<std::int64_t>(count), unit->dimension.base);
        }
    }
    return text == "on" ? "true" : text == "off" ? "false" : text;
}

// Whether a text is a map in which something stands at the path.
bool is_map_with(const std::string& text, const std::string& path) {
    if (text.find('{') == text.npos) {
        return false;
    }
    try {
        Node node = Document::parse(text, "value").root();
        std::istringstream names(path);
        for (std::string name; std::getline(names, name, '.'); node = node.child(name, "")) {
            if (!node.has(name)) {
                return false;
            }
            if (names.eof()) {
                return true;
            }
        }
    } catch (const ConfigError&) {  // its points say what is wrong with it
    }
    return false;
}

// Whether a value of one of the axis' keys is a map that holds this key.
std::string map_that_holds(const Axis& axis, const std::string& key) {
    for (std::size_t i = 0; i < axis.keys.size(); ++i) {
        if (!key.starts_with(axis.keys[i] + ".")) {
            continue;
        }
        const std::string below = key.substr(axis.keys[i].size() + 1);
        const bool held = std::any_of(axis.values.begin(), axis.values.end(),
                                      [&](const auto& row) { return is_map_with(row[i], below); });
        if (held) {
            return axis.keys[i];
        }
    }
    return "";
}

std::string set_in_a_map(const Axis& maps, const Axis& keys) {
    for (const std::string& key : keys.keys) {
        if (const std::string map = map_that_holds(maps, key); !map.empty()) {
            return fmt::format("'{}' is set twice: a value of '{}' holds it, too", key, map);
        }
    }
    return "";
}

}  // namespace

std::vector<std::string> equal_values(const Axis& axis) {
    std::vector<std::string> equal;
    std::map<std::vector<std::string>, std::size_t> seen;
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
        std::vector<std::string> spelled;
        for (const std::string& value : axis.values[i]) {
            spelled.push_back(in_one_spelling(value));
        }
        const auto [first, fresh] = seen.emplace(std::move(spelled), i);
        if (!fresh) {
            equal.push_back(fmt::format("value {} is value {} again: '{}' and '{}'", i + 1,
                                        first->second + 1, fmt::join(axis.values[i], ", "),
                                        fmt::join(axis.values[first->second], ", ")));
        }
    }
    return equal;
}

std::string set_by_both(const Axis& one, const Axis& other) {
    for (const std::string& key : other.keys) {
        if (!key.empty() && std::find(one.keys.begin(), one.keys.end(), key) != one.keys.end()) {
            return fmt::format("'{}' is set twice", key);
        }
    }
    const std::string within = set_in_a_map(one, other);
    return within.empty() ? set_in_a_map(other, one) : within;
}

std::string unknown_key(const ConfigError& refusal, const std::string& key) {
    const std::string set_as = fmt::format("{}{}", workloads::kSetOrigin, key);
    const auto& keys = refusal.keys();
    const auto wrong = std::find_if(keys.begin(), keys.end(),
                                    [&](const auto& each) { return each.set_as == set_as; });
    return wrong == keys.end() ? "" : fmt::format("'{}': {}", key, wrong->problem);
}

}  // namespace tilesim::sim::explore
