#include "workloads/npu/gemv/gemv_routes.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "workloads/npu/stream_route.hpp"

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;
using program::ChannelId;

namespace {

void add_vector(program::Program& program, const GemvShape& shape, const GemvMapping& map) {
    std::vector<ChannelId> cores;
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        for (std::int64_t row = 0; row < shape.rows; ++row) {
            cores.push_back(takes(shape.core(column, row), kCoreX));
        }
        if (!map.one_vector_stream) {
            add_route(program, fmt::format("x_{}", column), sends(shape.shim(column), kShimX),
                      std::exchange(cores, {}));
        }
    }
    if (map.one_vector_stream) {
        add_route(program, "x", sends(shape.shim(0), kShimX), std::move(cores));
    }
}

void add_through_memory_tile(program::Program& program, const GemvShape& shape,
                             std::int64_t column) {
    const program::TileCoordinate shim = shape.shim(column);
    const program::TileCoordinate memory = shape.memory_tile(column);
    add_route(program, fmt::format("a_shim_{}", column), sends(shim, kShimA),
              {takes(memory, kMemoryInA)});
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const program::TileCoordinate core = shape.core(column, row);
        add_route(program, fmt::format("a_{}_{}", column, row), sends(memory, row),
                  {takes(core, kCoreA)});
        add_route(program, fmt::format("y_{}_{}", column, row), sends(core, kCoreY),
                  {takes(memory, shape.memory_in_y(row))});
    }
    add_route(program, fmt::format("y_shim_{}", column), sends(memory, shape.memory_out_y()),
              {takes(shim, kShimY)});
}

}  // namespace

void add_routes(program::Program& program, const GemvShape& shape, const GemvMapping& map) {
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        if (!map.direct()) {
            add_through_memory_tile(program, shape, column);
            continue;
        }
        const program::TileCoordinate shim = shape.shim(column);
        add_route(program, fmt::format("a_{}", column), sends(shim, kShimA),
                  {takes(shape.core(column, 0), kCoreA)});
        add_route(program, fmt::format("y_{}", column), sends(shape.core(column, 0), kCoreY),
                  {takes(shim, kShimY)});
    }
    add_vector(program, shape, map);
}

}  // namespace tilesim::workloads::npu::gemv
