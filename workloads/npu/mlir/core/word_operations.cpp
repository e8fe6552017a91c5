#include "workloads/npu/mlir/core/word_operations.hpp"

#include <algorithm>

#include "workloads/npu/mlir/syntax/memref_type.hpp"

namespace tilesim::workloads::npu::mlir::core {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool loads(const Operation& operation) {
    return is_one_of(operation.name,
                     {"memref.load", "affine.load", "vector.load", "vector.transfer_read"});
}

bool stores(const Operation& operation) {
    return is_one_of(operation.name,
                     {"memref.store", "affine.store", "vector.store", "vector.transfer_write"});
}

bool gets(const Operation& operation) {
    return is_one_of(operation.name, {"aie.get_stream", "aie.get_cascade"});
}

bool keeps_bits(const Operation& operation) {
    return is_one_of(operation.name, {"arith.bitcast", "vector.bitcast", "vector.shape_cast",
                                      "builtin.unrealized_conversion_cast", "arith.index_cast",
                                      "arith.index_castui"});
}

bool keeps_place(const Operation& operation) {
    return is_one_of(operation.name, {"memref.assume_alignment", "memref.collapse_shape",
                                      "memref.expand_shape", "memref.cast"});
}

std::optional<Access> access_of(const Operation& operation) {
    Access access;
    const auto& items = operation.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (access.buffer.empty() && i + 1 < items.size() && items[i].is(TokenKind::Value) &&
            items[i + 1].opens("[")) {
            access.buffer = items[i].token.text;
            for (const Item& index : items[i + 1].items) {
                if (!index.is(",")) {
                    access.indices.push_back(index);
                }
            }
        } else if (items[i].is_word("memref")) {
            const std::vector<Item> type(items.begin() + static_cast<std::ptrdiff_t>(i),
                                         items.end());
            Cursor bits(type, operation.where);
            access.element_bits = syntax::read_memref(bits).element_bits;
            Cursor layout(type, operation.where);
            access.strides = syntax::strides_of_memref(layout);
            break;
        }
    }
    const bool whole = !access.buffer.empty() && access.element_bits > 0 &&
                       access.strides.size() == access.indices.size();
    return whole ? std::optional{access} : std::nullopt;
}

std::string put_value(const Operation& operation) {
    std::string name;
    for (const Item& item : operation.items) {
        if (item.opens("(")) {
            for (const Item& inner : item.items) {
                name = inner.is(TokenKind::Value) ? inner.token.text : name;
            }
            break;
        }
    }
    return name;
}

std::string first_value(const Operation& operation) {
    const auto place = std::find_if(operation.items.begin(), operation.items.end(),
                                    [](const Item& item) { return item.is(TokenKind::Value); });
    return place == operation.items.end() ? "" : place->token.text;
}

}  // namespace tilesim::workloads::npu::mlir::core
