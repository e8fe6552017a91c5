#include "arch/host/roofline.hpp"

#include <gtest/gtest.h>

#include "arch/host/matrix_loops.hpp"

namespace tilesim::arch::host {
namespace {

// Round numbers: 10 Gcycle/s, 2 cores of 20 operations a cycle at half and a tenth of the peak.
HostConfig host() {
    HostConfig config;
    config.cores = 2;
    config.clock = base::Hertz{1'000'000'000};
    config.operations_per_cycle = 20;
    config.tiled_permille = 500;
    config.streaming_permille = 100;
    config.function = base::Cycles{7};
    config.transposed_element = base::Cycles{5};
    config.l1 = base::Bytes{1024};
    config.l2_bandwidth = base::BytesPerCycle{32};
    config.l3 = base::Bytes{40'000};
    config.bandwidth = base::BytesPerSecond{30'000'000'000};
    config.core_bandwidth = base::BytesPerSecond{11'000'000'000};
    config.line = base::Bytes{64};
    config.flush_line = base::Femtoseconds{3'000'000};
    config.sync_call = base::Femtoseconds{500'000'000};
    return config;
}

TEST(Roofline, ArithmeticRunsAtTheShareLoopsReach) {
    Work work;
    work.operations = 4000;  // 2 a cycle and core
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 1000);
    work.parallel = false;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 2000);
}

TEST(Roofline, FunctionsAndTransposedElementsHaveACostEach) {
    Work work;
    work.functions = 200;
    work.transposed_elements = 40;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), (200 * 7 + 40 * 5) / 2.0);
}

TEST(Roofline, WrittenLinesAreFetchedFirst) {
    Work work;
    work.bytes_read = 30'000;
    work.bytes_written = 15'000;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 2000);
    work.parallel = false;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 60'000 / 11.0);
}

TEST(Roofline, SharedBuffersAreFlushedLineByLine) {
    EXPECT_DOUBLE_EQ(sync_ns(host(), 65), 500 + 2 * 3);
}

// What the passing operand takes to fetch once.
double fetch_ns(double words) {
    return words * 4 / 11.0;
}

TEST(MatrixLoops, BlocksAreSharedOutWhole) {
    // Blocks of 8 rows: 16 rows are a block for each of two cores, 17 rows need a second round.
    const double block = 8 * 16 * 64 * (2 / (20 * 0.5) + 4 / (8.0 * 32));
    const double fetch = fetch_ns(16 * 64);
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 16, 16, 64), block + fetch);
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 17, 16, 64), 2 * block + fetch);
}

TEST(MatrixLoops, ABlockBeyondTheL1ComesFromTheL2) {
    // 8 rows of 32 f32 fill the L1, of 33 they do not: a word a multiply-add more, at 32 B a cycle.
    const auto ns = [](double k, double words) {
        return 8.0 * k * 64 * (2 / (20 * 0.5) + words * 4 / 32) + fetch_ns(k * 64);
    };
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 16, 32, 64), ns(32, 1.0 / 8));
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 16, 33, 64), ns(33, 9.0 / 8));
}

TEST(MatrixLoops, AnOperandBeyondTheL3IsFetchedEveryRound) {
    // B of 100 x 100 f32 fits 40000 B, of 100 x 101 it does not; 4 rows are two rounds.
    const auto ns = [](double n, double passes) {
        return 2 * 100 * n * (2 / (20 * 0.1) + 4.0 / 32) + passes * fetch_ns(100 * n);
    };
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::Rows, 4, 100, 100), ns(100, 1));
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::Rows, 4, 100, 101), ns(101, 2));
}

TEST(MatrixLoops, AllCoresTogetherAreBoundByTheMemory) {
    HostConfig slow = host();
    slow.core_bandwidth = slow.bandwidth = base::BytesPerSecond{100'000'000};
    slow.cores = 100;
    // Each row its own core: the operand once, the rows, the result fetched and written.
    EXPECT_DOUBLE_EQ(product_ns(slow, MatrixLoop::Rows, 100, 10, 64),
                     (10 * 64 + 100 * 10 + 2 * 100 * 64) * 4 * 10.0);
}

TEST(MatrixLoops, ResultsInMemoryAreSlowerThanInRegisters) {
    EXPECT_GT(product_ns(host(), MatrixLoop::Rows, 16, 16, 64),
              product_ns(host(), MatrixLoop::RowBlocks, 16, 16, 64));
}

}  // namespace
}  // namespace tilesim::arch::host
