#include "arch/host/matrix_loops.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "arch/host/host_testing.hpp"

namespace tilesim::arch::host {
namespace {

using namespace testing;

constexpr double kWord = 4;       // bytes
constexpr double kBlock = 8;      // rows whose sums are in registers
constexpr double kL2 = 31;        // bytes a cycle
constexpr double kL1Words = 255;  // 1021 B

// A multiply-add's cycles: two operations, and the words it loads from the L2.
double multiply_add(double operations_a_cycle, double words) {
    return 2 / operations_a_cycle + words * kWord / kL2;
}

TEST(MatrixLoops, BlocksOfRowsAreSharedOutWhole) {
    // 24 rows are a block for each of three cores; one more needs a second round.
    const double block = kBlock * 16 * 64 * multiply_add(kTiled, 1 / kBlock) * kCycle;
    const double fetch = 16 * 64 * kWord * kByteOfCore;
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 24, 16, 64), block + fetch);
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 25, 16, 64), 2 * block + fetch);
}

TEST(MatrixLoops, LoopsThatStoreTheirResultsReachAnotherShareOfThePeak) {
    const double row = 16.0 * 64 * multiply_add(kStreaming, 1) * kCycle;
    const double fetch = 16 * 64 * kWord * kByteOfCore;
    for (const MatrixLoop loop : {MatrixLoop::Rows, MatrixLoop::OutputRows}) {
        EXPECT_DOUBLE_EQ(product_ns(host(), loop, 3, 16, 64), row + fetch);
        EXPECT_DOUBLE_EQ(product_ns(host(), loop, 4, 16, 64), 2 * row + fetch);
    }
}

TEST(MatrixLoops, RowsBeyondTheL1ComeFromTheL2) {
    // Of the blocked loop 8 rows of k words, of the others one row of n words: a word more for
    // every multiply-add.
    const auto blocks = [](double k, double words) {
        return kBlock * k * 64 * multiply_add(kTiled, words) * kCycle +
               k * 64 * kWord * kByteOfCore;
    };
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 24, 31, 64), blocks(31, 1 / kBlock));
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::RowBlocks, 24, 32, 64),
                     blocks(32, 1 / kBlock + 1));
    const auto rows = [](double n, double words) {
        return 16 * n * multiply_add(kStreaming, words) * kCycle + 16 * n * kWord * kByteOfCore;
    };
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::Rows, 3, 16, kL1Words), rows(kL1Words, 1));
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::Rows, 3, 16, kL1Words + 1),
                     rows(kL1Words + 1, 2));
}

HostConfig threaded(std::int64_t core_bandwidth) {
    HostConfig two = host();
    two.threads = 2;
    two.core_bandwidth = base::BytesPerSecond{core_bandwidth};
    return two;
}
constexpr std::int64_t kSlow = 5'000'000'000;

TEST(MatrixLoops, ThreadsOfACoreShareItsPortsAndFillEachOthersWaits) {
    // Six rows are one round for six threads. Alone a thread does one thing after the other, and
    // longer where it fetches slowly; two need a port twice.
    const double row = 16 * 64;
    const double arithmetic = row * 2 / kStreaming * kCycle;
    const double alone = row * multiply_add(kStreaming, 1) * kCycle + row * kWord / 5;
    EXPECT_GT(alone, 2 * arithmetic);
    EXPECT_DOUBLE_EQ(product_ns(threaded(kSlow), MatrixLoop::Rows, 6, 16, 64), alone);
    EXPECT_DOUBLE_EQ(product_ns(threaded(4 * kSlow), MatrixLoop::Rows, 6, 16, 64), 2 * arithmetic);
    // One more row is another round.
    EXPECT_DOUBLE_EQ(product_ns(threaded(4 * kSlow), MatrixLoop::Rows, 7, 16, 64), 4 * arithmetic);
    // Or the port of the L2, where that is slower: a word a multiply-add.
    HostConfig narrow = threaded(4 * kSlow);
    narrow.l2_bandwidth = base::BytesPerCycle{1};
    EXPECT_DOUBLE_EQ(product_ns(narrow, MatrixLoop::Rows, 6, 16, 64), 2 * row * kWord * kCycle);
}

TEST(MatrixLoops, ThreadsOfACoreShareItsL1) {
    // Two rows of 127 words fit 1021 B, two of 128 do not: a word more for every multiply-add.
    const auto rows = [](double n, double words) {
        return 16 * n * multiply_add(kStreaming, words) * kCycle + 16 * n * kWord / 5;
    };
    EXPECT_DOUBLE_EQ(product_ns(threaded(kSlow), MatrixLoop::Rows, 6, 16, 127), rows(127, 1));
    EXPECT_DOUBLE_EQ(product_ns(threaded(kSlow), MatrixLoop::Rows, 6, 16, 128), rows(128, 2));
}

TEST(MatrixLoops, AnOperandBeyondTheL3IsFetchedEveryRound) {
    // 100 x 100 words fit 40009 B, 100 x 101 do not; four rows are two rounds on three cores.
    const auto ns = [](double n, double passes) {
        return 2 * 100 * n * multiply_add(kStreaming, 1) * kCycle +
               passes * 100 * n * kWord * kByteOfCore;
    };
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::Rows, 4, 100, 100), ns(100, 1));
    EXPECT_DOUBLE_EQ(product_ns(host(), MatrixLoop::Rows, 4, 100, 101), ns(101, 2));
}

TEST(MatrixLoops, AllCoresTogetherAreBoundByTheMemory) {
    HostConfig slow = host();
    slow.cores = 101;
    slow.bandwidth = base::BytesPerSecond{103'000'000};
    // Each of 101 rows its own core: the operand once, the rows, the result fetched and written.
    const double bytes = (10 * 64 + 101 * 10 + 2 * 101 * 64) * kWord;
    EXPECT_DOUBLE_EQ(product_ns(slow, MatrixLoop::Rows, 101, 10, 64), bytes / 0.103);
    slow.l3 = base::Bytes{10 * 64 * 4 - 1};
    slow.cores = 51;  // two rounds: the operand twice
    EXPECT_DOUBLE_EQ(product_ns(slow, MatrixLoop::Rows, 101, 10, 64),
                     (bytes + 10 * 64 * kWord) / 0.103);
}

}  // namespace
}  // namespace tilesim::arch::host
