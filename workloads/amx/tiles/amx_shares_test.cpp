#include "workloads/amx/tiles/amx_shares.hpp"

#include <gtest/gtest.h>

#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

TEST(AmxShares, EveryPartitionGivesTheProduct) {
    for (const auto partition : {AmxMapping::Partition::M, AmxMapping::Partition::N,
                                 AmxMapping::Partition::K, AmxMapping::Partition::MN}) {
        AmxMapping mapping;
        mapping.threads = 3;
        mapping.partition = partition;
        expect_product(gemm(101, 270, 89), mapping);
        expect_product(gemm(101, 270, 89, DataType::Bf16, DataType::F32), mapping);
    }
}

// Cycles a k tile: results / 12, 8 a row of A, 3 a column of B. 16 x 16 blocks of 32 x 32 on 31
// threads: of 10 x 3 each has 2 x 6 blocks (1024 + 512 + 576), of 7 x 4 it has 3 x 4 (1024 + 768 +
// 384), of 31 x 1 1 x 16 (1365 + 256 + 1536). 32 x 16 blocks on 21: of 7 x 3 each has 5 x 6 (4416),
// of 5 x 4 7 x 4 (4565), of 10 x 2 4 x 8 (4522).
TEST(AmxShares, AGridLeavesThreadsIdleWhereOthersTakeLess) {
    const GemmProblem problem = gemm(512, 64, 512);
    AmxMapping mapping;
    mapping.partition = AmxMapping::Partition::MN;
    mapping.threads = 31;
    EXPECT_EQ(shares_of_n(problem, mapping), 3);
    const LoweredAmx lowered = lower(problem, mapping);
    EXPECT_FALSE(lowered.programs[29].statements.empty());
    EXPECT_TRUE(lowered.programs[30].statements.empty());
    mapping.threads = 21;
    EXPECT_EQ(shares_of_n(gemm(1024, 64, 512), mapping), 3);
}

// 16 x 16 blocks on 4 threads: 4 x 1 has 4 x 16 blocks, 2 x 2 8 x 8: as many, which take fewer rows
// and columns, but more rows of A. 64 x 64 blocks on 56: 11 x 5 has 6 x 13, 8 x 7 8 x 10.
TEST(AmxShares, AGridSparesRowsOfARatherThanColumnsOfB) {
    AmxMapping mapping;
    mapping.partition = AmxMapping::Partition::MN;
    mapping.threads = 4;
    EXPECT_EQ(shares_of_n(gemm(512, 64, 512), mapping), 1);
    mapping.threads = 56;
    EXPECT_EQ(shares_of_n(gemm(2048, 64, 2048), mapping), 5);
}

TEST(AmxShares, GridsWithIdleThreadsGiveTheProduct) {
    AmxMapping mapping;
    mapping.partition = AmxMapping::Partition::MN;
    mapping.threads = 5;
    mapping.threads_n = 2;
    expect_product(gemm(101, 270, 89), mapping);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
