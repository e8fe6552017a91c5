#include "workloads/npu/gemv/gemv_routes.hpp"

#include <fmt/format.h>

#include <utility>

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;
using program::ChannelId;
using program::Direction;

namespace {

void add(program::Program& program, std::string name, ChannelId from, std::vector<ChannelId> to) {
    program::Route route;
    route.name = std::move(name);
    route.source = from;
    route.destinations = std::move(to);
    program.routes.push_back(std::move(route));
}

void add_vector(program::Program& program, const GemvShape& shape, const GemvMapping& map) {
    std::vector<ChannelId> cores;
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        for (std::int64_t row = 0; row < shape.rows; ++row) {
            cores.push_back({shape.core(column, row), Direction::S2MM, kCoreX});
        }
        if (!map.one_vector_stream) {
            add(program, fmt::format("x_{}", column), {{column, 0}, Direction::MM2S, kShimX},
                std::exchange(cores, {}));
        }
    }
    if (map.one_vector_stream) {
        add(program, "x", {{0, 0}, Direction::MM2S, kShimX}, std::move(cores));
    }
}

void add_through_memory_tile(program::Program& program, const GemvShape& shape,
                             std::int64_t column) {
    const program::TileCoordinate shim{column, 0};
    const program::TileCoordinate memory{column, 1};
    add(program, fmt::format("a_shim_{}", column), {shim, Direction::MM2S, kShimA},
        {{memory, Direction::S2MM, kMemoryInA}});
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        const program::TileCoordinate core = shape.core(column, row);
        add(program, fmt::format("a_{}_{}", column, row), {memory, Direction::MM2S, row},
            {{core, Direction::S2MM, kCoreA}});
        add(program, fmt::format("y_{}_{}", column, row), {core, Direction::MM2S, kCoreY},
            {{memory, Direction::S2MM, shape.memory_in_y(row)}});
    }
    add(program, fmt::format("y_shim_{}", column), {memory, Direction::MM2S, shape.memory_out_y()},
        {{shim, Direction::S2MM, kShimY}});
}

}  // namespace

void add_routes(program::Program& program, const GemvShape& shape, const GemvMapping& map) {
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        if (!map.direct()) {
            add_through_memory_tile(program, shape, column);
            continue;
        }
        const program::TileCoordinate shim{column, 0};
        add(program, fmt::format("a_{}", column), {shim, Direction::MM2S, kShimA},
            {{shape.core(column, 0), Direction::S2MM, kCoreA}});
        add(program, fmt::format("y_{}", column), {shape.core(column, 0), Direction::MM2S, kCoreY},
            {{shim, Direction::S2MM, kShimY}});
    }
    add_vector(program, shape, map);
}

}  // namespace tilesim::workloads::npu::gemv
