#include "arch/npu/dma/channel_flows.hpp"

#include <fmt/format.h>

#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::dma {

stream::StreamFlow& ChannelFlows::of(const program::BufferDescriptor& descriptor,
                                     const std::string& channel) const {
    for (const auto& [packet_id, flow] : flows_) {
        const auto& packet = descriptor.packet;
        if (packet ? packet_id == packet->id : !packet_id) {
            return *flow;
        }
    }
    throw program::ProgramFault(
        descriptor.packet
            ? fmt::format("{}: descriptor {} sends packet {}, but no route takes that id", channel,
                          descriptor.id, descriptor.packet->id)
            : fmt::format("{}: descriptor {} sends without a packet, but no circuit route leaves "
                          "this channel",
                          channel, descriptor.id));
}

}  // namespace tilesim::arch::npu::dma
