// Elements of object FIFOs that a memory tile has no room for: they lie in a neighbour's memory,
// which its first channels reach.
//
// Source:  mlir-aie's pass AIEObjectFifoStatefulTransform: the largest pools choose first; an
//          element stays, or goes west, or east.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/object_fifo/object_fifos.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

namespace {

using Room = std::map<program::TileCoordinate, std::int64_t>;  // bytes left

bool is_memory_tile(const Lowering& lowering, program::TileCoordinate tile) {
    return lowering.config.contains(tile) &&
           lowering.config.kind_of(tile) == program::TileKind::Memory;
}

// What the buffers leave that are no elements.
Room room_beside(const Lowering& lowering, const std::vector<FifoPool*>& pools) {
    std::set<std::int64_t> elements;
    for (const FifoPool* pool : pools) {
        elements.insert(pool->buffers.begin(), pool->buffers.end());
    }
    Room room;
    for (std::int64_t column = 0; column < lowering.config.columns; ++column) {
        for (std::int64_t row = 1; row <= lowering.config.memory_rows; ++row) {
            room[{column, row}] = lowering.config.memory_tile.memory.count();
        }
    }
    for (std::size_t i = 0; i < lowering.program.buffers.size(); ++i) {
        const program::Buffer& buffer = lowering.program.buffers[i];
        const auto place = room.find(buffer.tile);
        if (place != room.end() && !elements.contains(static_cast<std::int64_t>(i))) {
            place->second -= buffer.bytes;
        }
    }
    return room;
}

std::int64_t bytes_of(const FifoPool& pool) {
    return pool.element.bytes() * static_cast<std::int64_t>(pool.buffers.size());
}

}  // namespace

void spill_pools(Lowering& lowering) {
    std::vector<FifoPool*> pools;
    for (FifoPool& pool : lowering.fifo_pools) {
        if (is_memory_tile(lowering, pool.tile)) {
            pools.push_back(&pool);
        }
    }
    Room room = room_beside(lowering, pools);
    std::stable_sort(pools.begin(), pools.end(), [](const FifoPool* a, const FifoPool* b) {
        return bytes_of(*a) > bytes_of(*b);
    });
    for (FifoPool* pool : pools) {
        const program::TileCoordinate home = pool->tile;
        for (const std::int64_t index : pool->buffers) {
            program::Buffer& buffer = lowering.program.buffers[static_cast<std::size_t>(index)];
            for (const std::int64_t step : {0, -1, 1}) {
                const program::TileCoordinate at{home.column + step, home.row};
                const auto left = room.find(at);
                if (left != room.end() && left->second >= buffer.bytes) {
                    left->second -= buffer.bytes;
                    buffer.tile = at;
                    pool->spilled = pool->spilled || step != 0;
                    break;
                }
            }
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
