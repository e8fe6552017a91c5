#include "arch/amx/program/buffer_reach.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::amx::program {

void BufferReach::check(Operand operand, const Instruction& each,
                        std::pair<std::int64_t, std::int64_t> addresses) {
    if (is_prefetch(each.opcode)) {
        return;
    }
    if (info_of(each.opcode).tile()) {
        tiles_.emplace(program_.statements.size(), std::move(operand));
    } else {
        check_bytes(operand, addresses, each.bytes, "");
    }
}

void BufferReach::check_tile(std::size_t statement, const LoadedConfig& loaded) const {
    const auto operand = tiles_.find(statement);
    if (operand != tiles_.end()) {
        const Instruction& each = program_.statements[statement].instruction;
        check_bytes(operand->second, reach(each.address, loaded.turns), tile_bytes(each, loaded),
                    why(loaded));
    }
}

void BufferReach::check_bytes(const Operand& operand,
                              std::pair<std::int64_t, std::int64_t> addresses, std::int64_t bytes,
                              const std::string& why) const {
    const Buffer& buffer = operand.buffer;
    const std::int64_t from = addresses.first - buffer.address;
    const std::int64_t end = addresses.second - buffer.address + bytes;
    if (from < 0 || end > buffer.bytes) {
        line_.fail(operand.place,
                   fmt::format("'{}' reaches from byte {} to {} of buffer {}, which has {}{}",
                               operand.text, from, end, buffer.name, buffer.bytes, why));
    }
}

// From the first byte of a tile's rows in memory to the last; what is no shape is for LDTILECFG to
// refuse.
std::int64_t BufferReach::tile_bytes(const Instruction& each, const LoadedConfig& loaded) const {
    TileShape shape;
    if (loaded.config >= 0) {
        shape = program_.configs[static_cast<std::size_t>(loaded.config)]
                                [static_cast<std::size_t>(each.destination)];
    }
    const std::int64_t rows = std::clamp<std::int64_t>(shape.rows, 1, kMaxRows);
    const std::int64_t row = std::clamp<std::int64_t>(shape.row_bytes, 1, kRowBytes);
    return (rows - 1) * each.row_stride + row;
}

std::string BufferReach::why(const LoadedConfig& loaded) const {
    if (loaded.loaded_by < 0) {
        return "";
    }
    return fmt::format(", under config {} in later turns of loop '{}'", loaded.config,
                       program_.variables[static_cast<std::size_t>(loaded.loaded_by)]);
}

}  // namespace tilesim::arch::amx::program
