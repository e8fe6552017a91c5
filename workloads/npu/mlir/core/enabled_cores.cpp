#include "workloads/npu/mlir/core/enabled_cores.hpp"

#include <algorithm>

#include "arch/base/clock.hpp"

namespace tilesim::workloads::npu::mlir::core {

void enable_cores(Lowering& lowering) {
    const arch::npu::CommandProcessorConfig& loader = lowering.config.command_processor;
    const arch::base::Clock writes{loader.clock};
    const arch::base::Clock array{lowering.config.clock};
    auto& cores = lowering.program.cores;
    std::int64_t before = 0;
    for (const program::TileCoordinate& tile : lowering.tiles) {
        const auto core = std::find_if(cores.begin(), cores.end(),
                                       [&](const auto& each) { return each.tile == tile; });
        if (core != cores.end()) {
            core->enabled =
                array.first_cycle_from(writes.time_of(loader.write_cycles * before)).count();
            ++before;
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::core
