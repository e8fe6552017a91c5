#include "arch/host/matrix_loops.hpp"

#include <algorithm>
#include <cmath>

namespace tilesim::arch::host {

namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kPermille = 1e3;
constexpr double kWord = 4;       // bytes of an f32
constexpr double kBlockRows = 8;  // rows whose sums are in registers at once

// Cycles of a core per multiply-add to load out of the L2: the passing operand's word, and the
// rows of the block themselves when these do not fit the L1.
double l2_cycles(const HostConfig& host, double block_rows, double row_words) {
    const bool block_in_l1 = block_rows * row_words * kWord <= static_cast<double>(host.l1.count());
    const double words = 1 / block_rows + (block_in_l1 ? 0 : 1);
    return words * kWord / static_cast<double>(host.l2_bandwidth.count());
}

}  // namespace

double product_ns(const HostConfig& host, MatrixLoop loop, double m, double k, double n) {
    const auto cores = static_cast<double>(host.cores);
    const bool tiled = loop == MatrixLoop::RowBlocks;
    const double block = tiled ? kBlockRows : 1;
    const double share =
        static_cast<double>(tiled ? host.tiled_permille : host.streaming_permille) / kPermille;
    const double cycles = 2 / (static_cast<double>(host.operations_per_cycle) * share) +
                          l2_cycles(host, block, tiled ? k : n);
    // Blocks are shared out whole: the last round may leave cores idle.
    const double rounds = std::ceil(std::ceil(m / block) / cores);
    const double compute =
        rounds * block * k * n * cycles / static_cast<double>(host.clock.count());
    const double operand = k * n * kWord;
    const double passes = operand <= static_cast<double>(host.l3.count()) ? 1 : rounds;
    const double fetch = passes * operand / static_cast<double>(host.core_bandwidth.count());
    const double own = m * k * kWord;
    const double result = m * n * kWord;
    // A line of the result is fetched before it is written.
    const double memory =
        (passes * operand + own + 2 * result) / static_cast<double>(host.bandwidth.count());
    return std::max(compute + fetch, memory) * kNanosecondsPerSecond;
}

}  // namespace tilesim::arch::host
