// Work for AMX cores, whatever it came from.
#pragma once

#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"

namespace tilesim::workloads::amx::tiles {

struct AmxWork {
    LoweredAmx lowered;
    AmxMapping mapping;
    double macs = 0;  // multiply-accumulates of all runs
};

}  // namespace tilesim::workloads::amx::tiles
