// The keys of `mapping.gemv`.
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu::gemv {

struct GemvMapping {
    std::int64_t columns = 0;        // of cores, the first with a shim DMA; 0: all of those
    std::int64_t rows = 1;           // cores of a column, from the south
    std::int64_t rows_per_call = 1;  // of the matrix, that a kernel call multiplies
    std::int64_t rows_per_core = 0;  // whose results leave a core together; 0: those of a call
    enum class Path {
        Direct,     // from the shim to the core
        MemoryTile  // through the memory tile of the column, results too
    } path = Path::Direct;
    enum class Order {
        Apart,   // a column has consecutive rows, read by one descriptor
        InTurn,  // the columns share out the rows step by step
    } order = Order::Apart;
    std::int64_t reach = 0;  // steps of a descriptor, in turn; 0: as many as it can move
    enum class Vector {
        Once,      // stays in the cores
        EachCall,  // comes again with every call
    } vector = Vector::Once;
    bool one_vector_stream = false;  // one shim's stream for all columns
    std::int64_t a_buffers = 2;      // of a call's rows, per core
    std::int64_t x_buffers = 1;      // of the vector, per core
    std::int64_t y_buffers = 2;      // of results, per core, and in its memory tile
    std::int64_t panels = 2;         // of a core's rows, in its memory tile
    std::int64_t in_flight = 0;      // reaches the shims are given ahead; 0: all they can take

    std::int64_t columns_of(const arch::npu::NpuConfig& config) const {
        return columns == 0 ? ShimColumns::count(config) : columns;
    }
    std::int64_t core_rows() const { return rows_per_core == 0 ? rows_per_call : rows_per_core; }
    bool direct() const { return path == Path::Direct; }
};

void read_keys(arch::base::config::Node& node, GemvMapping& mapping);
// Whether the rows of a call are to be chosen, with whatever else is not stated.
bool leaves_open(const arch::base::config::Node& node, const GemvMapping& mapping);

}  // namespace tilesim::workloads::npu::gemv
