// Matrix products by plain compiled loops on all cores, f32: what an accelerator is compared with.
//
// The three loops are those of the public trainer llm.c (train_gpt2.c), in which the rows of one
// operand are shared out to the cores and the other operand passes by:
//   RowBlocks   out = in W^T: eight rows of `in` keep their sums in registers while W passes once.
//   Rows        out += d W:   one row of `out` is loaded and stored for every row of W that passes.
//   OutputRows  W += d^T in:  a row of W stays in the L1 while all rows of `in` pass.
//
// Models:  a core's time as the sum of what the loop takes with operands in the L1, what the L2
//          delivers, and what it fetches from memory: threads that run side by side fetch the
//          passing operand at the pace of one of them, and anew in every round when it is larger
//          than the L3. All cores together are bound by the memory's rate. Threads of a core have
//          blocks of their own; they share its L1, and go on while one of them waits, as far as its
//          ports allow.
// Ignores: the L3's own rate, products that need more of the L2 than there is, threads that run
//          apart.
// Evidence: these loops on one Zen 3 core with gcc 12 -Ofast are met within 26 %; with the largest
//          of the three times instead of their sum within 111 % (docs/modelling.md).
#pragma once

#include "arch/host/host_config.hpp"

namespace tilesim::arch::host {

enum class MatrixLoop { RowBlocks, Rows, OutputRows };

// C (m x n) = A (m x k) * B (k x n), all f32; OutputRows adds to C.
double product_ns(const HostConfig& host, MatrixLoop loop, double m, double k, double n);

}  // namespace tilesim::arch::host
