#include "arch/amx/program/text_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <variant>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"

namespace tilesim::arch::amx::program {

Text trim(Text text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    const std::size_t last = text.find_last_not_of(" \t\r");
    return first == Text::npos ? text.substr(text.size()) : text.substr(first, last - first + 1);
}

std::vector<Text> words(Text text) {
    constexpr const char* kBlanks = " \t\r";
    std::vector<Text> parts;
    for (std::size_t start = text.find_first_not_of(kBlanks); start != Text::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, start), text.size());
        parts.push_back(text.substr(start, end - start));
        start = text.find_first_not_of(kBlanks, end);
    }
    return parts;
}

std::vector<Text> split(Text text, char at) {
    std::vector<Text> parts;
    if (trim(text).empty()) {
        return parts;
    }
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(at, start), text.size());
        parts.push_back(trim(text.substr(start, end - start)));
        start = end + 1;
    }
    return parts;
}

bool TextLine::next(std::istream& lines) {
    ++number_;
    return static_cast<bool>(std::getline(lines, line_));
}

TextPlace TextLine::place(Text at) const {
    return {number_, at.data() == nullptr ? 1 : at.data() - line_.data() + 1};
}

void TextLine::fail(const TextPlace& at, const std::string& what) const {
    throw base::config::ConfigError(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
}

std::int64_t TextLine::integer(Text text, std::int64_t most, std::int64_t least) const {
    const auto parsed = base::config::parse_integer(text);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
        fail(text, *problem);
    }
    const std::int64_t value = std::get<std::int64_t>(parsed);
    if (value < least || value > most) {
        fail(text, fmt::format("{} is beyond {}..{}", value, least, most));
    }
    return value;
}

std::string TextLine::name(Text text) const {
    const auto fits = [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_' || letter == '.';
    };
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0 ||
        !std::all_of(text.begin(), text.end(), fits)) {
        fail(text,
             fmt::format("'{}' is no name: letters, digits, '_' and '.', no digit in front", text));
    }
    return std::string{text};
}

}  // namespace tilesim::arch::amx::program
