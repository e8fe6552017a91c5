// The columns a dataflow uses: those whose shim has a DMA, in the order of the device's file, since
// what a column works on comes and goes through its own shim.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

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
    // Of the array, the `index`th of them.
    std::int64_t operator[](std::int64_t index) const {
        return places_[static_cast<std::size_t>(index)];
    }

  private:
    static constexpr std::size_t kMost = 64;  // columns of an array
    std::array<std::uint8_t, kMost> places_{};
};

}  // namespace tilesim::workloads::npu
