// The mappings `tune` tries on AMX cores: accumulator blocks and loop orders under the eight tiles,
// layouts of B, cache blocks of N and K; what else the case's mapping says stays.
#pragma once

#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

// The product on as many cores as have a block each, its blocks as the private caches want them.
AmxMapping whole_socket(const GemmProblem& gemm, std::int64_t m_acc, std::int64_t n_acc,
                        std::int64_t cores);

std::vector<Candidate> candidates_of(const Dataflow& dataflow, const Case& a_case, const AmxMapping& given);

}  // namespace tilesim::workloads::amx::tiles
