#include "workloads/npu/mlir/control_flow/flat_builder.hpp"

#include <utility>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::ReadError;
using syntax::token;
using syntax::TokenKind;

std::size_t FlatBuilder::add_block(std::string label, Location where) {
    FlatBlock block;
    block.label = std::move(label);
    block.where = where;
    blocks_.push_back(std::move(block));
    return blocks_.size() - 1;
}

std::string FlatBuilder::defined(const std::string& name) {
    if (depth_ <= 1) {
        return name;
    }
    return renamed_[name] = fresh(name);
}

std::string FlatBuilder::used(const std::string& name) const {
    const auto place = renamed_.find(name);
    return place == renamed_.end() ? name : place->second;
}

void FlatBuilder::rename(std::vector<Item>& items) const {
    for (Item& item : items) {
        if (item.is(TokenKind::Value)) {
            item.token.text = used(item.token.text);
        }
        rename(item.items);
    }
}

void FlatBuilder::copy(const Operation& operation) {
    Operation renamed = operation;
    rename(renamed.items);
    for (std::string& result : renamed.results) {
        result = defined(result);
    }
    current().operations.push_back(std::move(renamed));
}

Jump FlatBuilder::jump(Cursor& cursor) {
    if (cursor.done() || !cursor.peek()->is(TokenKind::BlockLabel)) {
        cursor.fail("a ^block");
    }
    const Item& label = cursor.take();
    const auto place = labels_.find(label.token.text);
    if (place == labels_.end()) {
        throw ReadError(label.token.where, fmt::format("there is no block ^{}", label.token.text));
    }
    Jump jump{place->second, {}};
    if (!cursor.done() && cursor.peek()->opens("(")) {
        jump.operands = values(cursor.take());
    }
    check_operands(jump, blocks_[jump.to].arguments.size(), label.token.where);
    return jump;
}

void FlatBuilder::check_operands(const Jump& jump, std::size_t arguments, Location where) {
    if (jump.operands.size() != arguments) {
        throw ReadError(where, fmt::format("this block takes {} arguments, given are {}", arguments,
                                           jump.operands.size()));
    }
}

FlatBuilder::Names FlatBuilder::values(const Item& group) const {
    Names names;
    for (const Item& item : group.items) {
        if (item.is(":")) {
            break;
        }
        if (item.is(TokenKind::Value)) {
            names.push_back(used(item.token.text));
        }
    }
    return names;
}

FlatBuilder::Names FlatBuilder::operands(const Operation& operation) const {
    Names names;
    for (const Item& item : operation.items) {
        if (item.is(":")) {
            break;
        }
        if (item.is(TokenKind::Value)) {
            names.push_back(used(item.token.text));
        }
    }
    return names;
}

void FlatBuilder::terminator(const Operation& operation) {
    FlatBlock& block = current();
    block.where = operation.where;
    Cursor cursor(operation);
    if (operation.name == "cf.br") {
        block.jumps = {jump(cursor)};
        return;
    }
    block.condition = used(cursor.value());
    while (!cursor.done() && !cursor.peek()->is(TokenKind::BlockLabel) &&
           !cursor.peek()->opens("[")) {
        cursor.take();  // a type, weights
    }
    if (operation.name == "cf.cond_br") {
        Jump taken = jump(cursor);
        cursor.expect(",");
        block.jumps = {std::move(taken), jump(cursor)};
        return;
    }
    Cursor list(cursor.group("["));
    while (!list.done()) {
        const bool is_default = list.skip_word("default");
        const std::int64_t value = is_default ? 0 : list.integer();
        list.expect(":");
        Jump target = jump(list);
        if (is_default) {
            block.jumps.insert(block.jumps.begin(), std::move(target));
        } else {
            block.cases.push_back(value);
            block.jumps.push_back(std::move(target));
        }
        list.skip(",");
    }
    if (block.jumps.size() != block.cases.size() + 1) {
        throw ReadError(operation.where, "a switch needs one default");
    }
}

void FlatBuilder::name_results(const Operation& operation, const Names& values) {
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
        const std::string& name = operation.results[i];
        if (operation.results.size() == 1 && values.size() > 1) {
            for (std::size_t k = 0; k < values.size(); ++k) {  // %r:2 = ..., used as %r#0
                renamed_[fmt::format("{}#{}", name, k)] = values[k];
            }
        }
        renamed_[name] = i < values.size() ? values[i] : std::string{kUnknown};
    }
}

std::string FlatBuilder::constant(const std::string& number, Location where) {
    std::string name = fresh("constant");
    current().operations.push_back(
        {{name}, "arith.constant", where, {token(TokenKind::Number, number, where)}});
    return name;
}

std::string FlatBuilder::operate(const char* name, Location where, std::vector<Item> items) {
    std::string result = fresh("value");
    current().operations.push_back({{result}, name, where, std::move(items)});
    return result;
}

}  // namespace tilesim::workloads::npu::mlir::control_flow
