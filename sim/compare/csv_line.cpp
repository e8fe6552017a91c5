#include "sim/compare/csv_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <utility>

#include "arch/base/config.hpp"
#include "arch/base/utf8.hpp"

namespace tilesim::sim::compare {

std::vector<std::string> fields_of(const std::string& line) {
    const std::string_view text = arch::base::without_byte_order_mark(line);
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            const bool doubled = quoted && i + 1 < text.size() && text[i + 1] == '"';
            fields.back() += doubled ? "\"" : "";
            i += doubled ? 1 : 0;
            quoted = doubled ? quoted : !quoted;
        } else if (text[i] == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += text[i];
        }
    }
    for (std::string& field : fields) {
        const std::size_t first = field.find_first_not_of(" \r");
        const std::size_t last = field.find_last_not_of(" \r");
        field = first == field.npos ? "" : field.substr(first, last - first + 1);
    }
    return fields;
}

std::vector<std::string> next_row(std::istream& in, int& at) {
    for (std::string line; std::getline(in, line);) {
        ++at;
        std::vector<std::string> fields = fields_of(line);
        if (!fields[0].starts_with('#') && (fields.size() > 1 || !fields[0].empty())) {
            return fields;
        }
    }
    return {};
}

void require_table_text(const std::string& text, const std::string& file) {
    using arch::base::config::ConfigError;
    arch::base::require_text(file, text);
    std::istringstream in(text);
    int at = 0;
    for (std::string line; std::getline(in, line);) {
        ++at;
        if (!fields_of(line)[0].starts_with('#') && std::count(line.begin(), line.end(), '"') % 2) {
            throw ConfigError(
                fmt::format("{}:{}:{}: this quote is never closed: a field stands on one line",
                            file, at, line.rfind('"') + 1));
        }
    }
}

double nanoseconds_in(std::string_view unit) {
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (const auto& [name, nanoseconds] : kUnits) {
        if (name == unit) {
            return nanoseconds;
        }
    }
    return 0;
}

double time_scale(std::string_view column) {
    constexpr std::string_view kPrefix = "time_";
    return column.starts_with(kPrefix) ? nanoseconds_in(column.substr(kPrefix.size())) : 0;
}

std::optional<double> positive_number(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && rest == end && std::isfinite(value) && value > 0
               ? std::optional{value}
               : std::nullopt;
}

bool is_simulated_time(double nanoseconds) {
    constexpr double kLeast = 1e-6;
    constexpr double kMost = static_cast<double>(INT64_MAX) * kLeast;
    return nanoseconds >= kLeast && nanoseconds <= kMost;
}

double measured_nanoseconds(const std::string& text, const std::string& column,
                            const std::string& file, int line) {
    const auto value = positive_number(text);
    const double nanoseconds = value.value_or(1) * time_scale(column);
    if (!value || !is_simulated_time(nanoseconds)) {
        throw arch::base::config::ConfigError(
            fmt::format("{}:{}:1: {}: must be a time above 0{}, got '{}'", file, line, column,
                        value ? ", 1 fs to 9223 s" : "", text));
    }
    return nanoseconds;
}

}  // namespace tilesim::sim::compare
