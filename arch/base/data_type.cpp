#include "arch/base/data_type.hpp"

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
        case DataType::Bfp16:
            return 9;
    }
    return 0;
}

std::int64_t bytes_of(std::int64_t elements, DataType type) {
    return elements * bits_of(type) / kBitsPerByte;
}

bool is_float(DataType type) {
    return type == DataType::Bf16 || type == DataType::F16 || type == DataType::F32 ||
           type == DataType::Bfp16;
}

const char* name_of(DataType type) {
    return kDataTypes[type].data();
}

}  // namespace tilesim::arch::base
