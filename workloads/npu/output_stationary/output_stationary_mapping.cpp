#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

#include <fmt/format.h>

#include "workloads/npu/mapping_name.hpp"

namespace tilesim::workloads::npu::output_stationary {

void read_keys(arch::base::config::Node& node, OutputStationaryMapping& map) {
    const arch::base::config::Range tile{0, 4096};
    node.optional("m_ct", map.m_ct, tile,
                  "rows of a core's C tile; 0: chosen, with whatever else is not stated");
    node.optional("k_ct", map.k_ct, tile, "reduced elements of a kernel call; 0: chosen, as m_ct");
    node.optional("n_ct", map.n_ct, tile, "columns of a core's C tile; 0: chosen, as m_ct");
    map.k_mt = map.k_mt > 0 || leaves_open(node, map) ? map.k_mt : map.k_ct;
    node.optional("k_mt", map.k_mt, {1, 1 << 20}, "memory tile block along K");
    node.optional("c_buffers", map.c_buffers, {1, 2}, "C tiles per core");
    using Shim = OutputStationaryMapping::ShimDescriptors;
    node.optional("shim_bds", map.shim_bds,
                  {{"overlapped", Shim::Overlapped}, {"sequential", Shim::Sequential}},
                  "when shim descriptors are rewritten");
    node.optional("columns", map.columns, {0, 64}, "columns of cores used; 0: all");
    node.optional("rows", map.rows, {0, 16}, "rows of cores used; 0: all");
    node.optional("shim_channels", map.shim_channels, {0, 16},
                  "channels of a shim used, each way; 0: all");
    node.optional("a_buffers", map.a_buffers, {1, 8}, "A tiles per core");
    node.optional("b_buffers", map.b_buffers, {1, 8}, "B tiles per core");
    node.optional("in_flight", map.in_flight, {0, 64},
                  "reaches whose transfers the shims hold; 0: as many as they can, one where "
                  "sequential");
    node.optional("a_along", map.a_along_columns, {{"row", false}, {"column", true}},
                  "which cores share a tile of A: those of a row, B's of a column, or the other "
                  "way round");
    node.optional("c_layout", map.c_column_major, {{"column_major", true}, {"row_major", false}},
                  "how C lies in DRAM");
    node.optional(
        "c_leaves", map.c_by_line, {{"by_tile", false}, {"by_line", true}},
        "how the C tiles of a column of cores leave its memory tile: one after the other, "
        "or line by line through all of them, where they lie side by side in DRAM");
    node.optional("sums", map.sums_apart, {{"in_c", false}, {"f32", true}},
                  "whether sums are kept in C or in f32 buffers of their own, and cast at the end");
    node.optional("cast_lanes", map.cast_lanes, {0, 1024},
                  "elements of an iteration of the loop that casts sums, one iteration after the "
                  "other; 0: those of a vector instruction, iterations overlapping");
    node.optional("cast_by", map.cast_by_element, {{"vector", false}, {"element", true}},
                  "whether an iteration converts its vector at once, or takes it apart and "
                  "converts element by element");
    using Reach = OutputStationaryMapping::Reach;
    node.optional("reach", map.reach,
                  {{"output_tile", Reach::OutputTile}, {"block_row", Reach::BlockRow}},
                  "what one shim descriptor moves");
    node.optional("reach_tiles", map.reach_tiles, {0, 64},
                  "output tiles of a row of blocks one descriptor moves, where reach is block_row; "
                  "0: as many as it can");
    node.optional("mode", map.mode, "which of the device's multiply modes of these types");
    node.optional("b_k_mt", map.b_k_mt, {0, 1 << 20},
                  "memory tile block of B along K; 0: k_mt, or k_ct where B is row-major");
    node.optional("a_blocks", map.a_blocks, {0, 16},
                  "blocks of A per memory tile and stream; 0: a_buffers");
    node.optional("b_blocks", map.b_blocks, {0, 16}, "blocks of B per memory tile; 0: b_buffers");
    node.optional("c_blocks", map.c_blocks, {0, 16},
                  "C tiles of a core in its memory tile; 0: c_buffers");
    node.done();
}

bool leaves_open(const arch::base::config::Node&, const OutputStationaryMapping& map) {
    return map.m_ct == 0 || map.k_ct == 0 || map.n_ct == 0;
}

std::string name_of_tile(const OutputStationaryMapping& map) {
    MappingName name(fmt::format("{} x {} x {}, k_mt {}", map.m_ct, map.k_ct, map.n_ct, map.k_mt));
    const OutputStationaryMapping usual;
    name.add_if(map.c_buffers == 2, "C double");
    name.other("columns", map.columns, usual.columns);
    name.other("rows", map.rows, usual.rows);
    name.other("A buffers", map.a_buffers, usual.a_buffers);
    name.other("B buffers", map.b_buffers, usual.b_buffers);
    name.other("in flight", map.in_flight, usual.in_flight);
    name.other("shim channels", map.shim_channels, usual.shim_channels);
    name.add_if(map.reach != usual.reach, "a row of blocks a descriptor");
    name.add_if(map.c_by_line, "C line by line");
    return name.take();
}

}  // namespace tilesim::workloads::npu::output_stationary
