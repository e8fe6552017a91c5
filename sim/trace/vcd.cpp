#include "sim/trace/vcd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <vector>

namespace tilesim::sim::trace {

namespace {

// Identifiers of VCD: printable characters, as short as possible.
std::string identifier(std::size_t index) {
    constexpr std::size_t kFirst = '!';
    constexpr std::size_t kCount = '~' - '!' + 1;
    std::string text;
    do {
        text += static_cast<char>(kFirst + index % kCount);
        index /= kCount;
    } while (index > 0);
    return text;
}

// Scopes are plain names: "tile(3,2)" becomes tile_3_2.
std::string scope_name(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '(' || c == ',' || c == '.'; }, '_');
    std::erase(text, ')');
    return text;
}

// A component's name taken apart at its dots: "npu.tile(3,2).core" is npu, tile(3,2), core.
std::vector<std::string> scopes_of(const std::string& component) {
    std::vector<std::string> scopes;
    std::istringstream parts(component);
    for (std::string part; std::getline(parts, part, '.');) {
        scopes.push_back(part);
    }
    return scopes;
}

// Leaves the scopes that `to` is not in and enters those it is.
std::string change_scope(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    const auto [left, entered] = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
    std::string text;
    for (auto scope = left; scope != from.end(); ++scope) {
        text += "$upscope $end\n";
    }
    for (auto scope = entered; scope != to.end(); ++scope) {
        text += fmt::format("$scope module {} $end\n", scope_name(*scope));
    }
    return text;
}

}  // namespace

std::string to_vcd(const ActivityLog& log, const std::string& signals) {
    // Component by its scopes, then state, in the order of their names.
    std::vector<std::vector<std::string>> scopes;
    for (const std::string& component : log.components()) {
        scopes.push_back(scopes_of(component));
    }
    std::map<std::vector<std::string>, std::map<std::string, std::string>> wires;
    for (const Activity& activity : log.activities()) {
        const std::string& component = log.components()[activity.component];
        if (component.find(signals) != component.npos) {
            wires[scopes[activity.component]][log.names()[activity.name]] = "";
        }
    }
    std::string text = "$timescale 1 fs $end\n";
    std::size_t next = 0;
    std::vector<std::string> open;
    for (auto& [component, states] : wires) {
        text += change_scope(open, component);
        open = component;
        for (auto& [state, wire] : states) {
            wire = identifier(next++);
            text += fmt::format("$var wire 1 {} {} $end\n", wire, state);
        }
    }
    text += change_scope(open, {});
    text += "$enddefinitions $end\n$dumpvars\n";
    for (std::size_t i = 0; i < next; ++i) {
        text.append(1, '0').append(identifier(i)).append("\n");
    }
    text += "$end\n";
    std::vector<std::tuple<std::int64_t, char, const std::string*>> changes;
    for (const Activity& activity : log.activities()) {
        const auto component = wires.find(scopes[activity.component]);
        if (component != wires.end()) {
            const std::string& wire = component->second.at(log.names()[activity.name]);
            changes.emplace_back(activity.begin.count(), '1', &wire);
            changes.emplace_back(activity.end.count(), '0', &wire);
        }
    }
    // At one time falls stand before rises: a state entered anew at once stays high.
    std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::int64_t now = -1;
    for (const auto& [time, value, wire] : changes) {
        if (time != now) {
            now = time;
            text += fmt::format("#{}\n", now);
        }
        text.append(1, value).append(*wire).append("\n");
    }
    return text;
}

}  // namespace tilesim::sim::trace
