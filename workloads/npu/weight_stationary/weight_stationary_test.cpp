#include "workloads/npu/weight_stationary/weight_stationary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "arch/memory/controller/memory_system.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/program_run_testing.hpp"
#include "workloads/npu/weight_stationary/gemm_data.hpp"
#include "workloads/npu/weight_stationary/mapping_search.hpp"

namespace tilesim::workloads::npu::weight_stationary {
namespace {

using arch::npu::DataType;
using Reduction = WeightStationaryMapping::Reduction;
using testing::ElementsAre;
using testing::HasSubstr;

Machine machine(const std::string& name) {
    return load_machine(name, "ddr5_5600");
}

Outcome run(const Machine& m, const GemmProblem& gemm, const WeightStationaryMapping& map,
            bool functional) {
    const LoweredGemm lowered = lower(gemm, map, m.npu);
    arch::npu::program::Program program =
        arch::npu::check::prepare(lowered.program, m.npu).program();
    const Bytes bytes{[&](auto& store) { fill_operands(gemm, lowered, 5, store); },
                      [&](auto& store) { return check_product(gemm, lowered, map, 5, store); }};
    return run_program(m, program, functional ? std::optional{bytes} : std::nullopt);
}

// Slices of 32 and tiles of C of 16 x 32: K of 70 is padded, M and N end within a tile.
WeightStationaryMapping small_map(Reduction reduction = Reduction::Cascade) {
    WeightStationaryMapping map;
    map.m_ct = 16;
    map.k_ct = 32;
    map.n_ct = 32;
    map.reduction = reduction;
    return map;
}

GemmProblem int8_gemm(std::int64_t m, std::int64_t k, std::int64_t n) {
    return {m, k, n, DataType::Int8, DataType::Int8, DataType::Int32, true};
}

void expect_exact(const Machine& m, const GemmProblem& gemm, const WeightStationaryMapping& map) {
    const Outcome functional = run(m, gemm, map, true);
    EXPECT_TRUE(functional.check.match) << functional.check.first_mismatch;
    EXPECT_EQ(functional.check.checked, gemm.m * gemm.n);
    EXPECT_EQ(run(m, gemm, map, false).cycles, functional.cycles);
    const double cycle_ns = 1e9 / static_cast<double>(m.npu.clock.count());
    EXPECT_GE(static_cast<double>(functional.cycles) * cycle_ns,
              bounds_of(gemm, map, m.npu, m.memory).tightest_ns());
}

using Types = std::tuple<const char*, Reduction, DataType, DataType, bool>;
class Products : public testing::TestWithParam<Types> {};
INSTANTIATE_TEST_SUITE_P(
    Int8, Products,
    testing::Combine(testing::Values("xdna", "xdna2"),
                     testing::Values(Reduction::Cascade, Reduction::MemoryTile),
                     testing::Values(DataType::Int8),
                     testing::Values(DataType::Int8, DataType::Int16, DataType::Int32),
                     testing::Bool()));
INSTANTIATE_TEST_SUITE_P(Bf16, Products,
                         testing::Combine(testing::Values("xdna", "xdna2"),
                                          testing::Values(Reduction::Cascade,
                                                          Reduction::MemoryTile),
                                          testing::Values(DataType::Bf16),
                                          testing::Values(DataType::F32), testing::Bool()));
INSTANTIATE_TEST_SUITE_P(RoundedBf16, Products,
                         testing::Combine(testing::Values("xdna", "xdna2"),
                                          testing::Values(Reduction::Cascade),
                                          testing::Values(DataType::Bf16),
                                          testing::Values(DataType::Bf16), testing::Values(true)));

TEST_P(Products, MatchTheReferenceAndTimingModeAgreesToTheCycle) {
    const auto& [device, reduction, in, out, column_major] = GetParam();
    expect_exact(machine(device), {75, 70, 300, in, in, out, column_major}, small_map(reduction));
}

using Shape = std::tuple<const char*, Reduction, std::int64_t, std::int64_t>;
class Shapes : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Cascade, Shapes,
                         testing::Combine(testing::Values("xdna", "xdna2"),
                                          testing::Values(Reduction::Cascade),
                                          testing::Values(1, 3, 4), testing::Values(1, 2, 4)));
INSTANTIATE_TEST_SUITE_P(MemoryTile, Shapes,
                         testing::Combine(testing::Values("xdna", "xdna2"),
                                          testing::Values(Reduction::MemoryTile),
                                          testing::Values(3, 4), testing::Values(1, 2, 3)));

TEST_P(Shapes, AnyNumberOfColumnsAndRowsGivesTheSameProduct) {
    const auto& [device, reduction, columns, rows] = GetParam();
    WeightStationaryMapping map = small_map(reduction);
    map.columns = columns;
    map.rows = rows;
    const Machine m = machine(device);
    expect_exact(m, int8_gemm(75, 32 * rows, 150), map);
}

TEST(WeightStationary, TilesOfSeveralSlicesOfOneColumnComeInTurnBeyondOneTask) {
    WeightStationaryMapping map = small_map();
    map.columns = 1;
    map.rows = 2;
    // 64 iterations of a descriptor, and 6 tiles more.
    expect_exact(machine("xdna"), int8_gemm(16 * 70, 64, 64), map);
}

TEST(WeightStationary, MorePassesThanAShimHasDescriptorsFor) {
    WeightStationaryMapping map = small_map();
    map.columns = 2;
    expect_exact(machine("xdna"), int8_gemm(32, 128, 2 * 32 * 13), map);
}

TEST(WeightStationary, BIsReadOnceAndAOnceAPass) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm = int8_gemm(160, 128, 768);  // 3 passes of 8 x 32 columns
    const Outcome outcome = run(m, gemm, small_map(), false);
    EXPECT_EQ(outcome.totals.bytes_requested, 3 * 160 * 128 + 128 * 768 + 4 * 160 * 768);
    EXPECT_EQ(bounds_of(gemm, small_map(), m.npu, m.memory).dram_bytes,
              static_cast<double>(outcome.totals.bytes_requested));
}

