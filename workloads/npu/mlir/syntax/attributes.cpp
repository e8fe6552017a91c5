#include "workloads/npu/mlir/syntax/attributes.hpp"

#include <fmt/format.h>

#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

const Item& region_of(const Operation& operation) {
    const auto regions = operation.regions();
    if (regions.empty()) {
        throw ReadError(operation.where, fmt::format("{} needs a region", operation.name));
    }
    return *regions.front();
}

std::optional<std::int64_t> integer_attribute(const Operation& operation, std::string_view key) {
    const auto items = operation.attribute(key);
    if (!items) {
        return std::nullopt;
    }
    return Cursor(*items, operation.where).integer();
}

std::vector<std::int64_t> integers_attribute(const Operation& operation, std::string_view key) {
    std::vector<std::int64_t> numbers;
    const auto value = operation.attribute(key);
    for (const Item& item : value.value_or(std::vector<Item>{})) {
        for (const Item& inner : item.items) {
            if (inner.is(TokenKind::Number)) {
                numbers.push_back(to_integer(inner.token.text).value_or(0));
            }
        }
    }
    return numbers;
}

std::string symbol_of(const Operation& operation) {
    for (const Item& item : operation.items) {
        if (item.is(TokenKind::Symbol)) {
            return item.token.text;
        }
    }
    return text_attribute(operation, "sym_name");
}

bool is_true(const Operation& operation, std::string_view key) {
    const auto value = operation.attribute(key);
    return value && (value->empty() || !value->front().is_word("false"));
}

bool is_out_of_order(const Operation& operation) {
    return is_true(operation, "out_of_order") || is_true(operation, "enable_out_of_order");
}

std::string text_attribute(const Operation& operation, std::string_view key) {
    const auto items = operation.attribute(key);
    return items && !items->empty() && items->front().kind == Item::Kind::Token
               ? items->front().token.text
               : "";
}

}  // namespace tilesim::workloads::npu::mlir::syntax
