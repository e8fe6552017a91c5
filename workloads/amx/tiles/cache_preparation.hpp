// What the caches hold when a run starts: stated in the programs, so that what is simulated,
// printed and measured is the same, and brought into a socket's caches.
#pragma once

#include <span>

#include "arch/amx/program/instruction.hpp"
#include "arch/amx/socket/socket.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"

namespace tilesim::workloads::amx::tiles {

arch::amx::program::Preparation::To level_of(AmxMapping::DataIn data_in);

// Adds each thread's regions, in front of the buffers they are parts of, and how often it runs.
void state_caches(LoweredAmx& lowered, const AmxMapping& mapping);

// Does what the programs state, step by step. All threads side by side, a page each in turn: what
// the L3 has no room for is a part of everybody's.
void prepare_caches(arch::amx::socket::Socket& socket,
                    std::span<const arch::amx::program::Program> programs);

}  // namespace tilesim::workloads::amx::tiles
