// The mappings `tune` tries on AMX cores: accumulator blocks and loop orders under the eight tiles,
// layouts of B, cache blocks of N and K; what else the case's mapping says stays.
#pragma once

#include "arch/amx/amx_config.hpp"
#include "workloads/amx/tiles/amx_gemm.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

// The product on as many cores as have a block each, its blocks as the private caches want them.
AmxMapping whole_socket(const GemmProblem& gemm, std::int64_t m_acc, std::int64_t n_acc,
                        const arch::amx::AmxConfig& socket);

// Its blocks of the shape expected to be fastest.
AmxMapping whole_socket(const GemmProblem& gemm, const arch::amx::AmxConfig& socket);
// The convolution likewise, its output rows joined where that makes fewer tiles.
AmxMapping whole_socket(const ConvolutionProblem& convolution, std::int64_t m_acc,
                        std::int64_t n_acc, std::int64_t cores);
// As many cores as have a block each.
std::int64_t threads_of(const ConvolutionProblem& convolution, const AmxMapping& mapping,
                        std::int64_t cores);

// What simulating the product takes, about: products of tiles, and lines of its operands.
double steps_of(const GemmProblem& gemm);
double steps_of(const ConvolutionProblem& convolution);

std::vector<Candidate> candidates_of(const Dataflow& dataflow, const Case& a_case);
std::vector<Candidate> convolution_candidates(const Dataflow& dataflow, const Case& a_case);
// The mapping with one of its other keys changed: prefetches, loop order, cache blocks, shares.
std::vector<Candidate> variants_of(const Dataflow& dataflow, const Case& a_case,
                                   const AmxMapping& mapping);
// These, and its blocks a tile smaller or larger, in each order of loads.
std::vector<Candidate> neighbours_of(const Dataflow& dataflow, const Case& a_case,
                                     const AmxMapping& mapping);

}  // namespace tilesim::workloads::amx::tiles
