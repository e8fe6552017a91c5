#include "validation/rows.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "arch/base/config.hpp"

namespace tilesim::validation {

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
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ',');) {
            fields.push_back(field);
        }
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
