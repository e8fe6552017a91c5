#include "workloads/npu/gotoblas/gotoblas.hpp"

#include <gtest/gtest.h>

#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "workloads/npu/gotoblas/gotoblas_data.hpp"
#include "workloads/npu/gotoblas/gotoblas_testing.hpp"

namespace tilesim::workloads::npu::gotoblas {
namespace {

Outcome run(const Machine& m, const GemmProblem& gemm, const GotoblasMapping& map,
            bool functional) {
    LoweredGotoblas lowered = lower(gemm, map, m.npu);
    EXPECT_TRUE(arch::npu::check::verify(lowered.program, m.npu).empty());
    const GotoblasData data(gemm, map, lowered);
    const Bytes bytes{[&](auto& store) { data.fill(3, store); },
                      [&](auto& store) { return data.check(3, store); }};
    return run_program(m, lowered.program, functional ? std::optional{bytes} : std::nullopt);
}

Outcome run(const GemmProblem& gemm, const GotoblasMapping& map, bool functional) {
    return run(machine(), gemm, map, functional);
}

TEST(Gotoblas, ProductsMatchWithRemaindersInEveryLoopAndSeveralPassesOverC) {
    for (const std::int64_t b_buffers : {1, 2}) {
        for (const bool column_major : {true, false}) {
            GemmProblem gemm = problem(70, 50, 30);
            gemm.b_column_major = column_major;
            GotoblasMapping map = mapping(32, 12, 19);
            map.b_buffers = b_buffers;
            const Outcome functional = run(gemm, map, true);
            EXPECT_TRUE(functional.check.match) << functional.check.first_mismatch;
            EXPECT_EQ(functional.check.checked, 70 * 30);
            EXPECT_EQ(run(gemm, map, false).cycles, functional.cycles);
        }
    }
}

TEST(Gotoblas, ProductsMatchForOtherTypesAndBlocks) {
    GemmProblem gemm = problem(40, 33, 24);
    GotoblasMapping map = mapping(32, 16, 16);
    map.m_r = 8;
    map.n_r = 8;
    for (const DataType c : {DataType::Int16, DataType::Int32}) {
        gemm.c = c;
        EXPECT_TRUE(run(gemm, map, true).check.match);
    }
    gemm.a = gemm.b = DataType::Int8;
    for (const DataType c : {DataType::Int8, DataType::Int16, DataType::Int32}) {
        gemm.c = c;
        EXPECT_TRUE(run(gemm, map, true).check.match);
    }
}

TEST(Gotoblas, EachPanelOfBIsCopiedOncePerRowBlock) {
    const Machine m = machine();
    const LoweredGotoblas lowered = lower(problem(128, 100, 32), mapping(64, 32, 50), m.npu);
    EXPECT_EQ(lowered.b_panels, 2 * 2 * 8);      // i_c, p_c, j_r
    EXPECT_EQ(lowered.kernel_calls, 2 * 8 * 8);  // p_c, row panels, column panels
    EXPECT_EQ(lowered.padding_waste(problem(128, 100, 32)), 0);
    EXPECT_NEAR(lower(problem(120, 100, 30), mapping(64, 32, 50), m.npu)
                    .padding_waste(problem(120, 100, 30)),
                1.0 - 120.0 * 30.0 / (128.0 * 32.0), 1e-12);
}

TEST(Gotoblas, PanelsAreRoundsWhereBlocksOfRowsAndOfKAreAlike) {
    const Machine m = machine();
    const auto rounds = [&](std::int64_t rows, std::int64_t k) {
        return lower(problem(rows, k, 32), mapping(64, 32, 50), m.npu).rounds();
    };
    EXPECT_EQ(rounds(128, 100), 2 * 2 * 8);
    EXPECT_EQ(rounds(64, 50), 8);
    EXPECT_EQ(rounds(96, 100), 0);
    EXPECT_EQ(rounds(128, 80), 0);
}

// One column panel: what more rows cost is their micro-kernels, whatever surrounds them. Two row
// panels, so that C ends with a whole burst.
TEST(Gotoblas, MoreRowPanelsCostTheirMicroKernels) {
    const Machine m = machine();
    const auto kernel = arch::npu::core::StreamKernelTiming(m.npu.kernels, m.npu.stream)
                            .cycles(micro_kernel(problem(0, 0, 0), mapping(0, 0, 0), 100))
                            .total();
    const std::int64_t ten = run(problem(160, 100, 4), mapping(1024, 4, 100), false).cycles;
    const std::int64_t more = run(problem(192, 100, 4), mapping(1024, 4, 100), false).cycles;
    EXPECT_EQ(more - ten, 2 * kernel.count());
}

TEST(Gotoblas, TwoBuffersHideTheCopyBehindTheMicroKernels) {
    const GemmProblem gemm = problem(1024, 100, 16);
    GotoblasMapping map = mapping(1024, 16, 100);
    const std::int64_t one = run(gemm, map, false).cycles;
    map.b_buffers = 2;
    const std::int64_t two = run(gemm, map, false).cycles;
    // Of four copies three lie under micro-kernels: 200 words at the host's rate each, two writes
    // to the lock around them, and the core's wake-up; each of the three begins within three
    // cycles.
    EXPECT_NEAR(static_cast<double>(one - two), 3 * (189 + 200 * 14 + 2 * 14 + 9), 9);
}

TEST(Gotoblas, APortCarriesLessThanTheKernelReads) {
    const GemmProblem gemm = problem(64, 100, 4);
    GotoblasMapping map = mapping(64, 4, 100);
    const std::int64_t ideal = run(gemm, map, false).cycles;
    map.a_stream = GotoblasMapping::AStream::Port;
    // Four calls, 800 words of A each, over 200 + 22 cycles of multiplying less the two that hide
    // C's first words.
    EXPECT_EQ(run(gemm, map, false).cycles - ideal, 4 * (800 - 220));
}

TEST(Gotoblas, AWiderPortCarriesMoreOfAAndOfC) {
    Machine m = machine();
    const GemmProblem gemm = problem(64, 100, 4);
    GotoblasMapping map = mapping(64, 4, 100);
    map.a_stream = GotoblasMapping::AStream::Port;
    const auto cycles = [&] { return run(m, gemm, map, false).cycles; };
    const auto bound = [&] { return bounds_of(gemm, map, m.npu, m.memory).stream_ns; };
    const std::int64_t narrow = cycles();
    const double narrow_ns = bound();
    m.npu.stream.width = arch::base::BytesPerCycle{8};
    // Four calls: half of 800 cycles of A, which is still more than the multiplications, and half
    // of 32 words of C, in and out.
    EXPECT_NEAR(static_cast<double>(narrow - cycles()), 4 * (400 + 2 * 16), 8);
    EXPECT_NEAR(bound(), narrow_ns / 2, 1e-9);
}

TEST(Gotoblas, MemoryTrafficIsBOnceAndCBothWays) {
    const Outcome outcome = run(problem(64, 64, 16), mapping(64, 16, 64), false);
    EXPECT_EQ(outcome.totals.bytes_requested, 64 * 16 * 2 + 2 * 64 * 16 * 2);
}

// A counting lock has no states to hand a buffer on by: the run would stand still.
TEST(Gotoblas, CountingLocksAreRefused) {
    arch::npu::NpuConfig config = machine().npu;
    config.lock_kind = arch::npu::LockKind::Counting;
    const auto problems = problems_of(problem(64, 64, 16), mapping(64, 16, 64), config);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems[0].find("takes binary locks"), std::string::npos) << problems[0];
}

TEST(Gotoblas, LimitsFollowFromSizes) {
    const arch::npu::NpuConfig config = machine().npu;
    EXPECT_TRUE(problems_of(problem(16, 4096, 4), mapping(16, 4, 290), config).empty());
    const auto longer = problems_of(problem(16, 4096, 4), mapping(16, 4, 291), config);
    ASSERT_EQ(longer.size(), 1U);
    EXPECT_NE(longer[0].find("= 4656 B, the core has 4640 B"), std::string::npos) << longer[0];
    GotoblasMapping wide = mapping(16, 8, 145);
    wide.n_r = 8;
    EXPECT_TRUE(problems_of(problem(16, 4096, 8), wide, config).empty());
    wide.k_c = 146;
    const auto deep = problems_of(problem(16, 4096, 8), wide, config);
    ASSERT_EQ(deep.size(), 1U);
    EXPECT_NE(deep[0].find("= 4672 B, the core has 4640 B"), std::string::npos) << deep[0];
    // A shorter K needs no more than itself.
    EXPECT_TRUE(problems_of(problem(16, 100, 4), mapping(16, 4, 4096), config).empty());
    const auto tall = problems_of(problem(1 << 20, 290, 4), mapping(1 << 17, 4, 290), config);
    ASSERT_EQ(tall.size(), 1U);
    EXPECT_NE(tall[0].find("20000000 B of RAM"), std::string::npos) << tall[0];
}

TEST(Gotoblas, TypesTheCoreHasNotAreRefusedHoweverNarrow) {
    const arch::npu::NpuConfig config = machine().npu;
    GemmProblem gemm = problem(16, 64, 4);
    gemm.b = arch::base::DataType::Int4;
    const GotoblasMapping map = choose_gotoblas(gemm, config);
    ASSERT_EQ(problems_of(gemm, map, config).size(), 1U);
    EXPECT_TRUE(mappings_of(gemm, map, config).empty());
}

TEST(Gotoblas, ProductsOfMorePanelsThanASequenceHoldsAreRefused) {
    const arch::npu::NpuConfig config = machine().npu;
    GotoblasMapping map = mapping(16, 4, 32);
    map.m_c = 16;
    // 4096 rows of blocks, 32 steps of K: 131072 for each four columns.
    EXPECT_TRUE(problems_of(problem(1 << 16, 1 << 10, 8), map, config).empty());
    const auto more = problems_of(problem(1 << 16, 1 << 10, 9), map, config);
    ASSERT_EQ(more.size(), 1U);
    EXPECT_NE(more[0].find("393216 B_r"), std::string::npos) << more[0];
}

TEST(Gotoblas, ChoosesTheLargestBlocksThatFit) {
    const arch::npu::NpuConfig config = machine().npu;
    const GemmProblem gemm = problem(100000, 1000, 50);
    const GotoblasMapping map = choose_gotoblas(gemm, config);
    EXPECT_EQ(map.k_c, 290);
    EXPECT_EQ(map.n_c, 52);
    EXPECT_EQ(map.m_c, 20'000'000 / 580 / 16 * 16);
    EXPECT_TRUE(problems_of(gemm, map, config).empty());
}

}  // namespace
}  // namespace tilesim::workloads::npu::gotoblas
