#include "arch/npu/core_stream.hpp"

#include <cstring>

namespace tilesim::arch::npu {

void CoreOutput::read_words(std::int64_t words, std::vector<std::uint32_t>& into) {
    const std::size_t bytes = static_cast<std::size_t>(words) * sizeof(std::uint32_t);
    const std::size_t at = into.size();
    into.resize(at + static_cast<std::size_t>(words));
    std::memcpy(into.data() + at, left_.data(), bytes);
    left_ = left_.subspan(bytes);
}

}  // namespace tilesim::arch::npu
