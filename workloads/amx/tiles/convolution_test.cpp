#include "workloads/amx/tiles/convolution.hpp"

#include <gtest/gtest.h>

#include "arch/amx/program/program_text.hpp"
#include "workloads/amx/tiles/amx_run_testing.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

TEST(AmxConvolution, ConvolutionsGiveTheProduct) {
    ConvolutionProblem conv;
    conv.height = 5;
    conv.width = 19;
    conv.channels = 70;
    conv.filters = 37;
    conv.kh = 3;
    conv.kw = 2;
    const auto run_with = [&conv](std::int64_t threads, AmxMapping::Partition partition) {
        AmxMapping mapping;
        mapping.threads = threads;
        mapping.partition = partition;
        const LoweredAmx lowered = lower(conv, mapping);
        arch::memory::port::BackingStore store;
        const AmxData data(conv, mapping, lowered, 11);
        data.fill(store);
        const std::int64_t cycles = run(lowered, &store).cycles;
        const ProductCheck check = data.check(store);
        EXPECT_TRUE(check.match) << check.first_mismatch;
        return cycles;
    };
    for (const std::int64_t stride : {1, 2}) {
        conv.stride = stride;
        const std::int64_t alone = run_with(1, AmxMapping::Partition::M);
        // Output rows are shared out: five over three threads, over more than there are rows.
        EXPECT_LT(run_with(3, AmxMapping::Partition::M), alone * 2 / 3);
        EXPECT_LT(run_with(8, AmxMapping::Partition::M), alone / 3);
        EXPECT_LT(run_with(2, AmxMapping::Partition::N), alone);
    }
}

ConvolutionProblem convolution(std::int64_t height, std::int64_t width, std::int64_t kh,
                               std::int64_t kw) {
    ConvolutionProblem conv;
    conv.height = height;
    conv.width = width;
    conv.kh = kh;
    conv.kw = kw;
    conv.channels = 70;
    conv.filters = 37;
    return conv;
}

// Eight output rows, 512 filters, 2 x 2 tiles on eight cores. Cycles a k tile and tap: results /
// 12, 8 a row of A, 3 a column of B; rows that all nine taps read are an eighth as dear as those
// that one does, and of every second row and column four in nine are.
TEST(AmxConvolution, TapsReadRowsOfAAgainAndColumnsOfTheirOwn) {
    const auto across = [](std::int64_t taps, std::int64_t stride) {
        ConvolutionProblem conv = convolution(8, 8, taps, taps);
        conv.filters = 512;
        conv.stride = stride;
        AmxMapping mapping;
        mapping.threads = 8;
        mapping.partition = AmxMapping::Partition::MN;
        const std::int64_t shares = shared_mapping(conv, mapping).threads_n;
        const LoweredAmx chosen = lower(conv, mapping);
        mapping.threads_n = shares;
        EXPECT_EQ(arch::amx::program::print(chosen.programs[7]),
                  arch::amx::program::print(lower(conv, mapping).programs[7]));
        EXPECT_EQ(shared_mapping(conv, mapping), mapping);
        return shares;
    };
    EXPECT_EQ(across(1, 1), 2);  // 128 x 256: 2730 + 1024 + 768; of 4 128 more
    EXPECT_EQ(across(3, 1), 8);  // 256 x 64: 1365 + 227 + 192; of 4 78 more
    EXPECT_EQ(across(2, 1), 4);
    EXPECT_EQ(across(3, 2), 4);
    EXPECT_EQ(across(1, 2), 2);  // no row is read twice
}

TEST(AmxConvolution, JoinedRowsOfAConvolutionGiveTheProduct) {
    for (const ConvolutionProblem& conv :
         {convolution(7, 7, 3, 3), convolution(5, 3, 2, 5), convolution(6, 9, 1, 1)}) {
        for (const auto partition : {AmxMapping::Partition::M, AmxMapping::Partition::MN}) {
            for (const DataType c : {DataType::Int32, DataType::Int8}) {
                ConvolutionProblem problem = conv;
                problem.c = c;
                AmxMapping mapping;
                mapping.output_rows = AmxMapping::OutputRows::Joined;
                mapping.partition = partition;
                mapping.threads = 3;
                mapping.prefetch_next = true;
                const LoweredAmx lowered = lower(problem, mapping);
                arch::memory::port::BackingStore store;
                const AmxData data(problem, mapping, lowered, 11);
                data.fill(store);
                run(lowered, &store);
                const ProductCheck check = data.check(store);
                EXPECT_TRUE(check.match) << check.first_mismatch;
            }
        }
    }
}

TEST(AmxConvolution, TilesOfJoinedRowsRunOverTheirEnds) {
    // 7 rows of 7 positions, 2 more between them that a filter of 3 reaches: 6 x 9 + 7 = 61, four
    // tiles; apart seven. 9 taps, 2 k tiles, 3 tiles of filters.
    const ConvolutionProblem conv = convolution(7, 7, 3, 3);
    const auto rows = [&conv](AmxMapping::OutputRows output_rows) {
        AmxMapping mapping;
        mapping.output_rows = output_rows;
        return run(lower(conv, mapping), nullptr).counters.dot_cycles;
    };
    constexpr std::int64_t kEach = 9 * 2 * 3 * 16;
    EXPECT_EQ(rows(AmxMapping::OutputRows::Joined), 4 * kEach);
    EXPECT_EQ(rows(AmxMapping::OutputRows::Apart), 7 * kEach);
}

TEST(AmxConvolution, AWholeSocketJoinsOutputRowsWhereThatMakesFewerTiles) {
    const auto of = [](std::int64_t height, std::int64_t width, std::int64_t kw,
                       std::int64_t stride) {
        ConvolutionProblem conv = convolution(height, width, 1, kw);
        conv.stride = stride;
        return whole_socket(conv, 2, 2, 56);
    };
    using Rows = AmxMapping::OutputRows;
    EXPECT_EQ(of(4, 7, 3, 1).output_rows, Rows::Joined);  // 3 x 9 + 7 = 34: three tiles for four
    EXPECT_EQ(of(4, 7, 3, 2).output_rows, Rows::Apart);
    EXPECT_EQ(of(9, 16, 5, 1).output_rows, Rows::Apart);  // 8 x 20 + 16 = 176: eleven for nine
    EXPECT_EQ(of(7, 7, 3, 1).threads, 2 * 2);             // blocks of 32 of 61 rows, 37 filters
    EXPECT_EQ(of(7, 7, 3, 2).threads, 7 * 2);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
