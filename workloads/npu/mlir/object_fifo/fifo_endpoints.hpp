// Object FIFOs as the compiler splits them (since 2026): pools of elements, the cores and channels
// that fill or drain them, and the flows between channels.
//
// Source:  mlir-aie's docs/ObjectFifoLowering.md and the operations' definitions (AIEOps.td).
// Errors:  ReadError where one is malformed or names what is not there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/object_fifo.hpp"
#include "workloads/npu/mlir/object_fifo/fifo_pools.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

class FifoEndpoints {
  public:
    explicit FifoEndpoints(Lowering& lowering) : lowering_(lowering), new_pools_(lowering) {}

    // Adds the pools, and an object FIFO for each flow, each core and each channel alone.
    void run();

  private:
    struct Endpoint {
        FifoEnd end;
        std::string fifo;  // whose end it was
        bool fills = false;
        bool in_flow = false;
        const Operation* operation = nullptr;
        std::vector<std::string> dispatch{};  // the endpoints its elements go to, in turn
        std::optional<std::size_t> of{};      // the first FIFO it is an end of
    };

    // @pool(%tile) {depth, segments = [#aie.objectfifo_segment<offset = 0, size = 16, ..>, ..],
    // buffers, locks, repeatCount} : memref<..>
    void read_pool(const Operation& operation);
    void read_segments(const Operation& operation, FifoPool& pool) const;
    // { aie.objectfifo.segment @s0 {offset = 0 : i32, size = 16 : i32, ..} .. } behind the memref
    void read_named_segments(const Operation& operation, FifoPool& pool) const;
    static void add_segment(FifoPool& pool, FifoSegment segment,
                            const std::optional<LockPair>& locks, Location where);
    void add_pool_locks(const Operation& operation, std::size_t number, const std::string& name);
    // @core(%tile) fills @pool {segments}
    void read_core(const Operation& operation);
    // @dma(%tile) drains @pool {segments, channelIndex, dimensions, iterCount}
    void read_dma(const Operation& operation);
    // @end(%tile) DMA {channelIndex}: a channel that somebody else programs, a core's own stream
    void read_route_endpoint(const Operation& operation);
    // from @a to [@b, @c] {packet = #aie.packet_info<pkt_id = 1>}; several sources take turns
    void read_route(const Operation& operation);
    void add_route(const Operation& operation, const std::string& from,
                   const std::vector<std::string>& to);
    // Whose turn it is when, once every route has its FIFO.
    void set_turns(const Endpoint& endpoint);
    // A channel whose flow is a flow of the design.
    void add_alone(const std::string& name, const Endpoint& endpoint);
    // dispatchPackets = [#aie.packet_info<pkt_id = 0>, ..]: the headers of a dispatching endpoint.
    static std::vector<std::vector<Item>> dispatched_headers(const Operation& operation);

    // The tile, the role, the pool and the segments of an endpoint.
    Endpoint endpoint_of(const Operation& operation, Cursor& cursor) const;
    Endpoint& endpoint(const std::string& symbol, Location where);
    std::int64_t buffer_named(const std::string& symbol, program::TileCoordinate tile,
                              Location where) const;
    std::int64_t lock_named(const std::string& symbol, Location where) const;

    Lowering& lowering_;
    FifoPools new_pools_;
    std::map<std::string, std::size_t> pools_;  // of Lowering::fifo_pools, by symbol
    std::map<std::string, Endpoint> endpoints_;
};

}  // namespace tilesim::workloads::npu::mlir::object_fifo
