#include "validation/rows.hpp"

#include <fmt/format.h>

#include <fstream>

#include "arch/base/config.hpp"

namespace tilesim::validation {

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

}  // namespace

double product_of(const Record& record, std::initializer_list<const char*> columns) {
    double product = 1;
    for (const char* column : columns) {
        product *= std::stod(record.at(column));
    }
    return product;
}

std::vector<Record> read_csv(const std::string& file) {
    std::ifstream in(file);
    if (!in) {
        throw arch::base::config::IoError(fmt::format("{}: cannot be read", file));
    }
    std::vector<std::string> header;
    std::vector<Record> records;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        const std::vector<std::string> fields = fields_of(line);
        if (header.empty()) {
            header = fields;
            continue;
        }
        Record record;
        for (std::size_t i = 0; i < header.size(); ++i) {
            record[header[i]] = i < fields.size() ? fields[i] : "";
        }
        records.push_back(record);
    }
    return records;
}

}  // namespace tilesim::validation
