// Why a product cannot run on AMX cores with a mapping.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

// Sentences that name what limits it; none when it can run. `cores`: of the socket.
std::vector<std::string> problems_of(const GemmProblem& gemm, const AmxMapping& mapping,
                                     std::int64_t cores);

}  // namespace tilesim::workloads::amx::tiles
