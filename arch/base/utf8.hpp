// Whether text is UTF-8, as every file of keys, table and override must be: messages, results and
// stores hold parts of it, and JSON can hold no other bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tilesim::arch::base {

// "file:3:9": line and column, in characters and from 1, of the byte at `offset`.
std::string place_of(const std::string& file, std::string_view text, std::size_t offset);
// Offset of the first byte that is part of no character.
std::optional<std::size_t> first_not_utf8(std::string_view text);
// What is wrong with text whose first such byte is at `offset`: "file:3:9: must be UTF-8 text, got
// the byte 0xff".
std::string not_utf8(const std::string& file, std::string_view text, std::size_t offset);
// The same of a text that is no file's, called `name`.
std::string not_utf8(const std::string& name, unsigned char byte);
// Throws ConfigError with the first place at which a file holds something else, or a control
// character other than tabs and ends of lines: terminals obey those of a message.
void require_text(const std::string& file, std::string_view text);
// Offset of the first control character other than tabs and ends of lines.
std::optional<std::size_t> first_control(std::string_view text);
// "must be text, got the control character 0x1b"
std::string not_text(char control);
// Without the byte order mark that editors and spreadsheets put in front of UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace tilesim::arch::base