// In the steady state of a pass the cores in the middle of a column do most: for each C tile they
// get it, multiply and put it. A call costs call_cycles more, each of the two lock operations
// lock_cycles, and a get its latency.
TEST(WeightStationary, ACTileMoreCostsGetMultiplyAndPut) {
    Machine m = machine("xdna");
    WeightStationaryMapping map = small_map();
    map.m_ct = map.n_ct = map.k_ct = 64;
    map.columns = 1;
    map.rows = 3;
    const auto cycles = [&](std::int64_t tiles) {
        return run(m, {64 * tiles, 192, 64, DataType::Int8, DataType::Int8, DataType::Int8, true},
                   map, false)
            .cycles;
    };
    const std::int64_t words = 64 * 64 / 64;
    const arch::npu::program::Kernel kernel{"multiply",
                                            arch::npu::program::KernelKind::Multiply,
                                            64,
                                            64,
                                            64,
                                            DataType::Int8,
                                            DataType::Int8,
                                            DataType::Int8,
                                            true,
                                            std::nullopt};
    const std::int64_t call =
        arch::npu::core::KernelTiming(m.npu.kernels).cycles(kernel).total().count() +
        m.npu.core.call_cycles.count();
    const std::int64_t least = 2 * words + call + 2 * m.npu.core.lock_cycles.count();
    // A of three slices comes by one shim: 4 B a cycle of 3 x 4096 B.
    const std::int64_t a = 3 * 64 * 64 / 4;
    EXPECT_GE(cycles(40) - cycles(20), 20 * std::max(least, a));
}

std::vector<std::string> problems(const std::string& device, const GemmProblem& gemm,
                                  const WeightStationaryMapping& map) {
    return problems_of(gemm, map, machine(device).npu);
}

TEST(WeightStationary, KBeyondTheBTilesOfAColumnIsRefused) {
    EXPECT_TRUE(problems("xdna", int8_gemm(64, 128, 64), small_map()).empty());
    EXPECT_THAT(problems("xdna", int8_gemm(64, 129, 64), small_map()),
                ElementsAre(HasSubstr("K (129) is more than the 4 rows of cores hold")));
    EXPECT_THAT(problems("xdna", int8_gemm(64, 128, 64), small_map(Reduction::MemoryTile)),
                ElementsAre(HasSubstr("K (128) is more than the 3 rows of cores hold")));
}

