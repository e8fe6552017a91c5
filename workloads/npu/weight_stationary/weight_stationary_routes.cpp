#include "workloads/npu/weight_stationary/weight_stationary_routes.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/stream_route.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using namespace arch::npu;

namespace {

class Routes {
  public:
    Routes(program::Program& program, const ArrayShape& shape) : program_(program), shape_(shape) {}

    void make() {
        // Broadcasts need the most wires: they choose first.
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            route_a(column);
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            route_b(column);
            if (shape_.adds) {
                route_parts(column);
            } else {
                add(fmt::format("c_core_{}", column), sends(core(column, shape_.rows - 1), kCoreC),
                    {takes(memory(column), kMemoryInC)});
            }
            add(fmt::format("c_shim_{}", column), sends(memory(column), kMemoryOutC),
                {takes(shim(column), kShimC)});
        }
    }

  private:
    program::TileCoordinate shim(std::int64_t column) const { return shape_.tile(column, 0); }
    program::TileCoordinate memory(std::int64_t column) const { return shape_.tile(column, 1); }
    program::TileCoordinate core(std::int64_t column, std::int64_t slice) const {
        return shape_.core(column, slice);
    }

    program::Route& add(std::string name, program::ChannelId from,
                        std::vector<program::ChannelId> to) {
        return add_route(program_, std::move(name), from, std::move(to));
    }

    void route_a(std::int64_t column) {
        const SliceSpan held = shape_.slices_of(column);
        if (held.count > 0) {
            add(fmt::format("a_shim_{}", column), sends(shim(column), kShimA),
                {takes(memory(column), kMemoryInA)});
        }
        for (std::int64_t i = 0; i < held.count; ++i) {
            std::vector<program::ChannelId> cores;
            for (std::int64_t c = 0; c < shape_.columns; ++c) {
                cores.push_back(takes(core(c, held.first + i), kCoreA));
            }
            add(fmt::format("a_slice_{}", held.first + i),
                sends(memory(column), shape_.memory_out_a(i)), cores);
        }
    }

    void route_b(std::int64_t column) {
        add(fmt::format("b_shim_{}", column), sends(shim(column), kShimB),
            {takes(memory(column), kMemoryInB)});
        for (std::int64_t stream = 0; stream < shape_.b_streams; ++stream) {
            const SliceSpan span = shape_.slices_on(stream);
            for (std::int64_t slice = span.first; slice < span.first + span.count; ++slice) {
                program::Route& route = add(fmt::format("b_core_{}_{}", column, slice),
                                            sends(memory(column), shape_.memory_out_b(stream)),
                                            {takes(core(column, slice), kCoreB)});
                if (span.count > 1) {
                    route.packet_id = slice;
                }
            }
        }
    }

    void route_parts(std::int64_t column) {
        for (std::int64_t slice = 0; slice < shape_.rows; ++slice) {
            add(fmt::format("part_core_{}_{}", column, slice), sends(core(column, slice), kCoreC),
                {takes(memory(column), shape_.memory_in_part(slice))});
        }
        add(fmt::format("parts_{}", column), sends(memory(column), shape_.memory_out_parts()),
            {takes(shape_.adder(column), kAdderIn)});
        add(fmt::format("c_adder_{}", column), sends(shape_.adder(column), kAdderOut),
            {takes(memory(column), kMemoryInC)});
    }

    program::Program& program_;
    const ArrayShape& shape_;
};

}  // namespace

void add_routes(program::Program& program, const ArrayShape& shape) {
    Routes(program, shape).make();
}

}  // namespace tilesim::workloads::npu::weight_stationary
