// Object FIFOs of a lowered program: buffers in turn, their two locks, and the rings of descriptors
// that fill and empty them. Source: the object FIFO lowering of mlir-aie.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu {

// Hands out the descriptors of a tile's DMA; those of even and of odd channels apart where the
// device binds them to one half each.
class DescriptorIds {
  public:
    explicit DescriptorIds(const arch::npu::DmaConfig& dma)
        : halves_(dma.parity_bound_descriptors),
          all_(dma.descriptors),
          half_(dma.descriptors / 2) {}

    // The first of `count` that follow each other.
    std::int64_t take(std::int64_t channel, std::int64_t count) {
        const bool odd = halves_ && channel % 2 == 1;
        std::int64_t& used = odd ? odd_ : even_;
        used += count;
        return (odd ? half_ : 0) + used - count;
    }
    std::int64_t even() const { return even_; }  // all, where they are not bound
    std::int64_t odd() const { return odd_; }
    // Whether `tile` has fewer than were taken, in words; empty: it has as many.
    std::string lack(std::string_view tile) const;

  private:
    bool halves_;
    std::int64_t all_;
    std::int64_t half_;
    std::int64_t even_ = 0;
    std::int64_t odd_ = 0;
};

// The locks of an object FIFO: free buffers and full ones.
struct FifoLocks {
    std::int64_t free = 0;
    std::int64_t full = 0;

    arch::npu::program::LockAction take_free() const { return {free, -1}; }
    arch::npu::program::LockAction give_free() const { return {free, 1}; }
    arch::npu::program::LockAction take_full() const { return {full, -1}; }
    arch::npu::program::LockAction give_full() const { return {full, 1}; }
};

// One buffer, or part of it, that a channel fills or empties in turn.
struct RingEntry {
    std::int64_t buffer = 0;
    arch::npu::program::LockAction acquire, release;
    std::int64_t offset = 0;  // bytes
    std::optional<arch::npu::program::Packet> packet = {};
};

// A descriptor's length and dimensions; what else it has is its entry's.
arch::npu::program::BufferDescriptor shaped(std::int64_t length,
                                            std::vector<arch::npu::program::Dimension> dimensions);

// Buffers in turn, and their locks.
struct Fifo {
    std::vector<std::int64_t> buffers;  // indexes Program::buffers
    FifoLocks locks;

    std::vector<RingEntry> filling() const;
    std::vector<RingEntry> emptying() const;
};
// The entries of FIFOs that one channel serves in turn: first buffer of each, second of each ...
std::vector<RingEntry> in_turn(const std::vector<std::vector<RingEntry>>& fifos);

// The DMA of one tile.
class TileRings {
  public:
    TileRings(arch::npu::program::TileCoordinate tile, const arch::npu::DmaConfig& config)
        : ids_(config) {
        dma_.tile = tile;
    }

    arch::npu::program::TileCoordinate tile() const { return dma_.tile; }

    // Descriptors of a channel, one an entry; returns the first id.
    std::int64_t add_descriptors(std::int64_t channel,
                                 const arch::npu::program::BufferDescriptor& shape,
                                 const std::vector<RingEntry>& entries);
    // Descriptors that follow each other for ever.
    void add_ring(arch::npu::program::Direction direction, std::int64_t channel,
                  const arch::npu::program::BufferDescriptor& shape,
                  const std::vector<RingEntry>& entries);

    arch::npu::program::TileDma take() { return std::move(dma_); }

  private:
    arch::npu::program::TileDma dma_;
    DescriptorIds ids_;
};

// Adds a lock of the tile's next free id; returns its index.
std::int64_t add_lock(arch::npu::program::Program& program, const std::string& name,
                      arch::npu::program::TileCoordinate tile, std::int64_t initial);
// Adds name_free, at `free`, and name_full, at 0.
FifoLocks add_fifo_locks(arch::npu::program::Program& program, const std::string& name,
                         arch::npu::program::TileCoordinate tile, std::int64_t free);

// A range of a tile's memory.
struct BufferPlace {
    arch::npu::program::TileCoordinate tile;
    std::int64_t address = 0;
};
std::vector<BufferPlace> places_at(arch::npu::program::TileCoordinate tile,
                                   std::span<const std::int64_t> addresses);
// Adds name_0, name_1 ...; returns their indexes.
std::vector<std::int64_t> add_buffers(arch::npu::program::Program& program, const std::string& name,
                                      const std::vector<BufferPlace>& places, std::int64_t bytes);
// Adds both: the buffers and, in the tile of the first, their locks. All buffers are free.
Fifo add_fifo(arch::npu::program::Program& program, const std::string& name,
              const std::vector<BufferPlace>& places, std::int64_t bytes);

}  // namespace tilesim::workloads::npu
