// Tiles and their cores and DMAs in a device's text, by the values that name them.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

struct TilePlace {
    std::int64_t column = 0;
    std::int64_t row = 0;
    bool operator==(const TilePlace&) const = default;
};

// Where the tile of this name lies; ReadError at `where` for none.
TilePlace place_of(const Block& device, const std::string& tile, Location where);
// The name of the tile at this place, which is added to the device where there is none.
std::string tile_at(Block& device, TilePlace place, Location where);
// The tile (%a) of a core or DMA region.
std::string tile_of(const Operation& operation);
bool is_core(const Operation& operation);
bool is_dma(const Operation& operation);

}  // namespace tilesim::workloads::npu::mlir::syntax
