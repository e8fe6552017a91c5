#include "workloads/npu/mlir/syntax/device_tiles.hpp"

#include <fmt/format.h>

#include <vector>

#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

TilePlace place_of(const Block& device, const std::string& tile, Location where) {
    for (const Operation& each : device.operations) {
        if (each.name == "aie.tile" && each.results == std::vector{tile}) {
            Cursor cursor(each);
            Cursor inside(cursor.group("("));
            const std::int64_t column = inside.integer();
            inside.expect(",");
            return {column, inside.integer()};
        }
    }
    throw ReadError(where, fmt::format("%{} is no tile of the device", tile));
}

std::string tile_at(Block& device, TilePlace place, Location where) {
    for (const Operation& each : device.operations) {
        if (each.name == "aie.tile" && !each.results.empty() &&
            place_of(device, each.results.front(), where) == place) {
            return each.results.front();
        }
    }
    const std::string name = fmt::format("tile_{}_{}", place.column, place.row);
    add_to_device(
        device,
        parse_at(fmt::format("%{} = aie.tile({}, {})\n", name, place.column, place.row), where));
    return name;
}

std::string tile_of(const Operation& operation) {
    Cursor cursor(operation);
    return Cursor(cursor.group("(")).value();
}

bool is_core(const Operation& operation) {
    return operation.name == "aie.core";
}

bool is_dma(const Operation& operation) {
    return operation.name == "aie.mem" || operation.name == "aie.shim_dma" ||
           operation.name == "aie.memtile_dma";
}

}  // namespace tilesim::workloads::npu::mlir::syntax
