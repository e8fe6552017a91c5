#include "validation/rows.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>
#include <system_error>

#include "arch/base/config.hpp"

namespace tilesim::validation {

using arch::base::config::ConfigError;
using arch::base::config::IoError;

namespace {

// Split at commas, but not within quotes, which are dropped.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char each : line) {
        if (each == '"') {
            quoted = !quoted;
        } else if (each == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += each;
        }
    }
    return fields;
}

// The value of a field; all of it must belong to the number.
template <class Value>
Value parsed(const std::string& text, const std::string& place, const std::string& column,
             std::string_view what) {
    Value value{};
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end) {
        throw ConfigError(fmt::format("{}: {}: must be {}, got '{}'", place, column, what, text));
    }
    return value;
}

}  // namespace

const std::string& Record::at(const std::string& column) const {
    const auto field = fields_.find(column);
    if (field == fields_.end()) {
        throw ConfigError(fmt::format("{}: the file has no column '{}'", place_, column));
    }
    return field->second;
}

double Record::number(const std::string& column) const {
    const double value = parsed<double>(at(column), place_, column, "a number");
    if (!std::isfinite(value)) {  // from_chars reads 'nan' and 'inf'
        throw ConfigError(
            fmt::format("{}: {}: must be a number, got '{}'", place_, column, at(column)));
    }
    return value;
}

std::int64_t Record::integer(const std::string& column) const {
    return parsed<std::int64_t>(at(column), place_, column, "an integer");
}

double product_of(const Record& record, std::initializer_list<const char*> columns) {
    double product = 1;
    for (const char* column : columns) {
        product *= record.number(column);
    }
    return product;
}

std::vector<Record> read_csv(const std::string& file) {
    std::ifstream in(file);
    if (!in) {
        throw IoError(fmt::format("{}: cannot be read", file));
    }
    std::vector<std::string> header;
    std::vector<Record> records;
    std::int64_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.empty() || line[0] == '#') {
            continue;
        }
        const std::vector<std::string> fields = fields_of(line);
        if (header.empty()) {
            header = fields;
            continue;
        }
        const std::string place = fmt::format("{}:{}:1", file, number);
        if (fields.size() != header.size()) {
            throw ConfigError(fmt::format("{}: has {} fields, the header {}", place, fields.size(),
                                          header.size()));
        }
        std::map<std::string, std::string> named;
        for (std::size_t i = 0; i < header.size(); ++i) {
            named[header[i]] = fields[i];
        }
        records.emplace_back(place, std::move(named));
    }
    return records;
}

}  // namespace tilesim::validation
