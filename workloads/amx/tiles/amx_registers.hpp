// Which tile registers of a core hold what of a block of accumulators.
#pragma once

#include <array>
#include <cstdint>

#include "arch/amx/program/tile_config.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"

namespace tilesim::workloads::amx::tiles {

// Registers in the order C, A, B, and where some are left those of a last block of few rows.
class TileRegisters {
  public:
    using Shapes = std::array<arch::amx::program::TileShape, arch::amx::program::kTiles>;

    // Keeps a reference to the mapping. `m` and `n`: elements of C.
    TileRegisters(const AmxMapping& mapping, std::int64_t m, std::int64_t n);

    // The configuration that holds; at first that of most blocks.
    Shapes shapes() const;
    // From now on the registers are those of a block whose tiles have so many rows and columns;
    // whether another configuration holds than before.
    bool use(std::int64_t rows, std::int64_t columns);
    // As `use`, for most blocks.
    bool use_most();

    int c(std::int64_t m, std::int64_t n) const;
    int a(std::int64_t m) const;
    int b(std::int64_t n) const;

  private:
    std::int64_t accumulators() const { return map_.m_acc * map_.n_acc; }
    std::int64_t a_registers() const;
    std::int64_t b_registers() const;
    std::int64_t first_b() const { return accumulators() + a_registers(); }
    std::int64_t first_few() const { return first_b() + b_registers(); }

    const AmxMapping& map_;
    std::int64_t most_rows_ = 0, most_columns_ = 0;  // of most tiles
    std::int64_t few_rows_ = 0;                      // of tiles of their own beside them; 0: none
    std::int64_t rows_ = 0, columns_ = 0;            // of the tiles of the configuration that holds
    bool few_ = false;                               // the block at hand is of few rows
};

}  // namespace tilesim::workloads::amx::tiles
