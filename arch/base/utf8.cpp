#include "arch/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <cctype>

#include "arch/base/config.hpp"

namespace tilesim::arch::base {

namespace {

using Utf8 = boost::locale::utf::utf_traits<char>;

}  // namespace

std::string place_of(const std::string& file, std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t newline = before.rfind('\n');
    const std::string_view line = newline == before.npos ? before : before.substr(newline + 1);
    const auto characters =
        std::count_if(line.begin(), line.end(), [](char byte) { return !Utf8::is_trail(byte); });
    return fmt::format("{}:{}:{}", file, 1 + std::count(before.begin(), before.end(), '\n'),
                       1 + characters);
}

std::optional<std::size_t> first_not_utf8(std::string_view text) {
    for (auto at = text.begin(); at != text.end();) {
        const auto character = at;
        const auto code = Utf8::decode(at, text.end());
        if (code == boost::locale::utf::illegal || code == boost::locale::utf::incomplete) {
            return static_cast<std::size_t>(character - text.begin());
        }
    }
    return std::nullopt;
}

std::string not_utf8(const std::string& file, std::string_view text, std::size_t offset) {
    return not_utf8(place_of(file, text, offset), static_cast<unsigned char>(text[offset]));
}

std::string not_utf8(const std::string& name, unsigned char byte) {
    return fmt::format("{}: must be UTF-8 text, got the byte 0x{:02x}", name, byte);
}

void require_text(const std::string& file, std::string_view text) {
    if (const auto flaw = first_not_utf8(text)) {
        throw config::ConfigError(not_utf8(file, text, *flaw));
    }
    if (const auto control = first_control(text)) {
        throw config::ConfigError(
            fmt::format("{}: {}", place_of(file, text, *control), not_text(text[*control])));
    }
}

std::optional<std::size_t> first_control(std::string_view text) {
    const auto control = std::find_if(text.begin(), text.end(), [](unsigned char byte) {
        return std::iscntrl(byte) != 0 && byte != '\t' && byte != '\r' && byte != '\n';
    });
    return control == text.end() ? std::nullopt
                                 : std::optional{static_cast<std::size_t>(control - text.begin())};
}

std::string not_text(char control) {
    return fmt::format("must be text, got the control character 0x{:02x}",
                       static_cast<unsigned char>(control));
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace tilesim::arch::base
