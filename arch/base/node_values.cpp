// What a node reads under its keys: switches, numbers, names, quantities, choices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/base/config_state.hpp"

namespace tilesim::arch::base::config {

namespace {

std::string range_text(Range range, const Dimension& dimension) {
    const std::string least = format_quantity(range.least, dimension);
    return range.most == INT64_MAX
               ? fmt::format("at least {}", least)
               : fmt::format("{}..{}", least, format_quantity(range.most, dimension));
}

}  // namespace

template <class Value>
void Node::State::quantity(std::string_view key, Value& value, const Dimension& dimension,
                           Range range, std::string_view description) {
    const Found found = find(key);
    const std::string default_value = format_quantity(value.count(), dimension);
    const auto given = text(key, found, "a quantity");
    if (given) {
        const auto parsed = parse_quantity(*given, dimension);
        if (const auto* problem = std::get_if<std::string>(&parsed)) {
            document->report(mark_of(found.value), path_of(key), *problem);
        } else {
            const auto count = std::get<std::int64_t>(parsed);
            if (count < range.least || count > range.most) {
                document->report(
                    mark_of(found.value), path_of(key),
                    fmt::format("must be {}, got {}", range_text(range, dimension), *given));
            } else {
                value = Value{count};
            }
        }
    }
    describe(key,
             {.type = "quantity",
              .units = dimension.names(),
              .value = format_quantity(value.count(), dimension),
              .default_value = default_value,
              .range = range_text(range, dimension),
              .description = std::string{description}},
             found);
}

void Node::optional(std::string_view key, bool& value, std::string_view description) {
    const auto found = state_->find(key);
    const bool default_value = value;
    if (const auto text = state_->text(key, found, "on or off")) {
        if (*text == "on" || *text == "true") {
            value = true;
        } else if (*text == "off" || *text == "false") {
            value = false;
        } else {
            state_->document->report(mark_of(found.value), state_->path_of(key),
                                     fmt::format("must be on or off, got '{}'", *text));
        }
    }
    state_->describe(key,
                     {.type = "boolean",
                      .value = value ? "on" : "off",
                      .default_value = default_value ? "on" : "off",
                      .choices = {"on", "off", "true", "false"},
                      .description = std::string{description}},
                     found);
}

void Node::optional(std::string_view key, std::int64_t& value, Range range,
                    std::string_view description) {
    const auto found = state_->find(key);
    const std::int64_t default_value = value;
    if (const auto text = state_->text(key, found, "an integer")) {
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
    state_->describe(key,
                     {.type = "integer",
                      .value = std::to_string(value),
                      .default_value = std::to_string(default_value),
                      .range = range_text(range),
                      .description = std::string{description}},
                     found);
}

void Node::optional(std::string_view key, std::string& value, std::string_view description) {
    const auto found = state_->find(key);
    const std::string default_value = value;
    if (const auto text = state_->text(key, found, "a name")) {
        value = *text;
    }
    state_->describe(key,
                     {.type = "string",
                      .value = value,
                      .default_value = default_value,
                      .description = std::string{description}},
                     found);
}

void Node::optional(std::string_view key, Cycles& value, Range range,
                    std::string_view description) {
    state_->quantity(key, value, kCyclesDimension, range, description);
}

void Node::optional(std::string_view key, Bytes& value, Range range, std::string_view description) {
    state_->quantity(key, value, kBytesDimension, range, description);
}

void Node::optional(std::string_view key, BytesPerCycle& value, Range range,
                    std::string_view description) {
    state_->quantity(key, value, kBytesPerCycleDimension, range, description);
}

void Node::optional(std::string_view key, Femtoseconds& value, Range range,
                    std::string_view description) {
    state_->quantity(key, value, kTimeDimension, range, description);
}

void Node::optional(std::string_view key, Hertz& value, Range range, std::string_view description) {
    state_->quantity(key, value, kFrequencyDimension, range, description);
}

void Node::optional(std::string_view key, BytesPerSecond& value, Range range,
                    std::string_view description) {
    state_->quantity(key, value, kBandwidthDimension, range, description);
}

void Node::optional(std::string_view key, OperationsPerSecond& value, Range range,
                    std::string_view description) {
    state_->quantity(key, value, kThroughputDimension, range, description);
}

std::optional<std::size_t> Node::choose(std::string_view key, const std::vector<std::string>& names,
                                        std::size_t default_index, std::string_view description) {
    const auto found = state_->find(key);
    std::optional<std::size_t> chosen;
    if (const auto text = state_->text(key, found, "a name")) {
        const auto place = std::find(names.begin(), names.end(), *text);
        if (place != names.end()) {
            chosen = static_cast<std::size_t>(place - names.begin());
        } else {
            state_->document->report(
                mark_of(found.value), state_->path_of(key),
                fmt::format("must be one of {}, got '{}'{}", fmt::join(names, ", "), *text,
                            did_you_mean(*text, names)));
        }
    }
    const std::string default_value =
        default_index < names.size() ? names[default_index] : std::string{};
    state_->describe(key,
                     {.type = "enum",
                      .value = chosen ? names[*chosen] : default_value,
                      .default_value = default_value,
                      .choices = names,
                      .description = std::string{description}},
                     found);
    return chosen;
}

}  // namespace tilesim::arch::base::config
