// A tile's buffer descriptor registers, shared by its channels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::dma {

class DescriptorTable {
  public:
    struct Entry {
        program::BufferDescriptor descriptor;
        std::int64_t iteration = 0;  // the "current" field
        std::int64_t stream_words = 0;
    };
    explicit DescriptorTable(std::int64_t descriptors)
        : entries_(static_cast<std::size_t>(descriptors)) {}
    void write(const program::BufferDescriptor& descriptor);
    // Stays valid; nullptr where nobody has written.
    Entry* find(std::int64_t id);

  private:
    std::vector<std::optional<Entry>> entries_;
};

}  // namespace tilesim::arch::npu::dma
