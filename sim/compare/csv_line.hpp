// Fields and numbers of the CSV files that measuring programs write.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::sim::compare {

// Split at commas outside quotes; blanks and the carriage return around a field are dropped, and so
// is the byte order mark that spreadsheets put in front of a file.
std::vector<std::string> fields_of(const std::string& line);
// The fields of the next line that is neither empty nor a comment, none at the end; `at` counts the
// lines read.
std::vector<std::string> next_row(std::istream& in, int& at);

// Throws ConfigError, with the place, where a table's text is no UTF-8 or a quote is never closed.
void require_table_text(const std::string& text, const std::string& file);

// Nanoseconds in one of "ns", "us", "ms" or "s"; 0 where there is no such unit.
double nanoseconds_in(std::string_view unit);
// Of one in the unit of a column such as "time_us"; 0: it holds no times.
double time_scale(std::string_view column);

// A finite number above 0; nothing where the text is none.
std::optional<double> positive_number(const std::string& text);
// One that simulated time can hold: 1 fs to 9223 s.
bool is_simulated_time(double nanoseconds);
// Nanoseconds of a time in the unit of its column. Throws ConfigError, with the place, unless it is
// such a time.
double measured_nanoseconds(const std::string& text, const std::string& column,
                            const std::string& file, int line);

}  // namespace tilesim::sim::compare
