// The mappings `tune` tries on AMX cores: accumulator blocks and loop orders under the eight tiles,
// layouts of B, cache blocks of N and K; what else the case's mapping says stays.
#pragma once

#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

CandidateList candidates_of(const Dataflow& dataflow, const Case& a_case, const AmxMapping& given);

}  // namespace tilesim::workloads::amx::tiles
