#include "workloads/amx/tiles/amx_regions.hpp"

namespace tilesim::workloads::amx::tiles {

AmxRegion Runs::around(std::int64_t thread) const {
    return {thread, address, (count - 1) * stride + bytes};
}

void add_runs(std::vector<AmxRegion>& regions, std::int64_t thread, const Runs& runs) {
    if (runs.stride <= runs.bytes) {
        regions.push_back(runs.around(thread));
        return;
    }
    for (std::int64_t i = 0; i < runs.count; ++i) {
        regions.push_back({thread, runs.address + i * runs.stride, runs.bytes});
    }
}

}  // namespace tilesim::workloads::amx::tiles
