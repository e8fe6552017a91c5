// The address generator of a DMA: walks a descriptor's dimensions as runs of contiguous words.
//
// D0 is innermost; the outermost size follows from the length, as in the hardware. Padding (memory
// tile MM2S) inserts zero words before and after each dimension.
// Source: Xilinx aie-rt; mlir-aie AIEDialect (dimensions and padding of dma_bd).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::dma {

// `words` words at `offset` words from the descriptor's offset; or that many inserted zeros.
struct Run {
    std::int64_t offset = 0;
    std::int64_t words = 0;
    bool zeros = false;
};

// `count` equal runs, each `stride` words after the one before.
struct Runs {
    Run first;
    std::int64_t count = 1;
    std::int64_t stride = 0;
};

class AddressGenerator {
  public:
    AddressGenerator() = default;
    // `execution`: how many times the descriptor has run, which the iteration offset depends on.
    AddressGenerator(const program::BufferDescriptor& descriptor, std::int64_t execution);

    // The next run, of at most `most` words. Must not be asked for more than there is.
    Run take(std::int64_t most);
    // The next runs that are alike, of at most `most` words together; at least one word.
    Runs take_alike(std::int64_t most);

    // Copy the next words between memory at the descriptor's offset and a stream; what is read has
    // zeros inserted.
    void read(const std::byte* memory, std::span<std::uint32_t> words);
    void write(std::span<const std::uint32_t> words, std::byte* memory);

  private:
    static constexpr std::size_t kMostDimensions = 4;
    struct Level {
        std::int64_t size = 1;
        std::int64_t stride = 1;
        std::int64_t before = 0;  // padding, in steps
        std::int64_t after = 0;
        std::int64_t index = 0;  // padding included: 0..before + size + after - 1
        std::int64_t total() const { return before + size + after; }
        bool padding() const { return index < before || index >= before + size; }
    };
    void advance(std::size_t level, std::int64_t steps);

    std::array<Level, kMostDimensions> levels_{};
    std::size_t count_ = 1;
    std::int64_t base_ = 0;  // words
};

// Words the descriptor puts on or takes from its stream: its length and the padding.
std::int64_t stream_words(const program::BufferDescriptor& descriptor);

}  // namespace tilesim::arch::npu::dma
