#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/base/config_state.hpp"
#include "arch/base/required_keys.hpp"

namespace tilesim::arch::base::config {

std::vector<std::string> required_keys(Document document) {
    const auto& required = document.root().state_->document->required;
    return {required.begin(), required.end()};
}

void Node::require(std::string_view key) {
    state_->document->required.insert(state_->path_of(key));
    if (!state_->find(key).present && !state_->wrong_type) {
        state_->document->report(state_->mark, state_->path_of(key), "is missing");
    }
}

bool Node::has(std::string_view key) const {
    return state_->document->describing || (state_->yaml.IsDefined() && state_->yaml.IsMap() &&
                                            state_->yaml[std::string{key}].IsDefined());
}

bool Node::offers(std::string_view key) {
    state_->asked.emplace_back(key);
    return has(key);
}

bool Node::overridden(std::string_view dotted_path) const {
    return state_->document->overrides(state_->path_of(dotted_path));
}

bool Node::describing() const {
    return state_->document->describing;
}

Node Node::child(std::string_view key, std::string_view description) {
    const auto found = state_->find(key);
    auto state = std::make_shared<State>();
    state->document = state_->document;
    state->path = state_->path_of(key);
    state->mark = found.present ? found.mark : state_->mark;
    if (found.present && found.value.IsMap()) {
        state->yaml = found.value;
    } else if (found.present && !found.value.IsNull()) {
        state_->document->report_kind(found.mark, state->path, "a map", found.value);
        state->wrong_type = true;
    }
    state_->describe(key, {.type = "map", .description = std::string{description}}, found);
    return Node{state};
}

std::vector<Node> Node::list(std::string_view key, std::string_view description) {
    const auto found = state_->find(key);
    state_->describe(key, {.type = "list", .description = std::string{description}}, found);
    if (found.present && !found.value.IsSequence()) {
        state_->document->report_kind(found.mark, state_->path_of(key), "a list", found.value);
        return {};
    }
    return found.present || describing() ? state_->entries(found.value, state_->path_of(key))
                                         : std::vector<Node>{};
}

std::vector<Node> Node::entries() {
    if (describing()) {
        return state_->entries(state_->yaml, state_->path);
    }
    if (!state_->yaml.IsDefined() || !state_->yaml.IsSequence()) {
        state_->document->report(state_->mark, state_->path, "must be a list");
        return {};
    }
    return state_->entries(state_->yaml, state_->path);
}

std::vector<std::string> Node::keys() const {
    if (describing()) {
        return {"*"};
    }
    std::vector<std::string> result;
    if (state_->yaml.IsDefined() && state_->yaml.IsMap()) {
        for (const auto& entry : state_->yaml) {
            if (entry.first.IsScalar()) {
                result.push_back(entry.first.Scalar());
            }
        }
    }
    return result;
}

const std::vector<std::string>& Node::asked() const {
    return state_->asked;
}

std::string Node::scalar() {
    if (!state_->yaml.IsDefined() || !state_->yaml.IsScalar()) {
        state_->document->report(state_->mark, state_->path, "must be a plain value");
        return "";
    }
    return state_->yaml.Scalar();
}

std::int64_t Node::integer(Range range) {
    const auto parsed = parse_integer(scalar());
    const auto* count = std::get_if<std::int64_t>(&parsed);
    if (count == nullptr) {
        state_->document->report(state_->mark, state_->path, std::get<std::string>(parsed));
        return range.least;
    }
    if (*count < range.least || *count > range.most) {
        state_->document->report(state_->mark, state_->path,
                                 fmt::format("must be {}, got {}", range_text(range), *count));
        return range.least;
    }
    return *count;
}

void Node::not_exactly_one(const std::vector<std::string_view>& keys) {
    const auto is_one = [&](const std::string& key) {
        return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    const std::vector<std::string> given = this->keys();
    state_->asked.insert(state_->asked.end(), keys.begin(), keys.end());
    const bool unknown = std::any_of(given.begin(), given.end(), [&](const std::string& key) {
        return std::find(state_->asked.begin(), state_->asked.end(), key) == state_->asked.end();
    });
    if (!unknown || std::any_of(given.begin(), given.end(), is_one)) {
        error("", fmt::format("must hold exactly one of {}", fmt::join(keys, ", ")));
    }
}

void Node::done() {
    if (!state_->yaml.IsDefined()) {
        return;
    }
    if (!state_->yaml.IsMap()) {
        if (!state_->yaml.IsNull()) {
            state_->document->report_kind(state_->mark, state_->path, "a map", state_->yaml);
        }
        return;
    }
    std::vector<std::string> known;  // some are asked for twice
    for (const std::string& key : state_->asked) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            known.push_back(key);
        }
    }
    for (const auto& entry : state_->yaml) {
        if (!entry.first.IsScalar()) {
            continue;
        }
        const std::string& key = entry.first.Scalar();
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            std::string hint = did_you_mean(key, known);
            if (hint.empty()) {
                hint = known.empty() ? "; there are none here"
                                     : fmt::format("; known are {}", fmt::join(known, ", "));
            }
            state_->document->report_unknown(mark_of(entry.first), state_->path_of(key),
                                             "unknown key" + hint);
        }
    }
}

void Node::error(std::string_view key, std::string_view message) {
    if (key.empty()) {
        state_->document->report(state_->mark, state_->path, std::string{message});
        return;
    }
    const auto found = state_->find(key);
    const auto mark = !found.present           ? state_->mark
                      : found.value.IsScalar() ? mark_of(found.value)
                                               : found.mark;
    state_->document->report(mark, state_->path_of(key), std::string{message});
}

const std::string& Node::path() const {
    return state_->path;
}

const std::string& Node::file() const {
    return state_->document->file;
}

FilePlace Node::text_place(std::string_view key) const {
    const FilePlace mark = mark_of(state_->find(key).value);
    const std::vector<std::string>& lines = state_->document->lines;
    const auto line = static_cast<std::size_t>(mark.line);
    if (mark.line < 1 || line > lines.size()) {
        return {1, 1};
    }
    const std::string_view from = std::string_view{lines[line - 1]}.substr(
        std::min(lines[line - 1].size(), static_cast<std::size_t>(mark.column - 1)));
    if (!from.starts_with('|') && !from.starts_with('>')) {
        const bool quoted = from.starts_with('\'') || from.starts_with('"');
        return {mark.line, mark.column + (quoted ? 1 : 0)};
    }
    const auto first = std::find_if(
        lines.begin() + mark.line, lines.end(),
        [](const std::string& text) { return text.find_first_not_of(" \r") != text.npos; });
    const std::size_t indent = first == lines.end() ? 0 : first->find_first_not_of(' ');
    return {mark.line + 1, static_cast<std::int32_t>(indent) + 1};
}

FilePlace Node::place() const {
    return state_->mark;
}

}  // namespace tilesim::arch::base::config
