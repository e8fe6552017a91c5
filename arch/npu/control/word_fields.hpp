// Fields of 32-bit words: read and written by where they lie (register_layout.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "arch/npu/control/register_layout.hpp"

namespace tilesim::arch::npu::control {

// Bits `high` to `low` of a word, both included.
inline std::uint32_t field_mask(int high, int low) {
    return high - low == 31 ? ~0U : (1U << (high - low + 1)) - 1U;
}
inline std::int64_t bits(std::uint32_t word, int high, int low) {
    return (word >> low) & field_mask(high, low);
}
// A word with nothing but this value there; what does not fit is cut off.
inline std::uint32_t field(std::int64_t value, int high, int low) {
    return (static_cast<std::uint32_t>(value) & field_mask(high, low)) << low;
}

// A descriptor's words, read by fields: 0 where there is no such field.
class FieldReader {
  public:
    explicit FieldReader(std::span<const std::uint32_t> words) : words_(words) {}
    std::int64_t operator()(const Field& at) const {
        return at.word < 0 ? 0 : bits(words_[static_cast<std::size_t>(at.word)], at.high, at.low);
    }

  private:
    std::span<const std::uint32_t> words_;
};

// And written; a field that is not there takes nothing.
class FieldWriter {
  public:
    explicit FieldWriter(std::size_t words) : words_(words) {}
    void operator()(const Field& at, std::int64_t value) {
        if (at.word >= 0) {
            words_[static_cast<std::size_t>(at.word)] |= field(value, at.high, at.low);
        }
    }
    std::vector<std::uint32_t> words() && { return std::move(words_); }

  private:
    std::vector<std::uint32_t> words_;
};

}  // namespace tilesim::arch::npu::control
