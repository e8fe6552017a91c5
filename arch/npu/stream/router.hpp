// Finds a way through the stream switches for every route of a program.
//
// The graph's vertices are the ports by which words enter a switch, its edges the legal ways
// through that switch and over a wire to the next one (switch_port.hpp). A circuit has its wires to
// itself; packets share a wire where none is free. A broadcast is a tree: what is shared with an
// earlier destination costs nothing. Routes are served in the program's order, fewest new wires
// first, so the result repeats; where that leaves one without a way, all bid for the wires until
// each has its own.
#pragma once

#include <cstddef>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::stream {

// Whether two routes may leave by one port: packets of other ids, or of the same id that merge on
// their way to the same receivers.
bool can_share(const program::Route& a, const program::Route& b);
// Fills in Route::path where it is empty. Throws ConfigError when a route cannot be made, naming
// the routes that use the ports.
void route(program::Program& program, const NpuConfig& config);

// Switches a destination's words cross.
std::int64_t hops(const program::Route& route, std::size_t destination);

}  // namespace tilesim::arch::npu::stream
