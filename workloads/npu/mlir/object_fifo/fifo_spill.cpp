// Elements of object FIFOs that a memory tile has no room for: they lie in a neighbour's memory,
// which its first channels reach.
//
// Source:  mlir-aie's pass AIEObjectFifoStatefulTransform: the largest pools choose first; an
//          element stays, or goes west, or east, whichever comes first and leaves room for those
//          behind it (its test spill_backtrack).
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
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
    return pool.element.bytes() * pool.depth();
}

// An element of a pool, and what it may choose: its pool's tile, then west and east of it.
struct Element {
    FifoPool* pool = nullptr;
    program::Buffer* buffer = nullptr;
};

class Places {
  public:
    Places(std::vector<Element> elements, Room room)
        : elements_(std::move(elements)), room_(std::move(room)) {}

    // Those that find no place in the end keep their pool's tile.
    void choose() {
        if (!place_from(0)) {
            for (const Element& element : elements_) {
                place(element, 0);
            }
        }
        for (const Element& element : elements_) {
            element.pool->spilled =
                element.pool->spilled || element.buffer->tile != element.pool->tile;
        }
    }

  private:
    static constexpr int kMostTried = 100'000;

    // An earlier element goes elsewhere where a later one would find no room.
    bool place_from(std::size_t first) {
        if (first == elements_.size()) {
            return true;
        }
        std::optional<std::size_t> step = place(elements_[first], 0);
        while (step && tried_ < kMostTried) {
            if (place_from(first + 1)) {
                return true;
            }
            ++tried_;
            take_back(elements_[first]);
            step = place(elements_[first], *step + 1);
        }
        if (step) {
            take_back(elements_[first]);
        }
        return false;
    }

    // At the first place from this step on that has room.
    std::optional<std::size_t> place(const Element& element, std::size_t from) {
        for (std::size_t step = from; step < std::size(kSteps); ++step) {
            const program::TileCoordinate home = element.pool->tile;
            const program::TileCoordinate at{home.column + kSteps[step], home.row};
            const auto left = room_.find(at);
            if (left != room_.end() && left->second >= element.buffer->bytes) {
                left->second -= element.buffer->bytes;
                element.buffer->tile = at;
                return step;
            }
        }
        return std::nullopt;
    }

    void take_back(const Element& element) {
        room_[element.buffer->tile] += element.buffer->bytes;
        element.buffer->tile = element.pool->tile;
    }

    static constexpr std::int64_t kSteps[] = {0, -1, 1};
    std::vector<Element> elements_;
    Room room_;
    int tried_ = 0;
};

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
    std::vector<Element> elements;
    for (FifoPool* pool : pools) {
        for (const std::int64_t index : pool->buffers) {
            elements.push_back({pool, &lowering.program.buffers[static_cast<std::size_t>(index)]});
        }
    }
    Places(std::move(elements), std::move(room)).choose();
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
