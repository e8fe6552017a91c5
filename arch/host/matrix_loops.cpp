#include "arch/host/matrix_loops.hpp"

#include <algorithm>
#include <cmath>

#include "arch/base/units.hpp"

namespace tilesim::arch::host {

namespace {

using arch::base::kNanosecondsPerSecond;
using arch::base::kPermille;
constexpr double kWord = 4;       // bytes of an f32
constexpr double kBlockRows = 8;  // rows whose sums are in registers at once

// Words a thread loads out of the L2 for a multiply-add: of the passing operand, and of the rows of
// the block themselves when those of all threads of the core do not fit the L1.
double l2_words(const HostConfig& host, double block_rows, double row_words) {
    const double rows = block_rows * static_cast<double>(host.threads);
    const bool blocks_in_l1 = rows * row_words * kWord <= static_cast<double>(host.l1.count());
    return 1 / block_rows + (blocks_in_l1 ? 0 : 1);
}

}  // namespace

double product_ns(const HostConfig& host, MatrixLoop loop, double m, double k, double n) {
    const auto cores = static_cast<double>(host.cores);
    const bool tiled = loop == MatrixLoop::RowBlocks;
    const double block = tiled ? kBlockRows : 1;
    const double share =
        static_cast<double>(tiled ? host.tiled_permille : host.streaming_permille) / kPermille;
    const auto threads = static_cast<double>(host.threads);
    const double words = l2_words(host, block, tiled ? k : n);
    const double second = static_cast<double>(host.clock.count());
    const double additions = block * k * n;  // of a block, each with a multiplication
    const double arithmetic =
        additions * 2 / (static_cast<double>(host.operations_per_cycle) * share) / second;
    const double loads =
        additions * words * kWord / static_cast<double>(host.l2_bandwidth.count()) / second;
    // Blocks are shared out whole: the last round may leave threads idle.
    const double rounds = std::ceil(std::ceil(m / block) / (cores * threads));
    const double operand = k * n * kWord;
    const double passes = operand <= static_cast<double>(host.l3.count()) ? 1 : rounds;
    const double fetch = operand / static_cast<double>(host.core_bandwidth.count());
    // What one thread does is one after the other; while it waits the others of its core go on.
    const double alone = rounds * (arithmetic + loads) + passes * fetch;
    const double core = std::max(alone, threads * rounds * std::max(arithmetic, loads));
    const double own = m * k * kWord;
    const double result = m * n * kWord;
    // A line of the result is fetched before it is written.
    const double memory =
        (passes * operand + own + 2 * result) / static_cast<double>(host.bandwidth.count());
    return std::max(core, memory) * kNanosecondsPerSecond;
}

}  // namespace tilesim::arch::host
