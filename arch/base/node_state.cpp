#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>

#include "arch/base/config_state.hpp"

namespace tilesim::arch::base::config {

std::string_view kind_of(const YAML::Node& node) {
    if (node.IsMap()) {
        return "a map";
    }
    if (node.IsSequence()) {
        return "a list";
    }
    return node.IsNull() ? "nothing" : "a value";
}

std::string range_text(Range range) {
    return range.most == INT64_MAX ? fmt::format("at least {}", range.least)
                                   : fmt::format("{}..{}", range.least, range.most);
}

Node::State::Found Node::State::find(std::string_view key) {
    if (std::find(asked.begin(), asked.end(), key) == asked.end()) {
        asked.emplace_back(key);
    }
    if (!yaml.IsDefined() || !yaml.IsMap()) {
        return {};
    }
    for (const auto& entry : yaml) {
        if (entry.first.IsScalar() && entry.first.Scalar() == key) {
            return {entry.second, mark_of(entry.first), true};
        }
    }
    return {};
}

std::optional<std::string> Node::State::text(std::string_view key, const Found& found,
                                             std::string_view wanted) {
    if (!found.present) {
        return std::nullopt;
    }
    if (!found.value.IsScalar()) {
        document->report_kind(found.mark, path_of(key), wanted, found.value);
        return std::nullopt;
    }
    std::string result = found.value.Scalar();
    boost::algorithm::trim(result);
    return result;
}

void Node::State::describe(std::string_view key, KeyDescription description, const Found& found) {
    description.path = path_of(key);
    description.given = found.present;
    if (document->required.contains(description.path)) {
        description.default_value.clear();
    }
    description.source = found.present ? document->comment_on(found.mark.line) : std::string{};
    document->descriptions.push_back(std::move(description));
}

std::vector<Node> Node::State::entries(const YAML::Node& list, const std::string& list_path) const {
    std::vector<Node> result;
    const std::size_t count = document->describing ? 1 : list.size();
    for (std::size_t i = 0; i < count; ++i) {
        auto state = std::make_shared<State>();
        state->document = document;
        state->path = fmt::format("{}[{}]", list_path, i);
        if (!document->describing) {
            state->yaml = list[i];
            state->mark = mark_of(list[i]);
        }
        result.push_back(Node{state});
    }
    return result;
}
}  // namespace tilesim::arch::base::config
