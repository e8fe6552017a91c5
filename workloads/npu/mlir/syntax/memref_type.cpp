#include "workloads/npu/mlir/syntax/memref_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

void flatten(const Item& item, std::string& text) {
    text += item.token.text;
    for (const Item& inner : item.items) {
        flatten(inner, text);
    }
    if (item.kind == Item::Kind::Group) {
        text += item.token.is("<") ? ">" : "]";
    }
}

}  // namespace

namespace {

// !aiex.bfp<"v16bfp16ebs16">: as many values of eight bits, and a byte for each block of so many.
std::optional<std::int64_t> bits_of_block_float(std::string_view name) {
    constexpr std::string_view kBegin = "!aiex.bfp<v";
    constexpr std::string_view kMiddle = "bfp16ebs";
    const std::size_t middle = name.find(kMiddle);
    if (!name.starts_with(kBegin) || !name.ends_with('>') || middle == name.npos) {
        return std::nullopt;
    }
    const std::size_t from = middle + kMiddle.size();
    const auto values = to_integer(name.substr(kBegin.size(), middle - kBegin.size()));
    const auto block = to_integer(name.substr(from, name.size() - 1 - from));
    constexpr std::int64_t kMost = 256;
    if (!values || !block || *block < 1 || *values < *block || *values > kMost ||
        *values % *block != 0) {
        return std::nullopt;
    }
    return 8 * (*values + *values / *block);
}

}  // namespace

std::optional<std::int64_t> bits_of_type(std::string_view name) {
    if (const auto bits = bits_of_block_float(name)) {
        return bits;
    }
    if (name == "index") {
        return 32;
    }
    const std::string_view digits =
        name.substr(std::min(name.find_first_of("0123456789"), name.size()));
    const std::string_view prefix = name.substr(0, name.size() - digits.size());
    const auto bits = to_integer(digits);
    const bool known =
        prefix == "i" || prefix == "ui" || prefix == "si" || prefix == "f" || prefix == "bf";
    return known && bits && *bits >= 1 && *bits <= 1024 ? bits : std::nullopt;
}

namespace {

MemrefType read_type(Cursor& cursor, bool may_lack_sizes) {
    if (!cursor.skip_word("memref")) {
        cursor.fail("memref<...>");
    }
    const Item& group = cursor.group("<");
    std::string
        text;  // "64x32xi8": shape and element type, which older printers separate by blanks
    for (const Item& item : group.items) {
        if (item.is(",")) {
            break;
        }
        flatten(item, text);
    }
    MemrefType type;
    std::string_view rest = text;
    if (may_lack_sizes && rest.starts_with("*x")) {
        type.sized = false;
        rest.remove_prefix(2);
    }
    for (std::size_t x = rest.find('x');
         x != std::string_view::npos &&
         (rest.find_first_not_of("0123456789") == x || (may_lack_sizes && rest.starts_with("?x")));
         x = rest.find('x')) {
        if (rest.front() == '?') {
            type.sized = false;
            rest.remove_prefix(x + 1);
            continue;
        }
        const auto size = to_integer(rest.substr(0, x));
        if (!size || *size < 1 || type.elements > kMostElements / *size) {
            throw ReadError(group.token.where,
                            fmt::format("memref<{}>: no size of a buffer", text));
        }
        type.elements *= *size;
        rest.remove_prefix(x + 1);
    }
    const auto bits = bits_of_type(rest);
    if (!bits) {
        throw ReadError(group.token.where,
                        fmt::format("memref<{}>: '{}' is no element type with a known size; known "
                                    "are i8, i16, i32, bf16, f32 and the like",
                                    text, rest));
    }
    type.element_bits = *bits;
    type.element = rest;
    return type;
}

}  // namespace

namespace {

// 4x64xi32: nothing where a size is not known.
std::vector<std::int64_t> sizes_in(std::string_view text) {
    std::vector<std::int64_t> sizes;
    for (std::size_t x = text.find('x'); x != std::string_view::npos; x = text.find('x')) {
        const auto size = to_integer(text.substr(0, x));
        if (!size || *size < 1 || *size > kMostElements) {
            break;
        }
        sizes.push_back(*size);
        text.remove_prefix(x + 1);
    }
    return bits_of_type(text) ? sizes : std::vector<std::int64_t>{};
}

// strided<[256, 1], offset: 1024>: nothing where a stride is not known.
std::vector<std::int64_t> stated_strides(Cursor& layout) {
    std::vector<std::int64_t> strides;
    Cursor list(Cursor(layout.group("<")).group("["));
    while (!list.done()) {
        if (list.peek()->is("?")) {
            return {};
        }
        strides.push_back(list.integer());
        list.skip(",");
    }
    return strides;
}

}  // namespace

std::vector<std::int64_t> strides_of_memref(Cursor& cursor) {
    if (cursor.done() || !cursor.skip_word("memref") || cursor.done() ||
        !cursor.peek()->opens("<")) {
        return {};
    }
    Cursor inside(cursor.group("<"));
    std::string text;
    while (!inside.done() && !inside.peek()->is(",")) {
        flatten(inside.take(), text);
    }
    while (inside.skip(",")) {
        if (inside.skip_word("strided")) {
            return stated_strides(inside);
        }
        if (inside.done() || !inside.peek()->is(TokenKind::Number)) {
            return {};  // a map of its own; a number is a memory space
        }
        inside.take();
    }
    std::vector<std::int64_t> strides = sizes_in(text);
    std::int64_t stride = 1;
    for (auto size = strides.rbegin(); size != strides.rend(); ++size) {
        stride *= std::exchange(*size, stride);
        stride = std::min(stride, kMostElements);
    }
    return strides;
}

MemrefType read_memref(Cursor& cursor) {
    return read_type(cursor, false);
}
MemrefType read_argument_memref(Cursor& cursor) {
    return read_type(cursor, true);
}

std::string flat_memref(const MemrefType& type) {
    return fmt::format("memref<{}xi{}>", type.elements, type.element_bits);
}

}  // namespace tilesim::workloads::npu::mlir::syntax
