#include "arch/pim/program_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "arch/base/quantity.hpp"

namespace tilesim::arch::pim {

ProgramLine::ProgramLine(const std::string& text, const std::string& file, base::FilePlace begin,
                         std::vector<std::string>& errors)
    : file_(file), begin_(begin), errors_(errors) {
    const std::string code = text.substr(0, text.find('#'));
    for (std::size_t at = code.find_first_not_of(" \t\r"); at != std::string::npos;
         at = code.find_first_not_of(" \t\r", at)) {
        const std::size_t end = std::min(code.find_first_of(" \t\r", at), code.size());
        words_.push_back({code.substr(at, end - at), begin.column + static_cast<std::int32_t>(at)});
        at = end;
    }
}

bool ProgramLine::starts_with_number() const {
    return !empty() && !peek().empty() && peek()[0] >= '0' && peek()[0] <= '9';
}

bool ProgramLine::take_if(std::string_view word) {
    if (empty() || peek() != word) {
        return false;
    }
    ++next_;
    return true;
}

std::int64_t ProgramLine::integer(std::int64_t least, std::int64_t most, const char* what) {
    const std::size_t at = next_;
    if (empty()) {
        error(at, fmt::format("{} is missing", what));
        return least;
    }
    const std::string text = take();
    const auto parsed = base::config::parse_integer(text);
    const auto* value = std::get_if<std::int64_t>(&parsed);
    if (value == nullptr || *value < least || *value > most) {
        error(at, fmt::format("{} must be {}..{}, got '{}'", what, least, most, text));
        return least;
    }
    return *value;
}

base::FilePlace ProgramLine::place_of(std::size_t word) const {
    if (words_.empty()) {
        return begin_;
    }
    const Word& last = words_.back();
    return {begin_.line, word < words_.size()
                             ? words_[word].column
                             : last.column + static_cast<std::int32_t>(last.text.size())};
}

void ProgramLine::error(std::size_t at, const std::string& message) {
    const base::FilePlace place = place_of(at);
    errors_.push_back(fmt::format("{}:{}:{}: {}", file_, place.line, place.column, message));
    next_ = words_.size();
}

}  // namespace tilesim::arch::pim
