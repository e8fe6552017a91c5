// The parts of an operation in generic form.
#include <algorithm>
#include <iterator>
#include <utility>

#include "workloads/npu/mlir/syntax/generic_form.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

GenericParts generic_parts(std::vector<Item> items) {
    GenericParts parts;
    bool first = true;
    bool types = false;
    for (Item& item : items) {
        if (types) {
            parts.types.push_back(std::move(item));
        } else if (item.is(":")) {
            types = true;
        } else if (item.opens("(") && first) {
            first = false;
            for (Item& each : item.items) {
                if (each.is(TokenKind::Value)) {
                    parts.operands.push_back(std::move(each));
                }
            }
        } else if (item.opens("(")) {
            for (Item& each : item.items) {
                if (each.kind == Item::Kind::Region) {
                    parts.regions.push_back(std::move(each));
                }
            }
        } else if (item.opens("[")) {
            for (Item& each : item.items) {
                if (each.is(TokenKind::BlockLabel)) {
                    parts.successors.push_back(std::move(each));
                }
            }
        } else if (item.opens("<") || item.opens("{")) {
            std::vector<Item>& inside =
                item.opens("<") && !item.items.empty() ? item.items.front().items : item.items;
            if (!parts.properties.empty() && !inside.empty()) {
                parts.properties.push_back(token(TokenKind::Punctuation, ",", item.token.where));
            }
            std::move(inside.begin(), inside.end(), std::back_inserter(parts.properties));
        } else if (item.kind == Item::Kind::Region) {
            continue;  // empty braces: no attributes
        }
    }
    return parts;
}

}  // namespace tilesim::workloads::npu::mlir::syntax
