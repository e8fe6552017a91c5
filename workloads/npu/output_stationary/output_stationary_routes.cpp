#include "workloads/npu/output_stationary/output_stationary_routes.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/stream_route.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

class Routes {
  public:
    Routes(program::Program& program, const ArrayShape& shape, const OutputStationaryMapping& map)
        : program_(program), shape_(shape), map_(map) {}

    void make() {
        // What passes a memory tile keeps the number of its wire: it chooses first.
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            route_a_in(column, true);
            route_b_in(column, true);
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            route_a_in(column, false);
            route_a_out(column);
        }
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            route_c_in(column, false);
            route_b_in(column, false);
            route_b_out(column);
            route_c_out(column);
        }
        // Packets share wires with each other, with nothing else: they take what circuits leave.
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            route_c_in(column, true);
        }
    }

  private:
    program::Route& add(std::string name, program::ChannelId from,
                        std::vector<program::ChannelId> to) {
        return add_route(program_, std::move(name), from, std::move(to));
    }

    void route_a_in(std::int64_t column, bool passing) {
        const std::int64_t held = shape_.rows_of_a(column).count;
        if (held == 0 || passing != (shape_.a_home > 1)) {
            return;
        }
        const std::int64_t streams = shape_.a_streams(column, map_);
        for (std::int64_t i = 0; i < streams; ++i) {
            const std::int64_t first = shape_.a_rows_in(column, i, streams).first;
            add(held == 1 && streams > 1 ? fmt::format("a_shim_{}_{}", first, i)
                                         : fmt::format("a_shim_{}", first),
                sends(shape_.tile(column, 0), shape_.a_shim_channel() + i),
                {takes(shape_.tile(column, shape_.a_home), shape_.a_in_channel() + i)});
        }
    }

    void route_a_out(std::int64_t column) {
        const RowSpan held = shape_.rows_of_a(column);
        for (std::int64_t i = 0; i < held.count; ++i) {
            std::vector<program::ChannelId> cores;
            for (std::int64_t c = 0; c < shape_.columns; ++c) {
                cores.push_back(takes(shape_.core_tile(c, held.first + i), kCoreA));
            }
            add(fmt::format("a_row_{}", held.first + i),
                sends(shape_.tile(column, shape_.a_home), shape_.a_out_channel() + i), cores);
        }
    }

    void route_b_in(std::int64_t column, bool passing) {
        for (std::int64_t i = 0; i < shape_.b_in && passing == (shape_.b_home > 1); ++i) {
            add(shape_.b_in == 1 ? fmt::format("b_shim_{}", column)
                                 : fmt::format("b_shim_{}_{}", column, i),
                sends(shape_.tile(column, 0), shape_.b_shim_channel() + i),
                {takes(shape_.tile(column, shape_.b_home), shape_.b_in_channel() + i)});
        }
    }

    void route_b_out(std::int64_t column) {
        std::vector<program::ChannelId> cores;
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            cores.push_back(takes(shape_.core_tile(column, row), kCoreB));
        }
        add(fmt::format("b_column_{}", column),
            sends(shape_.tile(column, shape_.b_home), shape_.b_out_channel()), cores);
    }

    void route_c_in(std::int64_t column, bool packets) {
        const program::TileCoordinate home = shape_.tile(column, shape_.c_home);
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            if (shape_.shared(row) != packets) {
                continue;
            }
            program::Route& route =
                add(fmt::format("c_core_{}_{}", column, row),
                    sends(shape_.core_tile(column, row), kCoreC),
                    {takes(home, shape_.c_in_channel() + shape_.stream_in(row))});
            if (packets) {
                route.packet_id = row;
                route.keep_header = true;
            }
        }
    }

    void route_c_out(std::int64_t column) {
        for (std::int64_t i = 0; i < shape_.c_out; ++i) {
            add(shape_.c_out == 1 ? fmt::format("c_shim_{}", column)
                                  : fmt::format("c_shim_{}_{}", column, i),
                sends(shape_.tile(column, shape_.c_home), shape_.c_out_channel() + i),
                {takes(shape_.tile(column, 0), shape_.c_shim_channel() + i)});
        }
    }

    program::Program& program_;
    const ArrayShape& shape_;
    const OutputStationaryMapping& map_;
};

}  // namespace

void add_routes(program::Program& program, const ArrayShape& shape,
                const OutputStationaryMapping& map) {
    Routes(program, shape, map).make();
}

}  // namespace tilesim::workloads::npu::output_stationary
