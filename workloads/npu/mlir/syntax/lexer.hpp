// Cuts MLIR text into tokens.
//
// Source:  the MLIR language reference (identifiers, literals, comments).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/location.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

enum class TokenKind {
    Word,         // bare identifier or keyword, dots included: aie.tile, South, #aie.packet_info
    Value,        // %name, kept without the %
    BlockLabel,   // ^name, kept without the ^
    Symbol,       // @name, kept without the @
    Number,       // 12, -3, 0x1F, 1.5, and shapes: 16x16xi32
    String,       // kept without the quotes
    Punctuation,  // one character, or ->, ::, >=, <=, ==
    End
};

struct Token {
    TokenKind kind = TokenKind::End;
    std::string text;
    Location where;

    bool is(std::string_view punctuation) const {
        return kind == TokenKind::Punctuation && text == punctuation;
    }
};

// The text's tokens, the last of kind End. Throws ReadError at a character that cannot begin one.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace tilesim::workloads::npu::mlir::syntax
