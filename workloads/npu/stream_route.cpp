#include "workloads/npu/stream_route.hpp"

#include <utility>

namespace tilesim::workloads::npu {

using namespace arch::npu;

program::Route& add_route(program::Program& program, std::string name, program::ChannelId from,
                          std::vector<program::ChannelId> to) {
    program::Route route;
    route.name = std::move(name);
    route.source = from;
    route.destinations = std::move(to);
    program.routes.push_back(std::move(route));
    return program.routes.back();
}

}  // namespace tilesim::workloads::npu
