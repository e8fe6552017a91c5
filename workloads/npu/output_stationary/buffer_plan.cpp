#include "workloads/npu/output_stationary/buffer_plan.hpp"

#include <algorithm>

namespace tilesim::workloads::npu::output_stationary {

using arch::npu::NpuConfig;

namespace {

struct CoreBuffer {
    std::int64_t bytes = 0;
    std::vector<std::int64_t>* address = nullptr;  // where to note the place
    std::int64_t at = 0;
};

bool overlap(std::int64_t a, std::int64_t a_end, std::int64_t b, std::int64_t b_end) {
    return a < b_end && b < a_end;
}

// True when `buffer` at `at` overlaps nothing placed, nor shares a bank with its own partner.
bool free_at(const CoreBuffer& buffer, std::int64_t at, std::size_t placed,
             const std::vector<CoreBuffer>& buffers, std::int64_t bank) {
    const std::int64_t end = at + buffer.bytes;
    return std::all_of(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(placed),
                       [&](const CoreBuffer& other) {
                           const std::int64_t other_end = other.at + other.bytes;
                           const bool same_bank =
                               overlap(at / bank, (end - 1) / bank + 1, other.at / bank,
                                       (other_end - 1) / bank + 1);
                           return !overlap(at, end, other.at, other_end) &&
                                  (other.address != buffer.address || !same_bank);
                       });
}

// Places the buffers in turn at the lowest address that keeps partners in different banks.
bool place_by_banks(std::vector<CoreBuffer>& buffers, const NpuConfig& config) {
    const std::int64_t bank = config.core.bank.count();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        std::vector<std::int64_t> starts{config.core.stack.count()};
        for (std::int64_t start = bank; start < config.core.memory.count(); start += bank) {
            starts.push_back(start);
        }
        for (std::size_t j = 0; j < i; ++j) {
            starts.push_back(buffers[j].at + buffers[j].bytes);
        }
        std::sort(starts.begin(), starts.end());
        const auto place = std::find_if(starts.begin(), starts.end(), [&](std::int64_t at) {
            return at + buffers[i].bytes <= config.core.memory.count() &&
                   free_at(buffers[i], at, i, buffers, bank);
        });
        if (place == starts.end()) {
            return false;
        }
        buffers[i].at = *place;
    }
    return true;
}

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
    for (std::int64_t i = 0; i < std::max(map.a_buffers, map.b_buffers); ++i) {
        for (std::int64_t row = 0; i < map.a_buffers && row < rows; ++row) {
            blocks.push_back({{column, shape.a_home}, sizes.a_block, lend_a, &plan.a});
        }
        if (i < map.b_buffers) {
            blocks.push_back({{column, shape.b_home}, sizes.b_block, lend_b, &plan.b});
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
    std::vector<CoreBuffer> buffers;
    for (std::int64_t i = 0; i < map.c_buffers; ++i) {
        buffers.push_back({sizes.c_core, &plan.c, 0});
    }
    for (std::int64_t i = 0; i < std::max(map.a_buffers, map.b_buffers); ++i) {
        if (i < map.a_buffers) {
            buffers.push_back({sizes.a_core, &plan.a, 0});
        }
        if (i < map.b_buffers) {
            buffers.push_back({sizes.b_core, &plan.b, 0});
        }
    }
    plan.used = config.core.stack.count();
    for (const CoreBuffer& buffer : buffers) {
        plan.used += buffer.bytes;
    }
    if (plan.used > config.core.memory.count()) {
        return std::nullopt;
    }
    if (!place_by_banks(buffers, config)) {
        std::int64_t address = config.core.stack.count();
        for (CoreBuffer& buffer : buffers) {
            buffer.at = address;
            address += buffer.bytes;
        }
    }
    for (const CoreBuffer& buffer : buffers) {
        buffer.address->push_back(buffer.at);
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
    blocks.reserve(static_cast<std::size_t>(shape.rows * map.a_buffers +
                                            shape.columns * map.b_buffers));
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        MemoryTilePlan& plan = plans[static_cast<std::size_t>(column)];
        for (std::int64_t i = 0; i < shape.joins; ++i) {
            const TileCoordinate home{column, shape.c_home};
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
            used = std::max(used, tiles.used({column, row}));
        }
    }
    return plans;
}

}  // namespace tilesim::workloads::npu::output_stationary
