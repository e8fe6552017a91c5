#include "workloads/npu/gemv/gemv_mapping.hpp"

namespace tilesim::workloads::npu::gemv {

void read_keys(arch::base::config::Node& node, GemvMapping& map) {
    const arch::base::config::Range buffers{1, 8};
    node.optional("columns", map.columns, {0, 64}, "columns of cores used; 0: all");
    node.optional("rows", map.rows, {1, 16}, "cores used of each column");
    node.optional("rows_per_call", map.rows_per_call, {1, 4096},
                  "rows of the matrix a kernel call multiplies; left out: chosen, with whatever "
                  "else is not stated");
    node.optional("rows_per_core", map.rows_per_core, {0, 1 << 16},
                  "rows whose results leave a core together; 0: those of a call");
    node.optional(
        "path", map.path,
        {{"direct", GemvMapping::Path::Direct}, {"memory_tile", GemvMapping::Path::MemoryTile}},
        "how the matrix comes to the cores");
    node.optional("order", map.order,
                  {{"apart", GemvMapping::Order::Apart}, {"in_turn", GemvMapping::Order::InTurn}},
                  "whether a column has consecutive rows, or the columns take them in turn");
    node.optional("reach", map.reach, {0, 1 << 20},
                  "steps one shim descriptor moves where columns take rows in turn; 0: as many as "
                  "it can");
    node.optional(
        "vector", map.vector,
        {{"once", GemvMapping::Vector::Once}, {"each_call", GemvMapping::Vector::EachCall}},
        "how often the vector is sent to the cores");
    node.optional("one_vector_stream", map.one_vector_stream,
                  "one shim sends the vector to all columns, instead of each to its own");
    node.optional("a_buffers", map.a_buffers, buffers, "pieces of the matrix per core");
    node.optional("x_buffers", map.x_buffers, buffers, "vectors per core");
    node.optional("y_buffers", map.y_buffers, buffers, "results per core");
    node.optional("panels", map.panels, buffers, "pieces of the matrix per core in a memory tile");
    node.optional("in_flight", map.in_flight, {0, 64},
                  "reaches whose transfers the shims hold; 0: as many as they can");
    node.done();
}

bool leaves_open(const arch::base::config::Node& node, const GemvMapping&) {
    return !node.has("rows_per_call");
}

}  // namespace tilesim::workloads::npu::gemv
