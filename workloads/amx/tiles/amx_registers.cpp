#include "workloads/amx/tiles/amx_registers.hpp"

#include <algorithm>

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::kTiles;

namespace {

constexpr std::int64_t kElementBytes = 4;  // of C in a tile

// Rows or columns of a last tile that is smaller; 0: none is.
std::int64_t remainder(const AmxMapping& map, std::int64_t extent) {
    return map.remainder == AmxMapping::Remainder::Smaller ? extent % kMaxRows : 0;
}

}  // namespace

TileRegisters::TileRegisters(const AmxMapping& mapping, std::int64_t m, std::int64_t n)
    : map_(mapping) {
    const std::int64_t rows = remainder(mapping, m);
    const std::int64_t columns = remainder(mapping, n);
    most_rows_ = rows_ = rows > 0 && m < kMaxRows ? rows : kMaxRows;
    most_columns_ = columns_ = columns > 0 && n < kMaxRows ? columns : kMaxRows;
    const bool fits = first_few() + map_.n_acc + 1 <= kTiles;
    few_rows_ = rows > 0 && m > kMaxRows && fits ? rows : 0;
}

TileRegisters::Shapes TileRegisters::shapes() const {
    Shapes result;
    const int c_bytes = static_cast<int>(columns_ * kElementBytes);
    result.fill({kMaxRows, c_bytes});  // B, and what is left over
    for (std::int64_t i = 0; i < first_b(); ++i) {
        result[static_cast<std::size_t>(i)] = {static_cast<int>(rows_),
                                               i < accumulators() ? c_bytes : kRowBytes};
    }
    for (std::int64_t i = 0; few_rows_ > 0 && i <= map_.n_acc; ++i) {  // C's, then A's
        result[static_cast<std::size_t>(first_few() + i)] = {static_cast<int>(few_rows_),
                                                             i < map_.n_acc ? c_bytes : kRowBytes};
    }
    return result;
}

bool TileRegisters::use(std::int64_t rows, std::int64_t columns) {
    few_ = few_rows_ > 0 && rows == few_rows_;
    const std::int64_t others = few_ ? rows_ : rows;  // few rows go with any
    const bool changes = others != rows_ || columns != columns_;
    rows_ = others;
    columns_ = columns;
    return changes;
}

bool TileRegisters::use_most() {
    return use(most_rows_, most_columns_);
}

std::int64_t TileRegisters::a_registers() const {
    return map_.order == AmxMapping::Order::Preloaded ||
                   map_.order == AmxMapping::Order::Interleaved
               ? registers_of(map_) - accumulators() - 1
               : 1;
}

std::int64_t TileRegisters::b_registers() const {
    return std::min<std::int64_t>(map_.n_acc, kTiles - first_b());
}

int TileRegisters::c(std::int64_t m, std::int64_t n) const {
    return static_cast<int>(few_ ? first_few() + n : m * map_.n_acc + n);
}

int TileRegisters::a(std::int64_t m) const {
    return static_cast<int>(few_ ? first_few() + map_.n_acc : accumulators() + m % a_registers());
}

int TileRegisters::b(std::int64_t n) const {
    return static_cast<int>(first_b() + n % b_registers());
}

}  // namespace tilesim::workloads::amx::tiles
