#include "workloads/npu/output_stationary/buffer_plan.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/npu/core_placement.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::npu::NpuConfig;

namespace {

using arch::npu::program::TileCoordinate;

// Bytes taken of every memory tile, from its beginning.
class MemoryTiles {
  public:
    explicit MemoryTiles(const NpuConfig& config)
        : config_(config),
          used_(static_cast<std::size_t>(config.columns * config.memory_rows), 0) {}

    std::int64_t used(TileCoordinate tile) const { return used_[index(tile)]; }
    bool fits(TileCoordinate tile, std::int64_t bytes) const {
        return config_.contains(tile) && used(tile) + bytes <= config_.memory_tile.memory.count();
    }
    BufferPlace take(TileCoordinate tile, std::int64_t bytes) {
        const BufferPlace place{tile, used(tile)};
        used_[index(tile)] += bytes;
        return place;
    }

  private:
    std::size_t index(TileCoordinate tile) const {
        return static_cast<std::size_t>((tile.row - 1) * config_.columns + tile.column);
    }

    const NpuConfig& config_;
    std::vector<std::int64_t> used_;
};

// A block of A or B that is still to be placed.
struct Block {
    TileCoordinate home;
    std::int64_t bytes;
    bool lendable;  // all channels that touch it reach the neighbours
    std::vector<BufferPlace>* places;
};

// Every block of a column, buffer by buffer.
void add_blocks(std::vector<Block>& blocks, MemoryTilePlan& plan, std::int64_t column,
                const BufferSizes& sizes, const ArrayShape& shape,
                const OutputStationaryMapping& map, const NpuConfig& config) {
    const std::int64_t reaching = config.memory_tile.neighbour_channels;
    const bool lend_a = std::max(shape.a_in, shape.a_rows) <= reaching;
    const bool lend_b =
        std::max(shape.b_in_channel() + shape.b_in, shape.b_out_channel() + 1) <= reaching;
    const std::int64_t rows = shape.rows_of_a(column).count;
    for (std::int64_t i = 0; i < std::max(map.a_blocks, map.b_blocks); ++i) {
        for (std::int64_t row = 0; i < map.a_blocks && row < rows; ++row) {
            blocks.push_back({shape.tile(column, shape.a_home), sizes.a_block, lend_a, &plan.a});
        }
        if (i < map.b_blocks) {
            blocks.push_back({shape.tile(column, shape.b_home), sizes.b_block, lend_b, &plan.b});
        }
    }
}

bool place_at_home(const Block& block, MemoryTiles& tiles) {
    const bool fits = tiles.fits(block.home, block.bytes);
    if (fits) {
        block.places->push_back(tiles.take(block.home, block.bytes));
    }
    return fits;
}

bool place_beside(const Block& block, MemoryTiles& tiles) {
    for (const std::int64_t step : {1, -1}) {
        const TileCoordinate lender{block.home.column + step, block.home.row};
        if (block.lendable && tiles.fits(lender, block.bytes)) {
            block.places->push_back(tiles.take(lender, block.bytes));
            return true;
        }
    }
    return false;
}

}  // namespace

std::optional<CorePlan> plan_core(const BufferSizes& sizes, const OutputStationaryMapping& map,
                                  const NpuConfig& config) {
    CorePlan plan;
    std::vector<std::int64_t> bytes;
    std::vector<std::vector<std::int64_t>*> addresses;  // where to note the places
    const auto add = [&](std::int64_t count, std::int64_t size, std::vector<std::int64_t>& of) {
        bytes.insert(bytes.end(), static_cast<std::size_t>(count), size);
        addresses.insert(addresses.end(), static_cast<std::size_t>(count), &of);
    };
    add(map.a_buffers, sizes.a_core, plan.a);
    add(map.b_buffers, sizes.b_core, plan.b);
    add(map.c_buffers, sizes.c_core, plan.c);
    add(map.sums_apart ? 1 : 0, sizes.sum_core, plan.sum);
    plan.used = std::accumulate(bytes.begin(), bytes.end(), config.core.stack.count());
    const auto places = place_in_core(bytes, config.core);
    if (!places) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        addresses[i]->push_back((*places)[i]);
    }
    return plan;
}

std::optional<std::vector<MemoryTilePlan>> plan_memory_tiles(const BufferSizes& sizes,
                                                             const ArrayShape& shape,
                                                             const OutputStationaryMapping& map,
                                                             const NpuConfig& config) {
    MemoryTiles tiles(config);
    std::vector<MemoryTilePlan> plans(static_cast<std::size_t>(shape.columns));
    std::vector<Block> blocks;
    blocks.reserve(
        static_cast<std::size_t>(shape.rows * map.a_blocks + shape.columns * map.b_blocks));
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        MemoryTilePlan& plan = plans[static_cast<std::size_t>(column)];
        for (std::int64_t i = 0; i < shape.joins; ++i) {
            const TileCoordinate home = shape.tile(column, shape.c_home);
            if (!tiles.fits(home, sizes.c_join)) {
                return std::nullopt;
            }
            plan.c.push_back(tiles.take(home, sizes.c_join));
        }
        add_blocks(blocks, plan, column, sizes, shape, map, config);
    }
    // Own memory first, so that nobody borrows what its owner needs.
    std::erase_if(blocks, [&tiles](const Block& block) { return place_at_home(block, tiles); });
    for (const Block& block : blocks) {
        if (!place_beside(block, tiles)) {
            return std::nullopt;
        }
    }
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        for (std::int64_t row = 1; row <= config.memory_rows; ++row) {
            std::int64_t& used = plans[static_cast<std::size_t>(column)].used;
            used = std::max(used, tiles.used(shape.tile(column, row)));
        }
    }
    return plans;
}

}  // namespace tilesim::workloads::npu::output_stationary
