#include "arch/npu/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::npu::program {

std::string name_of(const ChannelId& channel) {
    const bool in = channel.direction == Direction::S2MM;
    const char* kind =
        channel.port == PortKind::Core ? (in ? "core_in" : "core_out") : (in ? "s2mm" : "mm2s");
    return fmt::format("{}{}", kind, channel.index);
}

bool keeps_header(const Route& route, const ChannelId& destination) {
    return route.keep_header && std::find(route.without_header.begin(), route.without_header.end(),
                                          destination) == route.without_header.end();
}

std::int64_t place_of_turn(const Rotation& walk, std::int64_t turn) {
    std::int64_t place = walk.offset;
    for (const Dimension& d : walk.dimensions) {
        place += turn % d.size * d.stride;
        turn /= d.size;
    }
    return place;
}

base::FilePlace where(const SequenceOp& op) {
    return std::visit([](const auto& each) { return each.where; }, op);
}

void set_where(std::vector<SequenceOp>& sequence, std::size_t first, base::FilePlace where) {
    for (std::size_t i = first; i < sequence.size(); ++i) {
        std::visit([where](auto& op) { op.where = op.where.line > 0 ? op.where : where; },
                   sequence[i]);
    }
}

}  // namespace tilesim::arch::npu::program
