// The element types of operands and results.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "arch/base/name_table.hpp"

namespace tilesim::arch::base {

// Bfp16: 8-bit mantissas, each eight of which share an 8-bit exponent: nine bits an element.
enum class DataType { Int4, Int8, Int16, Int32, Bf16, F16, F32, Bfp16 };
// The names of the types in files and results.
inline constexpr NameTable<DataType> kDataTypes{{
    {"int4", DataType::Int4},
    {"int8", DataType::Int8},
    {"int16", DataType::Int16},
    {"int32", DataType::Int32},
    {"bf16", DataType::Bf16},
    {"f16", DataType::F16},
    {"f32", DataType::F32},
    {"bfp16", DataType::Bfp16},
}};
inline constexpr std::int64_t kBitsPerByte = 8;
std::int64_t bits_of(DataType type);
// Of whole bytes: what is left of a last byte is not counted.
std::int64_t bytes_of(std::int64_t elements, DataType type);
bool is_float(DataType type);
const char* name_of(DataType type);

// f32 and bf16 (upper half of an f32), rounding to nearest even.
inline float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}
inline std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t half = 0x7FFFU + ((bits >> 16U) & 1U);
    return static_cast<std::uint16_t>((bits + half) >> 16U);
}

}  // namespace tilesim::arch::base
