// Where elements of object FIFOs lie: shared memory or a pool at each end of a DMA, how deep, with
// which locks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/object_fifo.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

inline constexpr std::string_view kIteratesOnce =
    "iterate_bds goes on with every run of a descriptor: repeat_count cannot take an element again";

class FifoPools {
  public:
    explicit FifoPools(Lowering& lowering) : lowering_(lowering) {}

    // Gives every FIFO and link its pools; what fails is an error of the lowering.
    void run();
    // New elements, so many deep; the pool's number.
    std::size_t add_pool(program::TileCoordinate tile, const MemrefType& element,
                         const std::string& name, std::int64_t depth);
    // The same in one buffer.
    std::size_t add_iterated_pool(program::TileCoordinate tile, const MemrefType& element,
                                  const std::string& name, std::int64_t depth);
    // A pair of locks, or one an element where locks are binary. `values`: elements that are full
    // at start.
    void add_locks(std::size_t number, const std::string& name, std::int64_t values);
    // What the first of its elements hold at start.
    void fill(std::size_t number, const std::vector<const Item*>& contents);

  private:
    // The most elements each core acquires at a time.
    void find_acquired();
    bool is_core(program::TileCoordinate tile) const;
    bool reaches(program::TileCoordinate from, program::TileCoordinate to) const;
    bool needs_dma(const ObjectFifo& fifo) const;
    std::int64_t depth_of(const ObjectFifo& fifo, std::size_t number, const FifoEnd& end,
                          bool produces) const;
    std::int64_t add_buffer(program::TileCoordinate tile, const MemrefType& type,
                            const std::string& name);
    std::int64_t add_lock(program::TileCoordinate tile, const std::string& name,
                          std::int64_t initial);
    // The pool that input and output have in common, on the tile between them.
    void link_pool(FifoLink& link);
    // iterate_bds of one of its FIFOs. Throws ReadError where its pool cannot be one buffer.
    bool iterates(const FifoLink& link, program::TileCoordinate tile) const;
    // Registered buffers in DRAM, with locks at the shim: the host hands elements over.
    void external_pool(FifoEnd& end, const std::string& name, bool synchronized);
    void pools(ObjectFifo& fifo);
    // The banks an end states are those of its pool's elements, in their order.
    void pin(std::size_t number, const std::vector<std::int64_t>& banks);
    bool has_memory(program::TileCoordinate tile) const;
    bool has_elements(const FifoEnd& end) const { return has_memory(end.tile) && !end.stream_port; }
    // Where the producer writes, if the consumer reaches that.
    void shared_pool(ObjectFifo& fifo);

    Lowering& lowering_;
    std::map<std::tuple<std::size_t, program::TileCoordinate, bool>, std::int64_t> acquired_;
};

}  // namespace tilesim::workloads::npu::mlir::object_fifo
