// The two streams of the command line: results go to stdout, everything else to stderr.
#pragma once

#include <string>

namespace tilesim::sim {

// Writes a result; throws IoError when it cannot be written. A reader that has gone away is no
// error.
void print(const std::string& text);
// A message of lines that can be read: the middle of one that quotes a whole file is left out.
std::string readable(std::string message);
// One message on stderr. Where that fails too there is nobody left to tell.
void complain(const std::string& text);
// Whether stderr is a terminal: only there is progress shown.
bool shows_progress();
// Replaces the line being shown on stderr; an empty text clears it.
void show_progress(const std::string& text);

}  // namespace tilesim::sim
