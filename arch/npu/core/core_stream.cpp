#include "arch/npu/core/core_stream.hpp"

#include <cstring>

namespace tilesim::arch::npu::core {

void CoreOutput::read_words(std::span<std::uint32_t> into) {
    std::memcpy(into.data(), left_.data(), into.size_bytes());
    left_ = left_.subspan(into.size_bytes());
}

}  // namespace tilesim::arch::npu::core
