// The bytes of the array's data memories, in functional mode.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::tile {

class TileMemory {
  public:
    TileMemory(const NpuConfig& config, const program::Program& program) : program_(program) {
        for (const program::Buffer& buffer : program.buffers) {
            auto& bytes = tiles_[buffer.tile];
            const bool core = config.kind_of(buffer.tile) == program::TileKind::Core;
            const base::Bytes size = core ? config.core.memory : config.memory_tile.memory;
            bytes.resize(static_cast<std::size_t>(size.count()));
        }
    }

    // The bytes of a buffer (index into Program::buffers).
    std::span<std::byte> buffer(std::int64_t index) {
        const program::Buffer& buffer = program_.buffers[static_cast<std::size_t>(index)];
        return std::span{tiles_.at(buffer.tile)}.subspan(static_cast<std::size_t>(buffer.address),
                                                         static_cast<std::size_t>(buffer.bytes));
    }

  private:
    const program::Program& program_;
    std::map<program::TileCoordinate, std::vector<std::byte>> tiles_;
};

}  // namespace tilesim::arch::npu::tile
