// Object FIFOs that go as packets: their headers, and those whose elements take turns on one
// channel.
//
// Source:  mlir-aie's docs/ObjectFifoLowering.md and its pass AIEAssignPacketIds.
// Errors:  ReadError where a header is malformed or no id is left.
#pragma once

#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/object_fifo.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

// {packet}, {packet, packet_id = 7 : i8}, {packet = #aie.packet_info<pkt_id = 7>} of a FIFO or
// route.
void read_header(const Operation& operation, ObjectFifo& fifo);
// #aie.packet_info<pkt_type = 1>: without an id one is chosen.
void set_header(const std::vector<Item>& items, Location where, ObjectFifo& fifo);
// Gives headers without an id the lowest that nothing else in the device has; senders that take
// turns at a receiver have one.
void choose_packet_ids(Lowering& lowering);
// The branches of a link whose elements take turns: all of them go through the channel that the
// first declared of them has at the tile.
void take_turns(Lowering& lowering, const FifoLink& link, program::TileCoordinate tile);

}  // namespace tilesim::workloads::npu::mlir::object_fifo
