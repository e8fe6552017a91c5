// Finds a way through the stream switches for every route of a program.
//
// The graph's vertices are tiles, its edges the bundles of stream ports between neighbours; each
// bundle has as many streams as the switches have ports (stream_switch.hpp). A broadcast is a tree:
// what is shared with an earlier destination costs nothing. Routes are served in the program's
// order, shortest path first, so the result repeats.
#pragma once

#include <cstddef>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program.hpp"

namespace tilesim::arch::npu {

// Fills in Route::path where it is empty. Throws ConfigError when a route cannot be made, naming
// the routes that use the ports.
void route(Program& program, const NpuConfig& config);

// Switches a destination's words cross.
std::int64_t hops(const Route& route, std::size_t destination);

}  // namespace tilesim::arch::npu
