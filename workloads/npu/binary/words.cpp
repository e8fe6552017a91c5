#include "workloads/npu/binary/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/base/config.hpp"

namespace tilesim::workloads::npu::binary {

namespace {

std::vector<std::uint32_t> from_text(const std::string& text) {
    std::vector<std::uint32_t> words;
    constexpr const char* kBlanks = "\r\n ";
    for (std::size_t at = text.find_first_not_of(kBlanks); at != text.npos;
         at = text.find_first_not_of(kBlanks, at)) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
        std::uint32_t word = 0;
        for (std::size_t i = at; i < end; ++i) {
            const char c = text[i];
            const int digit = c == 'x' ? 0 : c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
            word = word << 4 | static_cast<std::uint32_t>(digit & 15);
        }
        words.push_back(word);
        at = end;
    }
    return words;
}

}  // namespace

std::uint32_t Words::operator[](std::size_t at) const {
    if (at >= words_.size()) {
        fail(at, "the file ends here, in the middle of an operation");
    }
    return words_[at];
}

Words Words::from(std::size_t at, std::size_t count) const {
    if (at > words_.size() || count > words_.size() - at) {
        fail(words_.size(), "the file ends here, before its stated length");
    }
    const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(at);
    Words part(file_, {begin, begin + static_cast<std::ptrdiff_t>(count)});
    part.first_ = first_ + at;
    return part;
}

void Words::fail(std::size_t at, const std::string& message) const {
    throw arch::base::config::ConfigError(
        fmt::format("{}: word {}: {}", file_, first_ + at, message));
}

bool is_hex_text(const std::string& bytes) {
    return bytes.size() >= 2 * kWordSize && std::all_of(bytes.begin(), bytes.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                      c == '\n' || c == '\r' || c == ' ' || c == 'x';
           });
}

Words words_of(const std::string& bytes, const std::string& file) {
    if (is_hex_text(bytes)) {
        return {file, from_text(bytes)};
    }
    std::vector<std::uint32_t> words(bytes.size() / kWordSize);
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::size_t k = kWordSize; k-- > 0;) {
            words[i] = words[i] << 8 | static_cast<std::uint8_t>(bytes[i * kWordSize + k]);
        }
    }
    return {file, std::move(words)};
}

}  // namespace tilesim::workloads::npu::binary
