#include "workloads/npu/mlir/syntax/dense_words.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "arch/base/data_type.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::size_t kDenseWordBytes = 4;
constexpr std::int64_t kDenseByteBits = 8;
constexpr std::int64_t kMostDense = 1 << 24;  // of memories there are

// Numbers in the order of memory, however deep they are listed.
void flatten(const Item& item, std::vector<const Token*>& numbers) {
    if (item.kind == Item::Kind::Token && !item.is(",")) {
        numbers.push_back(&item.token);
    }
    for (const Item& inner : item.items) {
        flatten(inner, numbers);
    }
}

std::optional<std::uint64_t> bits_of(const Token& token, const MemrefType& type) {
    if (token.text == "true" || token.text == "false") {
        return token.text == "true" ? 1 : 0;
    }
    if (token.kind != TokenKind::Number) {
        return std::nullopt;
    }
    if (const auto number = to_integer(token.text)) {
        return static_cast<std::uint64_t>(*number);
    }
    char* end = nullptr;
    const double value = std::strtod(token.text.c_str(), &end);
    if (end != token.text.c_str() + token.text.size()) {
        return std::nullopt;
    }
    if (type.element == "f32") {
        return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    if (type.element == "f64") {
        return std::bit_cast<std::uint64_t>(value);
    }
    if (type.element == "bf16") {
        return arch::base::to_bf16(static_cast<float>(value));
    }
    return std::nullopt;
}

// "0x0100ff00": the bytes in the order of memory.
std::optional<std::vector<std::uint8_t>> bytes_in(std::string_view text) {
    constexpr std::size_t kDigits = 2;
    if (!text.starts_with("0x") || text.size() % kDigits != 0) {
        return std::nullopt;
    }
    std::vector<std::uint8_t> bytes;
    for (std::size_t at = kDigits; at < text.size(); at += kDigits) {
        const auto byte = to_integer("0x" + std::string{text.substr(at, kDigits)});
        if (!byte) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<std::uint8_t>(*byte));
    }
    return bytes;
}

std::optional<std::vector<std::uint8_t>> bytes_of(const std::vector<const Token*>& numbers,
                                                  const MemrefType& type) {
    if (numbers.size() == 1 && numbers.front()->text.starts_with("0x") &&
        numbers.front()->kind != TokenKind::Number) {
        return bytes_in(numbers.front()->text);
    }
    std::vector<std::uint8_t> bytes;
    for (const Token* const number : numbers) {
        const auto bits = bits_of(*number, type);
        if (!bits) {
            return std::nullopt;
        }
        for (std::int64_t shift = 0; shift < type.element_bits; shift += kDenseByteBits) {
            bytes.push_back(static_cast<std::uint8_t>(*bits >> shift));
        }
    }
    return bytes;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> dense_words(const Item& value, const MemrefType& type) {
    constexpr std::int64_t kMostBits = 64;
    if (type.element_bits % kDenseByteBits != 0 || type.element_bits > kMostBits ||
        type.elements > kMostDense) {
        return std::nullopt;
    }
    std::vector<const Token*> numbers;
    flatten(value, numbers);
    const auto stated = bytes_of(numbers, type);
    const auto element = static_cast<std::size_t>(type.element_bits / kDenseByteBits);
    const auto all = static_cast<std::size_t>(type.bytes());
    if (!stated || (stated->size() != element && stated->size() != all)) {
        return std::nullopt;
    }
    std::vector<std::uint32_t> words((all + kDenseWordBytes - 1) / kDenseWordBytes, 0);
    for (std::size_t i = 0; i < all; ++i) {
        words[i / kDenseWordBytes] |= static_cast<std::uint32_t>((*stated)[i % stated->size()])
                                      << (i % kDenseWordBytes * kDenseByteBits);
    }
    return words;
}

const Item* dense_value(const std::vector<Item>& items) {
    const Item* value = nullptr;
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
        value = items[i].is_word("dense") && items[i + 1].opens("<") ? &items[i + 1] : value;
    }
    return value;
}

}  // namespace tilesim::workloads::npu::mlir::syntax
