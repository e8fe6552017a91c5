#include "workloads/npu/weight_stationary/weight_stationary_mapping.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using Reduction = WeightStationaryMapping::Reduction;

void read_keys(arch::base::config::Node& node, WeightStationaryMapping& map) {
    const arch::base::config::Range tile{0, 4096};
    node.optional(
        "m_ct", map.m_ct, tile,
        "rows of the A and C tiles that stream past; 0: chosen, with whatever else is not "
        "stated");
    node.optional("k_ct", map.k_ct, tile,
                  "rows of the B tile a core keeps: its slice of K; 0: chosen, as m_ct");
    node.optional("n_ct", map.n_ct, tile, "columns of the B tile a core keeps; 0: chosen, as m_ct");
    node.optional("reduction", map.reduction,
                  {{"cascade", Reduction::Cascade}, {"memory_tile", Reduction::MemoryTile}},
                  "how the parts of C that the cores of a column have are added");
    node.optional("a_buffers", map.a_buffers, {1, 8}, "A tiles per core, and per memory tile");
    node.optional("c_buffers", map.c_buffers, {1, 8}, "C tiles wherever C waits for a DMA");
    node.optional("columns", map.columns, {0, 64}, "columns of cores used; 0: all");
    node.optional("rows", map.rows, {0, 16}, "rows of cores that multiply; 0: all there can be");
    node.done();
}

bool leaves_open(const arch::base::config::Node&, const WeightStationaryMapping& map) {
    return map.m_ct == 0 || map.k_ct == 0 || map.n_ct == 0;
}

}  // namespace tilesim::workloads::npu::weight_stationary
