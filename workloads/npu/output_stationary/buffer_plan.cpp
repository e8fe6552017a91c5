#include "workloads/npu/output_stationary/buffer_plan.hpp"

#include <algorithm>
#include <array>

namespace tilesim::workloads::npu::output_stationary {

using arch::npu::NpuConfig;

namespace {

constexpr std::size_t kOperandBuffers = 2;  // A and B are double-buffered

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

// Free bytes at the end of each column's memory tile.
class MemoryTiles {
  public:
    explicit MemoryTiles(const NpuConfig& config)
        : size_(config.memory_tile.memory.count()),
          used_(static_cast<std::size_t>(config.columns), 0) {}

    std::int64_t used(std::int64_t column) const { return used_[static_cast<std::size_t>(column)]; }
    bool fits(std::int64_t column, std::int64_t bytes) const {
        return column >= 0 && column < static_cast<std::int64_t>(used_.size()) &&
               used(column) + bytes <= size_;
    }
    MemoryTilePlan::Place take(std::int64_t column, std::int64_t bytes) {
        const MemoryTilePlan::Place place{column, used(column)};
        used_[static_cast<std::size_t>(column)] += bytes;
        return place;
    }

  private:
    std::int64_t size_;
    std::vector<std::int64_t> used_;
};

}  // namespace

BufferSizes buffer_sizes(const GemmProblem& problem, const OutputStationaryMapping& map,
                         const NpuConfig& config) {
    BufferSizes sizes;
    sizes.a_core = map.m_ct * map.k_ct * bytes_of(problem.a);
    sizes.b_core = map.k_ct * map.n_ct * bytes_of(problem.b);
    sizes.c_core = map.m_ct * map.n_ct * bytes_of(problem.c);
    const std::int64_t tiles = map.k_mt / map.k_ct;
    sizes.a_block = sizes.a_core * tiles;
    // Row-major B has its long runs along N: one core tile at a time.
    sizes.b_block = sizes.b_core * (problem.b_column_major ? tiles : 1);
    sizes.c_join = sizes.c_core * config.core_rows;
    return sizes;
}

std::optional<CorePlan> plan_core(const BufferSizes& sizes, const OutputStationaryMapping& map,
                                  const NpuConfig& config) {
    CorePlan plan;
    std::vector<CoreBuffer> buffers;
    for (std::int64_t i = 0; i < map.c_buffers; ++i) {
        buffers.push_back({sizes.c_core, &plan.c, 0});
    }
    buffers.insert(buffers.end(), {{sizes.a_core, &plan.a, 0},
                                   {sizes.b_core, &plan.b, 0},
                                   {sizes.a_core, &plan.a, 0},
                                   {sizes.b_core, &plan.b, 0}});
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
                                                             const OutputStationaryMapping& map,
                                                             const NpuConfig& config) {
    MemoryTiles tiles(config);
    std::vector<MemoryTilePlan> plans(static_cast<std::size_t>(config.columns));
    struct Block {
        std::int64_t column;
        std::int64_t bytes;
        std::vector<MemoryTilePlan::Place>* place;
    };
    std::vector<Block> blocks;
    for (std::int64_t column = 0; column < config.columns; ++column) {
        MemoryTilePlan& plan = plans[static_cast<std::size_t>(column)];
        for (std::int64_t i = 0; i < map.c_buffers; ++i) {
            if (!tiles.fits(column, sizes.c_join)) {
                return std::nullopt;
            }
            plan.c.push_back(tiles.take(column, sizes.c_join));
        }
        for (std::size_t i = 0; i < kOperandBuffers; ++i) {
            if (row_of_a(column, config)) {
                blocks.push_back({column, sizes.a_block, &plan.a});
            }
            blocks.push_back({column, sizes.b_block, &plan.b});
        }
    }
    // Own memory first, so that nobody borrows what its owner needs.
    const auto at_home = [&](const Block& block) {
        if (!tiles.fits(block.column, block.bytes)) {
            return false;
        }
        block.place->push_back(tiles.take(block.column, block.bytes));
        return true;
    };
    blocks.erase(std::remove_if(blocks.begin(), blocks.end(), at_home), blocks.end());
    for (const Block& block : blocks) {
        std::array<std::int64_t, 2> neighbours{block.column + 1, block.column - 1};
        const auto lender =
            std::find_if(neighbours.begin(), neighbours.end(),
                         [&](std::int64_t column) { return tiles.fits(column, block.bytes); });
        if (lender == neighbours.end()) {
            return std::nullopt;
        }
        block.place->push_back(tiles.take(*lender, block.bytes));
    }
    for (std::int64_t column = 0; column < config.columns; ++column) {
        plans[static_cast<std::size_t>(column)].used = tiles.used(column);
    }
    return plans;
}

}  // namespace tilesim::workloads::npu::output_stationary