TEST(WeightStationary, TilesThatDoNotFitAreRefusedToTheByte) {
    Machine m = machine("xdna");
    // Stack, B of 32 x 32, two A tiles of 16 x 32 and two C tiles of 16 x 32 words.
    const std::int64_t needed = 1024 + 1024 + 2 * 512 + 2 * 2048;
    m.npu.core.memory = arch::base::Bytes{needed};
    m.npu.core.bank = arch::base::Bytes{needed};
    EXPECT_TRUE(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu).empty());
    m.npu.core.memory = arch::base::Bytes{needed - 1};
    EXPECT_THAT(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu),
                ElementsAre(HasSubstr("the core tiles need 7168 B")));
    m = machine("xdna");
    // Two A tiles of one slice, two B tiles of four rows, two C tiles.
    const std::int64_t memory_tile = 2 * 512 + 4 * 2 * 1024 + 2 * 2048;
    m.npu.memory_tile.memory = arch::base::Bytes{memory_tile};
    EXPECT_TRUE(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu).empty());
    m.npu.memory_tile.memory = arch::base::Bytes{memory_tile - 1};
    EXPECT_THAT(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu),
                ElementsAre(HasSubstr("a memory tile needs 13312 B")));
}

TEST(WeightStationary, WhatTheArrayLacksIsNamed) {
    const GemmProblem gemm = int8_gemm(64, 32, 64);
    WeightStationaryMapping map = small_map(Reduction::MemoryTile);
    map.rows = 4;
    EXPECT_THAT(problems("xdna", gemm, map),
                testing::Contains(HasSubstr("4 rows of cores and one that adds")));
    map = small_map();
    map.m_ct = 18;
    EXPECT_THAT(problems("xdna", gemm, map), ElementsAre(HasSubstr("multiples of the mmul shape")));
    GemmProblem bf16 = gemm;
    bf16.a = bf16.b = bf16.c = DataType::Bf16;
    EXPECT_TRUE(problems("xdna", bf16, small_map()).empty());
    EXPECT_THAT(problems("xdna", bf16, small_map(Reduction::MemoryTile)),
                ElementsAre(HasSubstr("adds int8, int16, int32 or f32, not bf16")));
    Machine m = machine("xdna");
    m.npu.memory_rows = 0;
    EXPECT_THAT(problems_of(gemm, small_map(), m.npu),
                testing::Contains(HasSubstr("the array has none")));
    EXPECT_THROW(lower(int8_gemm(64, 4096, 64), small_map(), m.npu),
                 arch::base::config::ConfigError);
}

TEST(WeightStationary, CandidatesFitAndNoneIsWorseThanAnotherInEveryRespect) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm = int8_gemm(512, 1024, 1024);
    const CandidateSet set = candidates_of(gemm, m.npu, m.memory);
    EXPECT_GT(set.legal, std::ssize(set.candidates));
    for (const TileCandidate& a : set.candidates) {
        EXPECT_TRUE(problems_of(gemm, a.mapping, m.npu).empty());
        EXPECT_TRUE(std::none_of(set.candidates.begin(), set.candidates.end(), [&](const auto& b) {
            return a.bounds.compute_ns < b.bounds.compute_ns &&
                   a.bounds.stream_ns < b.bounds.stream_ns &&
                   a.bounds.dram_bytes < b.bounds.dram_bytes &&
                   a.mapping.reduction == b.mapping.reduction &&
                   a.mapping.c_buffers >= b.mapping.c_buffers;
        }));
    }
    const WeightStationaryMapping chosen = choose_mapping(gemm, m.npu, m.memory);
    const double least = bounds_of(gemm, chosen, m.npu, m.memory).tightest_ns();
    for (const TileCandidate& candidate : set.candidates) {
        EXPECT_LE(least, candidate.bounds.tightest_ns());
    }
    EXPECT_THROW(choose_mapping(int8_gemm(64, 1 << 20, 64), m.npu, m.memory),
                 arch::base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::workloads::npu::weight_stationary
