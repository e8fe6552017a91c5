#include "arch/npu/program/program.hpp"

#include <fmt/format.h>

namespace tilesim::arch::npu::program {

std::string name_of(const ChannelId& channel) {
    const bool in = channel.direction == Direction::S2MM;
    const char* kind = channel.port == PortKind::Core ? (in ? "core_in" : "core_out") : (in ? "s2mm" : "mm2s");
    return fmt::format("{}{}", kind, channel.index);
}

}  // namespace tilesim::arch::npu::program
