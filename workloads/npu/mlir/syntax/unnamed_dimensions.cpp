#include "workloads/npu/mlir/syntax/unnamed_dimensions.hpp"

#include <cstddef>

#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::int64_t kMostProduct = std::int64_t{1} << 40;

// The product of the first or second numbers of [<2, 4>, <8, 1>].
std::int64_t product(const Item& list, std::size_t which) {
    std::int64_t result = 1;
    for (const Item& entry : list.items) {
        if (entry.opens("<") && entry.items.size() == 3) {
            const auto number = to_integer(entry.items[which == 0 ? 0 : 2].token.text).value_or(0);
            result = number > 0 && number < kMostProduct / result ? result * number : kMostProduct;
        }
    }
    return result;
}

}  // namespace

void name_dimensions(Item& list, std::int64_t length) {
    const bool stride_first = product(list, 0) != length && product(list, 1) == length;
    for (Item& entry : list.items) {
        if (entry.opens("<") && entry.items.size() == 3) {
            const Location where = entry.token.where;
            entry.items = {
                token(TokenKind::Word, "size", where),   token(TokenKind::Punctuation, "=", where),
                entry.items[stride_first ? 2 : 0],       token(TokenKind::Punctuation, ",", where),
                token(TokenKind::Word, "stride", where), token(TokenKind::Punctuation, "=", where),
                entry.items[stride_first ? 0 : 2]};
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::syntax
