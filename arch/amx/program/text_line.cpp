#include "arch/amx/program/text_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"

namespace tilesim::arch::amx::program {

Text trim(Text text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    const std::size_t last = text.find_last_not_of(" \t\r");
    return first == Text::npos ? text.substr(text.size()) : text.substr(first, last - first + 1);
}

std::vector<Text> split(Text text, char at) {
    std::vector<Text> parts;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(at, start), text.size());
        if (const Text part = trim(text.substr(start, end - start)); !part.empty()) {
            parts.push_back(part);
        }
        start = end + 1;
    }
    return parts;
}

std::string hint(Text wrong, const std::vector<std::string>& known) {
    const std::string near = base::config::nearest_name(wrong, known);
    return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

bool TextLine::next(std::istream& lines) {
    ++number_;
    return static_cast<bool>(std::getline(lines, line_));
}

void TextLine::fail(Text at, const std::string& what) const {
    const std::ptrdiff_t column = at.data() == nullptr ? 1 : at.data() - line_.data() + 1;
    throw base::config::ConfigError(fmt::format("{}:{}:{}: {}", file_, number_, column, what));
}

std::int64_t TextLine::integer(Text text, std::int64_t most) const {
    const auto parsed = base::config::parse_integer(text);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
        fail(text, *problem);
    }
    const std::int64_t value = std::get<std::int64_t>(parsed);
    if (value < 0 || value > most) {
        fail(text, fmt::format("{} is beyond 0..{}", value, most));
    }
    return value;
}

}  // namespace tilesim::arch::amx::program
