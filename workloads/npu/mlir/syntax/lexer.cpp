#include "workloads/npu/mlir/syntax/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool in_identifier(char c) {
    return is_letter(c) || is_digit(c) || c == '$' || c == '.';
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    std::vector<Token> run() {
        std::vector<Token> tokens;
        do {
            skip_blanks();
            tokens.push_back(next());
        } while (tokens.back().kind != TokenKind::End);
        return tokens;
    }

  private:
    char at(std::size_t ahead = 0) const {
        return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
    }
    bool done() const { return position_ >= text_.size(); }
    Location here() const {
        return {line_, static_cast<std::int32_t>(position_ - line_start_ + 1)};
    }

    void advance() {
        if (text_[position_++] == '\n') {
            ++line_;
            line_start_ = position_;
        }
    }

    void skip_blanks() {
        while (!done()) {
            if (at() == '/' && at(1) == '/') {
                while (!done() && at() != '\n') {
                    advance();
                }
            } else if (at() == ' ' || at() == '\t' || at() == '\r' || at() == '\n') {
                advance();
            } else {
                return;
            }
        }
    }

    template <class Predicate>
    std::string take_while(Predicate holds) {
        std::string taken;
        while (!done() && holds(at())) {
            taken += at();
            advance();
        }
        return taken;
    }

    Token next() {
        const Location where = here();
        if (done()) {
            return {TokenKind::End, "", where};
        }
        const char c = at();
        if (c == '%' || c == '^' || c == '@') {
            return name(where);
        }
        if (c == '"') {
            return {TokenKind::String, string(where), where};
        }
        if (is_digit(c) || (c == '-' && is_digit(at(1)))) {
            return {TokenKind::Number, number(), where};
        }
        const bool prefixed = (c == '#' || c == '!') && is_letter(at(1));
        if (is_letter(c) || prefixed) {
            advance();
            return {TokenKind::Word, c + take_while(in_identifier), where};
        }
        for (const std::string_view two : std::array{"->", "=>", "::", ">=", "<=", "=="}) {
            if (text_.substr(position_).starts_with(two)) {
                advance();
                advance();
                return {TokenKind::Punctuation, std::string{two}, where};
            }
        }
        if (std::string_view{"(){}[]<>,:=+-*?/#!|"}.find(c) == std::string_view::npos) {
            throw ReadError(where,
                            fmt::format("unexpected character '{}'",
                                        c > ' ' && c < 127 ? std::string(1, c)
                                                           : fmt::format("\\x{:02x}", c & 0xff)));
        }
        advance();
        return {TokenKind::Punctuation, std::string(1, c), where};
    }

    // %value (and %value#2), ^block, @symbol and @"any text".
    Token name(Location where) {
        const char prefix = at();
        advance();
        const TokenKind kind = prefix == '%'   ? TokenKind::Value
                               : prefix == '^' ? TokenKind::BlockLabel
                                               : TokenKind::Symbol;
        if (prefix == '@' && at() == '"') {
            return {kind, string(where), where};
        }
        const std::string text = take_while([prefix](char c) {
            return in_identifier(c) || c == '-' || (prefix == '%' && c == '#');
        });
        if (text.empty()) {
            throw ReadError(where, fmt::format("'{}' must be followed by a name", prefix));
        }
        return {kind, text, where};
    }

    std::string string(Location where) {
        advance();
        std::string text;
        while (at() != '"') {
            if (done() || at() == '\n') {
                throw ReadError(where, "this string does not end on its line");
            }
            if (at() == '\\' && at(1) != '\n' && position_ + 1 < text_.size()) {
                advance();
            }
            text += at();
            advance();
        }
        advance();
        return text;
    }

    // Digits and what may follow them: a fraction, an exponent with its sign, a shape's x and type.
    std::string number() {
        std::string text(1, at());
        advance();
        while (!done() && (is_letter(at()) || is_digit(at()) || at() == '.' || at() == '?' ||
                           exponent_sign(text))) {
            text += at();
            advance();
        }
        return text;
    }
    bool exponent_sign(const std::string& before) const {
        return (at() == '+' || at() == '-') && is_digit(at(1)) &&
               (before.back() == 'e' || before.back() == 'E') &&
               before.find('.') != std::string::npos;
    }

    std::string_view text_;
    std::size_t position_ = 0;
    std::int32_t line_ = 1;
    std::size_t line_start_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
    return Lexer(text).run();
}

}  // namespace tilesim::workloads::npu::mlir::syntax
