// Keys of a product on AMX cores that cannot matter to it, and why.
#pragma once

#include <string>
#include <vector>

#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/convolution.hpp"
#include "workloads/gemm.hpp"
#include "workloads/unfelt.hpp"

namespace tilesim::workloads::amx::tiles {

// `functional`: bytes are moved, whose values are known.
std::vector<UnfeltKey> unfelt_keys(const GemmProblem& gemm, const AmxMapping& mapping,
                                   bool functional);
std::vector<UnfeltKey> unfelt_keys(const ConvolutionProblem& convolution, const AmxMapping& mapping,
                                   bool functional);

// Sizes of blocks that are no whole tiles, or larger than what there is: sentences.
std::vector<std::string> replaced_sizes(const GemmProblem& gemm, const AmxMapping& mapping);
std::vector<std::string> replaced_sizes(const ConvolutionProblem& convolution,
                                        const AmxMapping& mapping);

}  // namespace tilesim::workloads::amx::tiles
