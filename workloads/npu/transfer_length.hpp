// Lengths of transfers, in the words streams and descriptors count.
#pragma once

#include <cstdint>

#include "arch/base/units.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu {

// Words that hold so many bytes.
inline std::int64_t words_for(std::int64_t bytes) {
    return arch::base::ceil_div(bytes, arch::npu::kWordBytes);
}

// Words of elements that fill them; the last one's rest is dropped.
inline std::int64_t whole_words(std::int64_t elements, arch::npu::DataType type) {
    return bytes_of(elements, type) / arch::npu::kWordBytes;
}

// The most words that a descriptor's length field can state.
inline std::int64_t longest_transfer(const arch::npu::DmaConfig& dma) {
    return (std::int64_t{1} << dma.length_bits) - 1;
}

}  // namespace tilesim::workloads::npu
