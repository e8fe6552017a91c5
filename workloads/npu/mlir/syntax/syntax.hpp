// The syntax tree of a design: operations, their bracketed groups, regions and blocks.
//
// The form is the same for every operation: what follows the name is kept as a list of tokens and
// groups, and whoever lowers an operation reads its list (cursor.hpp). That way the spellings of
// several compiler generations need no grammar of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/lexer.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

struct Block;

// A token, a group in brackets (token: the opening one), or a region in braces.
struct Item {
    enum class Kind { Token, Group, Region };
    Kind kind = Kind::Token;
    Token token;
    std::vector<Item> items;    // of a group
    std::vector<Block> blocks;  // of a region

    bool opens(std::string_view bracket) const { return kind == Kind::Group && token.is(bracket); }
    bool is(std::string_view punctuation) const {
        return kind == Kind::Token && token.is(punctuation);
    }
    bool is(TokenKind token_kind) const { return kind == Kind::Token && token.kind == token_kind; }
    bool is_word(std::string_view word) const { return is(TokenKind::Word) && token.text == word; }
};

struct Operation {
    std::vector<std::string> results;  // names without %
    std::string name;                  // "aie.tile"
    Location where;
    std::vector<Item> items;

    // The regions, also those of a list in brackets (aie.dma).
    std::vector<const Item*> regions() const;
    // The value of an attribute: the items after its '='; nothing when it is not there. An
    // attribute without a value is an empty list.
    std::optional<std::vector<Item>> attribute(std::string_view key) const;
};

struct Block {
    std::string label;                   // without ^; empty for an entry block
    std::vector<std::string> arguments;  // names without %
    std::vector<Item> argument_items;    // the same with their types
    std::vector<Operation> operations;
};

inline Item token(TokenKind kind, std::string_view text, Location where) {
    return {Item::Kind::Token, {kind, std::string{text}, where}, {}, {}};
}

// The operations of a file. Throws ReadError.
std::vector<Operation> parse(std::string_view text);

// Calls `visit` for every operation below, regions included, in the order of the text.
template <class Visitor>
void walk(const std::vector<Operation>& operations, const Visitor& visit);
template <class Visitor>
void walk(const Item& region, const Visitor& visit) {
    for (const Block& block : region.blocks) {
        walk(block.operations, visit);
    }
}
template <class Visitor>
void walk(const std::vector<Operation>& operations, const Visitor& visit) {
    for (const Operation& operation : operations) {
        visit(operation);
        for (const Item* region : operation.regions()) {
            walk(*region, visit);
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::syntax
