// Headers of packets that nobody's DMA adds: the first word of what is sent, which names the way.
//
// Models:  descriptors without a packet on a channel that only packets leave, and what cores put on
//          their own streams: the first word is the header, as a stream switch takes it.
// Ignores: what the words are; an id that follows from nothing is stated (design.headers, `packet`
//          under stream), and what was assumed is said.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::routes {

// How words leave a channel.
struct Ways {
    bool circuit = false;
    std::vector<std::int64_t> packet_ids{};
};

// Gives descriptors whose data begins with a header the packet it names.
void name_headers(Lowering& lowering, const std::function<Ways(const program::ChannelId&)>& ways);
// The same for what cores put; after the routes.
void name_core_packets(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::routes
