// A transformer model generating tokens: its matrices in processing in memory, the rest on the
// system on chip.
//
// Models:  prompt: all tokens at once, the attention on the system on chip's roofline, the matrices
//          there too or simulated on an NPU; each token after it: the layers' matrices as simulated
//          GEMVs in the banks, the attention over the growing cache and the vocabulary matrix on
//          the roofline.
// Ignores: normalisation, activation functions and residual additions, whose bytes are those of a
//          few vectors; overlap between the system on chip and the banks.
#pragma once

#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

RunResult run_model(const Scenario& scenario, const ModelWorkload& workload);

}  // namespace tilesim::sim::system
