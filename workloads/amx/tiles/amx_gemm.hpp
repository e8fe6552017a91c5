// Lowers a matrix product, and a direct convolution, to programs for AMX cores: where operands
// lie, what each thread computes, what the caches hold at the start.
#pragma once

#include <cstdint>

#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/convolution.hpp"
#include "workloads/amx/tiles/lowered_amx.hpp"

namespace tilesim::workloads::amx::tiles {

// `seed`: of the places of zeros in sparse weights, which decide how many bytes a line has.
LoweredAmx lower(const GemmProblem& gemm, const AmxMapping& mapping, std::uint64_t seed = 1);
LoweredAmx lower(const ConvolutionProblem& convolution, const AmxMapping& mapping);

}  // namespace tilesim::workloads::amx::tiles
