#include "sim/compare/csv_line.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

namespace tilesim::sim::compare {

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) {
        const std::size_t first = field.find_first_not_of(" \"\r");
        const std::size_t last = field.find_last_not_of(" \"\r");
        fields.push_back(first == field.npos ? "" : field.substr(first, last - first + 1));
    }
    return fields;
}

std::optional<double> positive_number(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && rest == end && std::isfinite(value) && value > 0
               ? std::optional{value}
               : std::nullopt;
}

}  // namespace tilesim::sim::compare
