#include "workloads/amx/tiles/amx_sparse.hpp"

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/splitmix64.hpp"
#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::base::ceil_div;

std::vector<std::uint64_t> random_line_masks(const GemmProblem& gemm, std::int64_t density_percent,
                                             std::uint64_t seed) {
    constexpr std::uint64_t kPercent = 100;
    constexpr std::int64_t kGroup = 4;  // elements of k that lie together
    const std::int64_t lines = ceil_div(gemm.k, std::int64_t{kRowBytes}) * kMaxRows;
    std::vector<std::uint64_t> masks;
    for (std::int64_t tile = 0; tile < ceil_div(gemm.n, std::int64_t{kMaxRows}); ++tile) {
        for (std::int64_t line = 0; line < lines; ++line) {
            std::uint64_t mask = 0;
            for (std::int64_t i = 0; i < kRowBytes; ++i) {
                const bool inside =
                    line * kGroup + i % kGroup < gemm.k && tile * kMaxRows + i / kGroup < gemm.n;
                if (inside && arch::base::next_splitmix64(seed) % kPercent <
                                  static_cast<std::uint64_t>(density_percent)) {
                    mask |= std::uint64_t{1} << static_cast<unsigned>(i);
                }
            }
            masks.push_back(mask);
        }
    }
    return masks;
}

}  // namespace tilesim::workloads::amx::tiles
