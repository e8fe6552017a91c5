// What one aie.objectfifo states: its ends, depths, transport and types.
//
// Errors:  ReadError where it is malformed or what it states is not modelled.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/object_fifo.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

class ObjectFifoReader {
  public:
    explicit ObjectFifoReader(Lowering& lowering) : lowering_(lowering) {}

    // @name(%producer dimensionsToStream [..], {%consumer dimensionsFromStream [..], ..}, depth)
    ObjectFifo read(const Operation& operation) const;
    // [dense<..> : .., ..]: what the first elements hold at start.
    static std::vector<const Item*> values_in(const Item& list);

  private:
    FifoEnd end(Cursor& cursor) const;
    // 2 : i32, or one for the producer and each consumer: [2, 2, 3]
    static void depths(Cursor& inside, ObjectFifo& fifo);
    void attributes(const Operation& operation, ObjectFifo& fifo) const;
    // producer_mem_bank, consumer_mem_banks: a bank for each element of an end.
    static void banks(const Operation& operation, ObjectFifo& fifo);
    // 2 : i32 for all, or [0 : i32, 1 : i32]; [] is none.
    static std::vector<std::int64_t> banks_in(Cursor& cursor, std::int64_t depth);
    // Ends that are a core's own stream port and have no elements: aie_stream says which, or each
    // its prod_port, cons_ports = [..].
    void stream_ends(const Operation& operation, ObjectFifo& fifo) const;
    // #aie.end_port<Core : 0>, <DMA : 1>, <DMA>
    static void end_port(Cursor& cursor, FifoEnd& end);
    void check_stream_end(const Operation& operation, const FifoEnd& end, std::int64_t ports) const;
    // #aie.transport<dma, packet = #aie.packet_info<pkt_id = 4>>; before via_DMA, packet,
    // packet_id.
    static void transport(const Operation& operation, ObjectFifo& fifo);
    static void stream_transport(Cursor& inside, ObjectFifo& fifo);
    // : !aie.objectfifo<memref<..>> -> !aie.objectfifo<memref<..>> = [dense<..>, ..]
    static void types(Cursor& cursor, ObjectFifo& fifo);

    Lowering& lowering_;
};

}  // namespace tilesim::workloads::npu::mlir::object_fifo
