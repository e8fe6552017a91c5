// The mappings `tune` tries on AMX cores: accumulator blocks and loop orders under the eight tiles,
// layouts of B, cache blocks of N and K; what else the case's mapping says stays.
#pragma once

#include "arch/amx/amx_config.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

// What simulating the product takes, about: products of tiles, and lines of operands that cores
// read and write, several of them some lines.
double steps_of(const GemmProblem& gemm, const AmxMapping& mapping);
double steps_of(const ConvolutionProblem& convolution);

std::vector<Candidate> candidates_of(const Dataflow& dataflow, const Case& a_case);
std::vector<Candidate> convolution_candidates(const Dataflow& dataflow, const Case& a_case);
// The mapping with one of its keys changed, as `alternatives_of` has them.
std::vector<Candidate> variants_of(const Dataflow& dataflow, const Case& a_case,
                                   const AmxMapping& mapping);

}  // namespace tilesim::workloads::amx::tiles
