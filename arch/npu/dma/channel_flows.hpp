// The streams that leave an MM2S channel, told apart by the packets its descriptors send.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/npu/program/program.hpp"
#include "arch/npu/stream/stream_flow.hpp"

namespace tilesim::arch::npu::dma {

class ChannelFlows {
  public:
    // The words of descriptors that send packets of this id; the circuit-switched stream, if any,
    // has none.
    void add(std::optional<std::int64_t> packet_id, stream::StreamFlow& flow) {
        flows_.emplace_back(packet_id, &flow);
    }
    // Throws ProgramFault when no stream takes the descriptor's words.
    stream::StreamFlow& of(const program::BufferDescriptor& descriptor,
                           const std::string& channel) const;

  private:
    std::vector<std::pair<std::optional<std::int64_t>, stream::StreamFlow*>> flows_;
};

// The descriptor's packet, if it sends one; the header tells an out-of-order receiver what it
// names.
inline stream::PacketPart packet_of(const program::BufferDescriptor& descriptor) {
    const program::Packet packet = descriptor.packet.value_or(program::Packet{});
    return {.descriptor = packet.descriptor, .header_in_data = packet.in_data};
}

}  // namespace tilesim::arch::npu::dma
