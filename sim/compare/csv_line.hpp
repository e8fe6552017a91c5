// Fields and numbers of the CSV files that measuring programs write.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tilesim::sim::compare {

// Split at commas; blanks, quotes and the carriage return around a field are dropped.
std::vector<std::string> fields_of(const std::string& line);

// A finite number above 0; nothing where the text is none.
std::optional<double> positive_number(const std::string& text);

}  // namespace tilesim::sim::compare
