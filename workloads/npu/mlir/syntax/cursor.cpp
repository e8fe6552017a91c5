#include "workloads/npu/mlir/syntax/cursor.hpp"

#include <fmt/format.h>

#include <charconv>

namespace tilesim::workloads::npu::mlir::syntax {

const Item& Cursor::take() {
    if (done()) {
        fail("more");
    }
    return items_[next_++];
}

bool Cursor::skip(std::string_view punctuation) {
    const bool found = !done() && items_[next_].is(punctuation);
    next_ += found ? 1 : 0;
    return found;
}

bool Cursor::skip_word(std::string_view word) {
    const bool found = !done() && items_[next_].is_word(word);
    next_ += found ? 1 : 0;
    return found;
}

void Cursor::expect(std::string_view punctuation) {
    if (!skip(punctuation)) {
        fail(fmt::format("'{}'", punctuation));
    }
}

const Item& Cursor::group(std::string_view bracket) {
    if (done() || !items_[next_].opens(bracket)) {
        fail(fmt::format("'{}'", bracket));
    }
    return take();
}

std::string Cursor::value() {
    if (done() || !items_[next_].is(TokenKind::Value)) {
        fail("a %value");
    }
    return take().token.text;
}

std::string Cursor::symbol() {
    if (done() || !items_[next_].is(TokenKind::Symbol)) {
        fail("a @symbol");
    }
    return take().token.text;
}

std::string Cursor::word() {
    if (done() || (!items_[next_].is(TokenKind::Word) && !items_[next_].is(TokenKind::String))) {
        fail("a word");
    }
    return take().token.text;
}

std::int64_t Cursor::integer() {
    const auto number = !done() && items_[next_].is(TokenKind::Number)
                            ? to_integer(items_[next_].token.text)
                            : std::nullopt;
    if (!number) {
        fail("an integer");
    }
    ++next_;
    return *number;
}

void Cursor::fail(const std::string& expected) const {
    throw ReadError(where(), fmt::format("expected {}, found {}", expected,
                                         done() ? "the end of the operation" : described(*peek())));
}

std::optional<std::int64_t> to_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const std::string_view digits = text.substr(hexadecimal ? 2 : negative ? 1 : 0);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number,
                                              hexadecimal ? 16 : 10);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    return negative ? -number : number;
}

std::string described(const Item& item) {
    static constexpr std::string_view kPrefixes[] = {"", "%", "^", "@"};
    const auto kind = static_cast<std::size_t>(item.token.kind);
    return fmt::format("'{}{}'", kind < std::size(kPrefixes) ? kPrefixes[kind] : "",
                       item.token.text);
}

}  // namespace tilesim::workloads::npu::mlir::syntax
