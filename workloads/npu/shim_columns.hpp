// The columns a dataflow uses: those whose shim has a DMA, in the order of the device's file, since
// what a column works on comes and goes through its own shim.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>

#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu {

class ShimColumns {
  public:
    ShimColumns() { std::iota(places_.begin(), places_.end(), std::uint8_t{0}); }
    explicit ShimColumns(const arch::npu::NpuConfig& config) : ShimColumns() {
        std::transform(config.shim_columns.begin(), config.shim_columns.end(), places_.begin(),
                       [](std::int64_t column) { return static_cast<std::uint8_t>(column); });
    }
    static std::int64_t count(const arch::npu::NpuConfig& config) {
        return config.shim_columns.empty() ? config.columns
                                           : static_cast<std::int64_t>(config.shim_columns.size());
    }
    // The numbers of columns to try, most first: all, their half, a quarter and so on, and the
    // powers of two, which arrays with fewer columns have.
    static std::set<std::int64_t, std::greater<>> parts(const arch::npu::NpuConfig& config) {
        const std::int64_t all = count(config);
        std::set<std::int64_t, std::greater<>> parts;
        for (std::int64_t columns = all; columns >= 1; columns /= 2) {
            parts.insert(columns);
        }
        for (std::int64_t columns = 1; columns < all; columns *= 2) {
            parts.insert(columns);
        }
        return parts;
    }
    // Of the array, the `index`th of them.
    std::int64_t operator[](std::int64_t index) const {
        return places_[static_cast<std::size_t>(index)];
    }

  private:
    static constexpr std::size_t kMost = 64;  // columns of an array
    std::array<std::uint8_t, kMost> places_{};
};

}  // namespace tilesim::workloads::npu
