// A training step whose matrix products run on a simulated NPU, called by the processor beside it.
//
// Models:  every product's call as the processor sees it, one stage after the other: copy or
//          transpose the operands into shared buffers with conversion to the array's types, flush
//          them, (configure the array,) dispatch, run, flush the result, copy it out; each distinct
//          size simulated once; everything else, and the products alone for comparison, on the
//          processor's roofline.
// Ignores: work of the processor while the array runs; weights kept in the array's form from one
//          call to the next; data left in caches.
#pragma once

#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

RunResult run_training(const Scenario& scenario, const TrainingWorkload& training);

}  // namespace tilesim::sim::system
