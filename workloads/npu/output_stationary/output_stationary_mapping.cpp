#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

void read_keys(arch::base::config::Node& node, OutputStationaryMapping& map) {
    const arch::base::config::Range tile{1, 4096};
    node.required("m_ct", map.m_ct, tile, "rows of a core's C tile");
    node.required("k_ct", map.k_ct, tile, "reduced elements of a kernel call");
    node.required("n_ct", map.n_ct, tile, "columns of a core's C tile");
    map.k_mt = map.k_mt > 0 ? map.k_mt : map.k_ct;
    node.optional("k_mt", map.k_mt, {1, 1 << 20}, "memory tile block along K");
    node.optional("c_buffers", map.c_buffers, {1, 2}, "C tiles per core");
    using Shim = OutputStationaryMapping::ShimDescriptors;
    node.optional("shim_bds", map.shim_bds,
                  {{"overlapped", Shim::Overlapped}, {"sequential", Shim::Sequential}},
                  "when shim descriptors are rewritten");
    node.optional("columns", map.columns, {0, 64}, "columns of cores used; 0: all");
    node.optional("rows", map.rows, {0, 16}, "rows of cores used; 0: all");
    node.optional("a_buffers", map.a_buffers, {1, 8}, "A tiles per core, and blocks of them");
    node.optional("b_buffers", map.b_buffers, {1, 8}, "B tiles per core, and blocks of them");
    node.optional("in_flight", map.in_flight, {0, 64},
                  "output tiles whose transfers the shims hold; 0: as many as they can");
    node.done();
}

}  // namespace tilesim::workloads::npu::output_stationary
