#include "workloads/amx/tiles/amx_tuning.hpp"

#include <gtest/gtest.h>

#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

// 48 x 128 x 64: 3 x 2 x 4 tiles; 96 lines of A, 128 of B, 192 of C.
TEST(AmxTuning, StepsCountALineOnceForEachCoreThatReadsIt) {
    const GemmProblem problem = gemm(48, 128, 64);
    AmxMapping map;
    EXPECT_EQ(steps_of(problem, map), 24 + 96 + 128 + 192);
    map.partition = AmxMapping::Partition::MN;
    map.threads = 6;
    map.threads_n = 2;  // three shares of m
    EXPECT_EQ(steps_of(problem, map), 24 + 2 * 96 + 3 * 128 + 192);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
