#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <numeric>

#include "arch/base/config_state.hpp"
#include "arch/base/quantity.hpp"
#include "arch/base/required_keys.hpp"

namespace tilesim::arch::base::config {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row[b.size()];
}

std::string_view kind_of(const YAML::Node& node) {
    if (node.IsMap()) {
        return "a map";
    }
    if (node.IsSequence()) {
        return "a list";
    }
    return node.IsNull() ? "nothing" : "a value";
}

// One dimension's worth of Node::optional.
struct QuantityKey {
    const Dimension& dimension;
    Range range;

    std::string range_text() const {
        return range.most == INT64_MAX
                   ? fmt::format("at least {}", format_quantity(range.least, dimension))
                   : fmt::format("{}..{}", format_quantity(range.least, dimension),
                                 format_quantity(range.most, dimension));
    }
};

std::string range_text(Range range) {
    return range.most == INT64_MAX ? fmt::format("at least {}", range.least)
                                   : fmt::format("{}..{}", range.least, range.most);
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
    std::string best;
    std::size_t least = std::max<std::size_t>(2, wrong.size() / 3) + 1;
    for (const std::string& name : known) {
        const std::size_t distance = edit_distance(wrong, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}

namespace detail {

// The value under a key and where it stands.
struct Found {
    YAML::Node value;
    Document::Impl::Mark mark;  // of the key
    bool present = false;
};

}  // namespace detail

// Access to a node's internals for the free functions below.
struct NodeAccess {
    static std::vector<Node> entries(const Node::State& parent, const YAML::Node& list,
                                     const std::string& path) {
        std::vector<Node> entries;
        const std::size_t count = parent.document->describing ? 1 : list.size();
        for (std::size_t i = 0; i < count; ++i) {
            auto state = std::make_shared<Node::State>();
            state->document = parent.document;
            state->path = fmt::format("{}[{}]", path, i);
            if (!parent.document->describing) {
                state->yaml = list[i];
                state->mark = mark_of(list[i]);
            }
            entries.push_back(Node{state});
        }
        return entries;
    }
    using State = Node::State;

    static const Document::Impl& document_of(const Node& node) { return *node.state_->document; }

    static detail::Found find(State& state, std::string_view key) {
        if (std::find(state.asked.begin(), state.asked.end(), key) == state.asked.end()) {
            state.asked.emplace_back(key);
        }
        if (!state.yaml.IsDefined() || !state.yaml.IsMap()) {
            return {};
        }
        for (const auto& entry : state.yaml) {
            if (entry.first.IsScalar() && entry.first.Scalar() == key) {
                return {entry.second, mark_of(entry.first), true};
            }
        }
        return {};
    }

    // The scalar's text when there is one; an error when the key holds something else.
    static std::optional<std::string> text(State& state, std::string_view key,
                                           const detail::Found& found, std::string_view wanted) {
        if (!found.present) {
            return std::nullopt;
        }
        if (!found.value.IsScalar()) {
            state.document->report(found.mark, state.path_of(key),
                                   fmt::format("must be {}, got {}", wanted, kind_of(found.value)));
            return std::nullopt;
        }
        std::string text = found.value.Scalar();
        boost::algorithm::trim(text);
        return text;
    }

    static void describe(State& state, std::string_view key, KeyDescription description,
                         const detail::Found& found) {
        description.path = state.path_of(key);
        description.given = found.present;
        if (state.document->required.contains(description.path)) {
            description.default_value.clear();
        }
        description.source =
            found.present ? state.document->comment_on(found.mark.line) : std::string{};
        state.document->descriptions.push_back(std::move(description));
    }

    template <class Value>
    static void quantity(State& state, std::string_view key, Value& value, QuantityKey rules,
                         std::string_view meaning) {
        const detail::Found found = find(state, key);
        const std::string default_value = format_quantity(value.count(), rules.dimension);
        const auto given = text(state, key, found, "a quantity");
        const auto mark = given ? mark_of(found.value) : found.mark;
        if (given) {
            const auto parsed = parse_quantity(*given, rules.dimension);
            if (const auto* problem = std::get_if<std::string>(&parsed)) {
                state.document->report(mark, state.path_of(key), *problem);
            } else {
                const auto count = std::get<std::int64_t>(parsed);
                if (count < rules.range.least || count > rules.range.most) {
                    state.document->report(
                        mark, state.path_of(key),
                        fmt::format("must be {}, got {}", rules.range_text(), *given));
                } else {
                    value = Value{count};
                }
            }
        }
        describe(state, key,
                 {.type = "quantity",
                  .units = rules.dimension.names(),
                  .value = format_quantity(value.count(), rules.dimension),
                  .default_value = default_value,
                  .range = rules.range_text(),
                  .description = std::string{meaning}},
                 found);
    }
};

std::vector<std::string> required_keys(Document document) {
    const auto& required = NodeAccess::document_of(document.root()).required;
    return {required.begin(), required.end()};
}

void Node::optional(std::string_view key, bool& value, std::string_view description) {
    const auto found = NodeAccess::find(*state_, key);
    const bool default_value = value;
    if (const auto text = NodeAccess::text(*state_, key, found, "on or off")) {
        if (*text == "on" || *text == "true") {
            value = true;
        } else if (*text == "off" || *text == "false") {
            value = false;
        } else {
            state_->document->report(mark_of(found.value), state_->path_of(key),
                                     fmt::format("must be on or off, got '{}'", *text));
        }
    }
    NodeAccess::describe(*state_, key,
                         {.type = "boolean",
                          .value = value ? "on" : "off",
                          .default_value = default_value ? "on" : "off",
                          .choices = {"on", "off", "true", "false"},
                          .description = std::string{description}},
                         found);
}

void Node::optional(std::string_view key, std::int64_t& value, Range range,
                    std::string_view description) {
    const auto found = NodeAccess::find(*state_, key);
    const std::int64_t default_value = value;
    if (const auto text = NodeAccess::text(*state_, key, found, "an integer")) {
        const auto parsed = parse_integer(*text);
        const auto* count = std::get_if<std::int64_t>(&parsed);
        if (count == nullptr) {
            state_->document->report(mark_of(found.value), state_->path_of(key),
                                     std::get<std::string>(parsed));
        } else if (*count < range.least || *count > range.most) {
            state_->document->report(mark_of(found.value), state_->path_of(key),
                                     fmt::format("must be {}, got {}", range_text(range), *count));
        } else {
            value = *count;
        }
    }
    NodeAccess::describe(*state_, key,
                         {.type = "integer",
                          .value = std::to_string(value),
                          .default_value = std::to_string(default_value),
                          .range = range_text(range),
                          .description = std::string{description}},
                         found);
}

void Node::optional(std::string_view key, std::string& value, std::string_view description) {
    const auto found = NodeAccess::find(*state_, key);
    const std::string default_value = value;
    if (const auto text = NodeAccess::text(*state_, key, found, "a name")) {
        value = *text;
    }
    NodeAccess::describe(*state_, key,
                         {.type = "string",
                          .value = value,
                          .default_value = default_value,
                          .description = std::string{description}},
                         found);
}

void Node::optional(std::string_view key, Cycles& value, Range range,
                    std::string_view description) {
    NodeAccess::quantity(*state_, key, value, {kCyclesDimension, range}, description);
}

void Node::optional(std::string_view key, Bytes& value, Range range, std::string_view description) {
    NodeAccess::quantity(*state_, key, value, {kBytesDimension, range}, description);
}

void Node::optional(std::string_view key, BytesPerCycle& value, Range range,
                    std::string_view description) {
    NodeAccess::quantity(*state_, key, value, {kBytesPerCycleDimension, range}, description);
}

void Node::optional(std::string_view key, Femtoseconds& value, Range range,
                    std::string_view description) {
    NodeAccess::quantity(*state_, key, value, {kTimeDimension, range}, description);
}

void Node::optional(std::string_view key, Hertz& value, Range range, std::string_view description) {
    NodeAccess::quantity(*state_, key, value, {kFrequencyDimension, range}, description);
}

void Node::optional(std::string_view key, BytesPerSecond& value, Range range,
                    std::string_view description) {
    NodeAccess::quantity(*state_, key, value, {kBandwidthDimension, range}, description);
}

void Node::optional(std::string_view key, OperationsPerSecond& value, Range range,
                    std::string_view description) {
    NodeAccess::quantity(*state_, key, value, {kThroughputDimension, range}, description);
}

std::optional<std::size_t> Node::choose(std::string_view key, const std::vector<std::string>& names,
                                        std::size_t default_index, std::string_view description) {
    const auto found = NodeAccess::find(*state_, key);
    std::optional<std::size_t> chosen;
    if (const auto text = NodeAccess::text(*state_, key, found, "a name")) {
        const auto place = std::find(names.begin(), names.end(), *text);
        if (place != names.end()) {
            chosen = static_cast<std::size_t>(place - names.begin());
        } else {
            const std::string near = nearest_name(*text, names);
            state_->document->report(
                mark_of(found.value), state_->path_of(key),
                fmt::format("must be one of {}, got '{}'{}", fmt::join(names, ", "), *text,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
        }
    }
    const std::string default_value =
        default_index < names.size() ? names[default_index] : std::string{};
    NodeAccess::describe(*state_, key,
                         {.type = "enum",
                          .value = chosen ? names[*chosen] : default_value,
                          .default_value = default_value,
                          .choices = names,
                          .description = std::string{description}},
                         found);
    return chosen;
}

void Node::require(std::string_view key) {
    state_->document->required.insert(state_->path_of(key));
    if (!NodeAccess::find(*state_, key).present && !state_->wrong_type) {
        state_->document->report(state_->mark, state_->path_of(key), "is missing");
    }
}

bool Node::has(std::string_view key) const {
    return state_->document->describing || (state_->yaml.IsDefined() && state_->yaml.IsMap() &&
                                            state_->yaml[std::string{key}].IsDefined());
}

bool Node::describing() const {
    return state_->document->describing;
}

Node Node::child(std::string_view key, std::string_view description) {
    const auto found = NodeAccess::find(*state_, key);
    auto state = std::make_shared<State>();
    state->document = state_->document;
    state->path = state_->path_of(key);
    state->mark = found.present ? found.mark : state_->mark;
    if (found.present && found.value.IsMap()) {
        state->yaml = found.value;
    } else if (found.present && !found.value.IsNull()) {
        state_->document->report(found.mark, state->path,
                                 fmt::format("must be a map, got {}", kind_of(found.value)));
        state->wrong_type = true;
    }
    NodeAccess::describe(*state_, key, {.type = "map", .description = std::string{description}},
                         found);
    return Node{state};
}

std::vector<Node> Node::list(std::string_view key, std::string_view description) {
    const auto found = NodeAccess::find(*state_, key);
    NodeAccess::describe(*state_, key, {.type = "list", .description = std::string{description}},
                         found);
    if (found.present && !found.value.IsSequence()) {
        state_->document->report(found.mark, state_->path_of(key),
                                 fmt::format("must be a list, got {}", kind_of(found.value)));
        return {};
    }
    return found.present || describing()
               ? NodeAccess::entries(*state_, found.value, state_->path_of(key))
               : std::vector<Node>{};
}

std::vector<Node> Node::entries() {
    if (describing()) {
        return NodeAccess::entries(*state_, state_->yaml, state_->path);
    }
    if (!state_->yaml.IsDefined() || !state_->yaml.IsSequence()) {
        state_->document->report(state_->mark, state_->path, "must be a list");
        return {};
    }
    return NodeAccess::entries(*state_, state_->yaml, state_->path);
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
            state_->document->report(state_->mark, state_->path,
                                     fmt::format("must be a map, got {}", kind_of(state_->yaml)));
        }
        return;
    }
    for (const auto& entry : state_->yaml) {
        if (!entry.first.IsScalar()) {
            continue;
        }
        const std::string& key = entry.first.Scalar();
        if (std::find(state_->asked.begin(), state_->asked.end(), key) == state_->asked.end()) {
            const std::string near = nearest_name(key, state_->asked);
            state_->document->report(
                mark_of(entry.first), state_->path_of(key),
                near.empty()
                    ? fmt::format("unknown key; known are {}", fmt::join(state_->asked, ", "))
                    : fmt::format("unknown key; did you mean '{}'?", near));
        }
    }
}

void Node::error(std::string_view key, std::string_view message) {
    if (key.empty()) {
        state_->document->report(state_->mark, state_->path, std::string{message});
        return;
    }
    const auto found = NodeAccess::find(*state_, key);
    const auto mark = !found.present           ? state_->mark
                      : found.value.IsScalar() ? mark_of(found.value)
                                               : found.mark;
    state_->document->report(mark, state_->path_of(key), std::string{message});
}

const std::string& Node::path() const {
    return state_->path;
}

}  // namespace tilesim::arch::base::config
