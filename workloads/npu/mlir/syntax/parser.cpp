// Builds the syntax tree. An operation ends where the next one begins: at an operation's name, a
// result list, a block label or the end of its region.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workloads/npu/mlir/syntax/earlier_spellings.hpp"
#include "workloads/npu/mlir/syntax/generic_form.hpp"
#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr int kMostBrackets = 100;  // of brackets; the deepest public design has 12

class Parser {
  public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
        write_names_as_today(tokens_);
    }

    std::vector<Operation> run() {
        std::vector<Operation> operations;
        while (peek().kind != TokenKind::End) {
            operations.push_back(operation());
        }
        return operations;
    }

  private:
    const Token& peek(std::size_t ahead = 0) const {
        return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
    }
    Token take() {
        Token token = peek();
        position_ += position_ + 1 < tokens_.size() ? 1 : 0;
        return token;
    }

    static bool is_operation_name(const Token& token) {
        if (token.kind != TokenKind::Word || token.text[0] == '#' || token.text[0] == '!') {
            return false;
        }
        return token.text.find('.') != std::string::npos || token.text == "module" ||
               token.text == "return";
    }

    // Tokens of a result list at `from`: "%a, %b:2 =", the '=' included; 0 when there is none.
    std::size_t result_list(std::size_t from) const {
        std::size_t at = from;
        while (peek(at).kind == TokenKind::Value) {
            ++at;
            if (peek(at).is(":") && peek(at + 1).kind == TokenKind::Number) {
                at += 2;
            }
            if (peek(at).is("=")) {
                return at + 1 - from;
            }
            if (!peek(at).is(",")) {
                return 0;
            }
            ++at;
        }
        return 0;
    }

    Operation operation() {
        Operation op;
        op.where = peek().where;
        for (std::size_t left = result_list(0); left > 0; --left) {
            Token token = take();
            if (token.kind == TokenKind::Value) {
                op.results.push_back(std::move(token.text));
            }
        }
        const Token name = take();
        if (name.kind == TokenKind::String && peek().is("(")) {
            constexpr std::string_view kBuiltin = "builtin.";
            op.name = name.text.substr(name.text.starts_with(kBuiltin) ? kBuiltin.size() : 0);
            while (!ends_operation(op)) {
                op.items.push_back(item());
            }
            drop_location(op.items);
            op.items = own_form(op, generic_parts(std::move(op.items)));
            return op;
        }
        const bool alias = name.kind == TokenKind::Word &&
                           (name.text[0] == '#' || name.text[0] == '!') && peek().is("=");
        if (!alias && !is_operation_name(name)) {
            throw ReadError(name.where, fmt::format("expected an operation, found {}",
                                                    name.kind == TokenKind::End
                                                        ? "the end of the file"
                                                        : fmt::format("'{}'", name.text)));
        }
        op.name = name.text;
        while (!ends_operation(op)) {
            const bool range = !op.items.empty() && op.items.back().is_word("partition");
            op.items.push_back(range && peek().is("[") ? bracketed(")") : item());  // [0, 16)
        }
        drop_location(op.items);
        earlier_.write_as_today(op);
        return op;
    }

    // loc(#loc12), loc("a.py":3:5): where the compiler had the operation from.
    static void drop_location(std::vector<Item>& items) {
        const std::size_t count = items.size();
        if (count > 1 && items[count - 2].is_word("loc") && items[count - 1].opens("(")) {
            items.resize(count - 2);
        }
    }

    // Whether what comes next is no more part of the operation, as far as it has been read.
    bool ends_operation(const Operation& op) const {
        const Token& token = peek();
        if (token.kind == TokenKind::End || token.is("}") || is_operation_name(token)) {
            return true;
        }
        const bool first = op.items.empty();
        if ((!first && op.items.back().is(",")) || (first && op.name.ends_with("for"))) {
            return false;  // an operand after a comma; scf.for %i = ...
        }
        if (token.kind == TokenKind::BlockLabel) {
            const bool argument = first && op.name != "aie.end";  // cf.br ^bb1(%x : index)
            return peek(1).is(":") || (peek(1).is("(") && !argument);
        }
        if (token.kind == TokenKind::String) {
            return !first && peek(1).is("(");
        }
        const bool alias = token.kind == TokenKind::Word &&
                           (token.text[0] == '#' || token.text[0] == '!') && peek(1).is("=");
        return alias || result_list(0) > 0;
    }

    Item item() {
        static constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {
            {"(", ")"}, {"[", "]"}, {"<", ">"}, {"{", "}"}};
        for (const auto& [open, close] : kBrackets) {
            if (peek().is(open)) {
                return bracketed(close);
            }
            if (peek().is(close)) {
                throw ReadError(peek().where, fmt::format("'{}' closes nothing", close));
            }
        }
        if (peek().kind == TokenKind::End) {
            throw ReadError(peek().where, "the file ends inside an operation");
        }
        return {Item::Kind::Token, take(), {}, {}};
    }

    Item bracketed(std::string_view close) {
        if (++depth_ > kMostBrackets) {
            throw ReadError(peek().where, "brackets are nested too deeply");
        }
        Item group{Item::Kind::Group, take(), {}, {}};
        if (close == "}" && begins_region()) {
            group.kind = Item::Kind::Region;
            region(group);
        }
        while (!peek().is(close)) {
            if (peek().kind == TokenKind::End) {
                throw ReadError(group.token.where,
                                fmt::format("'{}' is not closed", group.token.text));
            }
            group.items.push_back(item());
        }
        take();
        --depth_;
        return group;
    }

    // After '{': a region begins with an operation, a result list or a label; a dictionary with a
    // key; a set with an operand. Empty braces count as a region.
    bool begins_region() const {
        const Token& token = peek();
        if (token.kind == TokenKind::BlockLabel || token.is("}") || result_list(0) > 0) {
            return true;
        }
        if (token.kind == TokenKind::String) {
            return peek(1).is("(");
        }
        return is_operation_name(token) && !peek(1).is("=") && !peek(1).is(",") &&
               !(peek(1).is("}") && token.text.starts_with("aie.") && token.text != "aie.end");
    }

    void region(Item& group) {
        group.blocks.emplace_back();
        while (!peek().is("}") && peek().kind != TokenKind::End) {
            if (peek().kind == TokenKind::BlockLabel) {
                label(group);
            } else {
                group.blocks.back().operations.push_back(operation());
            }
        }
        if (group.blocks.front().label.empty() && group.blocks.front().operations.empty() &&
            group.blocks.size() > 1) {
            group.blocks.erase(group.blocks.begin());
        }
    }

    void label(Item& group) {
        const Token name = take();
        group.blocks.push_back({name.text, {}, {}, {}});
        if (peek().is("(")) {
            Item arguments = item();
            for (const Item& each : arguments.items) {
                if (each.is(TokenKind::Value)) {
                    group.blocks.back().arguments.push_back(each.token.text);
                }
            }
            group.blocks.back().argument_items = std::move(arguments.items);
        }
        if (!take().is(":")) {
            throw ReadError(name.where, fmt::format("block ^{} lacks its ':'", name.text));
        }
    }

    std::vector<Token> tokens_;
    std::size_t position_ = 0;
    int depth_ = 0;
    EarlierForms earlier_;
};

