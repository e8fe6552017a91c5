#include "arch/npu/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/units.hpp"

namespace tilesim::arch::npu::program {

std::string name_of(const ChannelId& channel) {
    const bool in = channel.direction == Direction::S2MM;
    const char* kind =
        channel.port == PortKind::Core ? (in ? "core_in" : "core_out") : (in ? "s2mm" : "mm2s");
    return fmt::format("{}{}", kind, channel.index);
}

namespace {

template <class Enum>
std::string_view name_in(const std::vector<std::pair<std::string_view, Enum>>& table, Enum value) {
    return std::find_if(table.begin(), table.end(),
                        [value](const auto& entry) { return entry.second == value; })
        ->first;
}

constexpr std::int64_t kScaleBits = 16;  // a bf16

}  // namespace

std::string_view name_of(KernelKind kind) {
    return name_in(kKernelKinds, kind);
}

std::string_view name_of(VectorOperation operation) {
    return name_in(kVectorOperations, operation);
}

bool has_second_operand(VectorOperation operation) {
    switch (operation) {
        case VectorOperation::Add:
        case VectorOperation::Multiply:
        case VectorOperation::RmsNorm:
        case VectorOperation::Rope:
            return true;
        default:
            return false;
    }
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

std::int64_t row_bytes(const Kernel& kernel, std::int64_t elements) {
    const std::int64_t scales =
        kernel.scale_block > 0 ? base::ceil_div(elements, kernel.scale_block) * kScaleBits : 0;
    return base::ceil_div(elements * bits_of(kernel.a) + scales, base::kBitsPerByte);
}

}  // namespace tilesim::arch::npu::program
