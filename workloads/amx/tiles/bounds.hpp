// What no run on AMX cores beats: TMUL, tile loads, and DRAM where the operands are read from
// there.
#pragma once

#include "arch/amx/amx_config.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "workloads/amx/tiles/amx_work.hpp"
#include "workloads/bounds.hpp"

namespace tilesim::workloads::amx::tiles {

// By what the cores have executed in `socket`.
GemmBounds bounds_of(const arch::memory::device::MemoryConfig& memory,
                     const arch::amx::AmxConfig& config, const AmxWork& work,
                     const arch::amx::socket::Socket& socket);

}  // namespace tilesim::workloads::amx::tiles
