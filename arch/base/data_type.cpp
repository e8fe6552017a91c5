#include "arch/base/data_type.hpp"

#include <bit>

namespace tilesim::arch::base {

std::int64_t bits_of(DataType type) {
    switch (type) {
        case DataType::Int4:
            return 4;
        case DataType::Int8:
            return 8;
        case DataType::Int16:
        case DataType::Bf16:
        case DataType::F16:
            return 16;
        case DataType::Int32:
        case DataType::F32:
            return 32;
    }
    return 0;
}

bool is_float(DataType type) {
    return type == DataType::Bf16 || type == DataType::F16 || type == DataType::F32;
}

const char* name_of(DataType type) {
    for (const auto& [name, value] : kDataTypes) {
        if (value == type) {
            return name.data();
        }
    }
    return "";
}

float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t half = 0x7FFFU + ((bits >> 16U) & 1U);
    return static_cast<std::uint16_t>((bits + half) >> 16U);
}

}  // namespace tilesim::arch::base