void collect_regions(const std::vector<Item>& items, std::vector<const Item*>& regions) {
    for (const Item& item : items) {
        if (item.kind == Item::Kind::Region) {
            regions.push_back(&item);
        } else if (item.opens("[") || item.opens("(")) {
            collect_regions(item.items, regions);
        }
    }
}

}  // namespace

std::vector<const Item*> Operation::regions() const {
    std::vector<const Item*> regions;
    collect_regions(items, regions);
    return regions;
}

std::optional<std::vector<Item>> Operation::attribute(std::string_view key) const {
    for (const Item& group : items) {
        if (!group.opens("{")) {
            continue;
        }
        for (std::size_t i = 0; i < group.items.size(); ++i) {
            const bool begins = i == 0 || group.items[i - 1].is(",");
            const Token& token = group.items[i].token;
            if (!begins || group.items[i].kind != Item::Kind::Token || token.text != key) {
                continue;
            }
            std::vector<Item> value;
            const bool stated = i + 1 < group.items.size() && group.items[i + 1].is("=");
            for (std::size_t k = i + 2; stated && k < group.items.size() && !group.items[k].is(",");
                 ++k) {
                value.push_back(group.items[k]);
            }
            return value;
        }
    }
    return std::nullopt;
}

std::vector<Operation> parse(std::string_view text) {
    return Parser(tokens_of(text)).run();
}

}  // namespace tilesim::workloads::npu::mlir::syntax
