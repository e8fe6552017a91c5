#include "arch/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::base {

namespace {

// The second byte's range shuts out overlong forms, surrogates and what is beyond U+10FFFF.
struct Form {
    unsigned char first_least, first_most, second_least, second_most;
    std::size_t bytes;
};
constexpr Form kForms[] = {{0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2},
                           {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
                           {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                           {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4},
                           {0xF4, 0xF4, 0x80, 0x8F, 4}};

bool continues(char byte) {
    constexpr unsigned kMark = 0xC0;
    constexpr unsigned kContinuation = 0x80;
    return (static_cast<unsigned char>(byte) & kMark) == kContinuation;
}

// Bytes of the character that `text` begins with; 0: of none.
std::size_t first_character(std::string_view text) {
    const auto byte = [&text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    for (const Form& form : kForms) {
        if (byte(0) < form.first_least || byte(0) > form.first_most) {
            continue;
        }
        const bool whole =
            form.bytes <= text.size() &&
            (form.bytes == 1 || (byte(1) >= form.second_least && byte(1) <= form.second_most)) &&
            std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(form.bytes),
                        continues);
        return whole ? form.bytes : 0;
    }
    return 0;
}

}  // namespace

std::optional<std::size_t> first_not_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = first_character(text.substr(at));
        if (bytes == 0) {
            return at;
        }
        at += bytes;
    }
    return std::nullopt;
}

std::string not_utf8(const std::string& file, std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t newline = before.rfind('\n');
    const std::string_view line = newline == before.npos ? before : before.substr(newline + 1);
    const auto characters =
        line.size() - static_cast<std::size_t>(std::count_if(line.begin(), line.end(), continues));
    return not_utf8(fmt::format("{}:{}:{}", file, 1 + std::count(before.begin(), before.end(), '\n'),
                                1 + characters),
                    static_cast<unsigned char>(text[offset]));
}

std::string not_utf8(const std::string& name, unsigned char byte) {
    return fmt::format("{}: must be UTF-8 text, got the byte 0x{:02x}", name, byte);
}

}  // namespace tilesim::arch::base
