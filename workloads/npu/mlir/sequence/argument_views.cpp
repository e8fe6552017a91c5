#include "workloads/npu/mlir/sequence/argument_views.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/npu/mlir/syntax/unknown_name.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

void ArgumentViews::get_global(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    const Location where = cursor.where();
    const std::string symbol = cursor.symbol();
    const auto place = lowering_.global_symbols.find(symbol);
    if (place == lowering_.global_symbols.end() || operation.results.size() != 1) {
        throw syntax::unknown_symbol(where, "memref.global", symbol,
                                     syntax::keys_of(lowering_.global_symbols));
    }
    scope.define(operation.results[0], {Value::Kind::Global, place->second});
}

void ArgumentViews::view(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    const std::string source = cursor.peek() != nullptr ? cursor.peek()->token.text : "";
    const std::int64_t buffer = scope.index_of(cursor, Value::Kind::External);
    std::vector<std::int64_t> offsets;
    for (const Item& item : operation.items) {
        if (item.opens("[") && operation.name != "memref.cast") {
            Cursor list(item);
            while (!list.done()) {
                offsets.push_back(scope.integer(list));
                if (list.skip(":")) {  // aiex.arg_slice %a[4:8]: the end of the part
                    scope.integer(list);
                }
                list.skip(",");
            }
            break;
        }
    }
    if (operation.name == "memref.subview") {
        check_steps(operation);
    }
    const bool moved = std::any_of(offsets.begin(), offsets.end(),
                                   [](std::int64_t offset) { return offset != 0; });
    std::vector<std::int64_t> strides(offsets.size(), 1);
    if (moved && offsets.size() > 1) {
        strides = strides_of_source(operation);
    }
    if (strides.size() != offsets.size() || operation.results.size() != 1) {
        throw ReadError(operation.where,
                        fmt::format("{} of several dimensions with an offset needs the "
                                    "sizes or strides of what it views; put the offset into "
                                    "the transfer",
                                    operation.name));
    }
    constexpr std::int64_t kMostOffset = std::int64_t{1} << 40;  // elements
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        std::int64_t step = 0;
        if (__builtin_mul_overflow(offsets[i], strides[i], &step) ||
            __builtin_add_overflow(offset, step, &offset) || offset > kMostOffset ||
            offset < -kMostOffset) {
            throw ReadError(operation.where,
                            fmt::format("an offset is out of range, -{0}..{0}", kMostOffset));
        }
    }
    Value view = *scope.find(source);
    const std::int64_t bits =
        view.element_bits != 0
            ? view.element_bits
            : lowering_.external_types[static_cast<std::size_t>(buffer)].element_bits;
    view.offset_bits += offset * bits;
    check_view(view, operation.where);
    scope.define(operation.results[0], view);
}

// memref.subview %a[offsets] [sizes] [steps]: a view is where it begins, so that what a step leaves
// out would be moved as well. Numbers only the launch knows are taken as they should be.
void ArgumentViews::check_steps(const Operation& operation) {
    std::vector<std::vector<std::int64_t>> lists;
    for (const Item& item : operation.items) {
        if (!item.opens("[")) {
            continue;
        }
        std::vector<std::int64_t>& numbers = lists.emplace_back();
        for (const Item& entry : item.items) {
            if (!entry.is(",")) {
                numbers.push_back(to_integer(entry.token.text).value_or(1));
            }
        }
    }
    constexpr std::size_t kSizes = 1;
    constexpr std::size_t kSteps = 2;
    for (std::size_t i = 0; lists.size() > kSteps && i < lists[kSteps].size(); ++i) {
        const bool several = i < lists[kSizes].size() && lists[kSizes][i] > 1;
        if (several && lists[kSteps][i] != 1) {
            throw ReadError(operation.where, fmt::format("a view in steps of {} is not modelled; "
                                                         "put the step into the transfer",
                                                         lists[kSteps][i]));
        }
    }
}

void ArgumentViews::retyped_view(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    const std::string source = cursor.peek() != nullptr ? cursor.peek()->token.text : "";
    scope.index_of(cursor, Value::Kind::External);
    Cursor shift(cursor.group("["));
    const std::int64_t bytes = scope.integer(shift);
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
    while (!cursor.done() && !cursor.skip_word("to")) {
        cursor.take();
    }
    if (bytes < 0 || bytes > kMostBytes || operation.results.size() != 1) {
        throw ReadError(operation.where,
                        fmt::format("memref.view begins at byte 0..{}, got {}", kMostBytes, bytes));
    }
    Value view = *scope.find(source);
    view.offset_bits += bytes * 8;
    check_view(view, operation.where);
    view.element_bits = read_argument_memref(cursor).element_bits;
    scope.define(operation.results[0], view);
}

void ArgumentViews::check_view(const Value& view, Location where) {
    constexpr std::int64_t kMostBits = std::int64_t{1} << 52;  // of views of views
    if (view.offset_bits > kMostBits || view.offset_bits < -kMostBits) {
        throw ReadError(where, "a view begins too far from its buffer");
    }
}

std::vector<std::int64_t> ArgumentViews::strides_of_source(const Operation& operation) {
    Cursor cursor(operation);
    while (!cursor.done() && !cursor.peek()->is(":")) {
        cursor.take();
    }
    return cursor.skip(":") ? strides_of_memref(cursor) : std::vector<std::int64_t>{};
}

}  // namespace tilesim::workloads::npu::mlir::sequence
