#include "workloads/npu/weight_stationary/weight_stationary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/core/kernel_function.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/weight_stationary/mapping_search.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_testing.hpp"

namespace tilesim::workloads::npu::weight_stationary {
namespace {

TEST(WeightStationary, OperandsComeThroughTheColumnsWhoseShimsHaveADma) {
    Machine m = machine("xdna");
    m.npu.shim_columns = {1, 3};
    for (const auto reduction : {Reduction::Cascade, Reduction::MemoryTile}) {
        const GemmProblem gemm = int8_gemm(70, 70, 100);
        for (const auto& dma : lower(gemm, small_map(reduction), m.npu).program.dmas) {
            EXPECT_TRUE(m.npu.has_shim_dma(dma.tile.column)) << dma.tile.column;
        }
        EXPECT_TRUE(run(m, gemm, small_map(reduction), true).check.match);
    }
}

void expect_exact(const Machine& m, const GemmProblem& gemm, const WeightStationaryMapping& map) {
    const Outcome functional = run(m, gemm, map, true);
    EXPECT_TRUE(functional.check.match) << functional.check.first_mismatch;
    EXPECT_EQ(functional.check.checked, gemm.m * gemm.n);
    EXPECT_EQ(run(m, gemm, map, false).cycles, functional.cycles);
    const double cycle_ns = 1e9 / static_cast<double>(m.npu.clock.count());
    EXPECT_GE(static_cast<double>(functional.cycles) * cycle_ns,
              bounds_of(gemm, map, m.npu, {m.memory, m.fabric}).tightest_ns());
}

using Types = std::tuple<std::string, Reduction, DataType, DataType, bool>;
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

using Shape = std::tuple<std::string, Reduction, std::int64_t, std::int64_t>;
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

// Operands of such different size that sums depend on their order.
void fill_widely(const LoweredGemm& lowered, arch::memory::port::BackingStore& store) {
    std::uint64_t state = 11;
    for (const std::size_t operand : {0U, 1U}) {
        const arch::npu::program::ExternalBuffer& buffer =
            lowered.program.external_buffers[operand];
        std::vector<std::uint16_t> values(static_cast<std::size_t>(buffer.bytes / 2));
        for (std::uint16_t& value : values) {
            const std::uint64_t random = arch::base::next_splitmix64(state);
            const float mantissa = static_cast<float>(random & 0xFFU) - 128.0F;
            value = arch::npu::core::to_bf16(
                std::ldexp(mantissa, static_cast<int>((random >> 8U) % 17U)));
        }
        store.write(buffer.address, std::as_bytes(std::span{values}));
    }
}

TEST(WeightStationary, FloatsAreAddedInTheOrderTheReductionHas) {
    const Machine m = machine("xdna");
    const GemmProblem gemm{48, 96, 128, DataType::Bf16, DataType::Bf16, DataType::F32, true};
    for (const auto& [used, other] : {std::pair{Reduction::Cascade, Reduction::MemoryTile},
                                      std::pair{Reduction::MemoryTile, Reduction::Cascade}}) {
        WeightStationaryMapping map = small_map(used);
        map.rows = 3;
        const LoweredGemm lowered = lower(gemm, map, m.npu);
        arch::npu::program::Program program =
            arch::npu::check::prepare(lowered.program, m.npu).program();
        WeightStationaryMapping mistaken = map;
        mistaken.reduction = other;
        const Bytes bytes{
            [&](auto& store) { fill_widely(lowered, store); },
            [&](auto& store) {
                EXPECT_FALSE(
                    check_product(gemm, matrices_of(lowered), sum_order(gemm, mistaken), 5, store)
                        .match);
                return check_product(gemm, matrices_of(lowered), sum_order(gemm, map), 5, store);
            }};
        const ProductCheck check = run_program(m, program, bytes).check;
        EXPECT_TRUE(check.match) << check.first_mismatch;
    }
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

// Most C tasks of the first shim that are under way at a time.
std::int64_t most_in_flight(const LoweredGemm& lowered) {
    std::int64_t in_flight = 0;
    std::int64_t most = 0;
    const arch::npu::program::ChannelId c{{0, 0}, arch::npu::program::Direction::S2MM, kShimC};
    for (const arch::npu::program::SequenceOp& op : lowered.program.sequence) {
        if (const auto* push = std::get_if<arch::npu::program::PushTask>(&op);
            push != nullptr && push->channel == c) {
            most = std::max(most, ++in_flight);
        } else if (const auto* wait = std::get_if<arch::npu::program::WaitToken>(&op);
                   wait != nullptr && wait->channel == c) {
            --in_flight;
        }
    }
    EXPECT_EQ(in_flight, 0);
    return most;
}

TEST(WeightStationary, PassesAreStartedAheadAsFarAsDescriptorsAndQueuesOfAShimReach) {
    Machine m = machine("xdna");
    const GemmProblem gemm = int8_gemm(32, 128, 4 * 32 * 13);
    EXPECT_EQ(most_in_flight(lower(gemm, small_map(), m.npu)), 5);  // one runs, four queue
    m.npu.shim_dma.descriptors = 11;                                // three for each pass
    EXPECT_EQ(most_in_flight(lower(gemm, small_map(), m.npu)), 3);
}

TEST(WeightStationary, OneBufferOfEachKindOrSeveralGiveTheSameProduct) {
    for (const Reduction reduction : {Reduction::Cascade, Reduction::MemoryTile}) {
        for (const auto& [a, c] : {std::pair{1, 1}, std::pair{3, 1}, std::pair{1, 3}}) {
            WeightStationaryMapping map = small_map(reduction);
            map.a_buffers = a;
            map.c_buffers = c;
            expect_exact(machine("xdna"), int8_gemm(80, 96, 150), map);
        }
    }
}

TEST(WeightStationary, BuffersOfCoresLeaveTheStackAlone) {
    Machine m = machine("xdna2");
    m.npu.core.stack = arch::base::Bytes{2048};
    for (const auto& buffer : lower(int8_gemm(80, 96, 150), small_map(), m.npu).program.buffers) {
        EXPECT_EQ(buffer.tile.row > 1 && buffer.address < 2048, false) << buffer.name;
    }
}

TEST(WeightStationary, BIsReadOnceAndAOnceAPass) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm = int8_gemm(160, 128, 768);  // 3 passes of 8 x 32 columns
    const Outcome outcome = run(m, gemm, small_map(), false);
    EXPECT_EQ(outcome.totals.bytes_requested, 3 * 160 * 128 + 128 * 768 + 4 * 160 * 768);
    EXPECT_EQ(bounds_of(gemm, small_map(), m.npu, {m.memory, m.fabric}).dram_bytes,
              static_cast<double>(outcome.totals.bytes_requested));
}

TEST(WeightStationary, OperandsOfACoreLieWhereConflictsAreExpectedOf) {
    const Machine m = machine("xdna");
    WeightStationaryMapping map = small_map();
    map.a_buffers = 3;
    const GemmProblem gemm = int8_gemm(160, 128, 768);
    const LoweredGemm lowered = lower(gemm, map, m.npu);
    const CorePlaces places = core_places(gemm, map, m.npu);
    std::vector<std::int64_t> a;
    std::vector<std::int64_t> b;
    for (const auto& buffer : lowered.program.buffers) {
        if (buffer.tile == arch::npu::program::TileCoordinate{1, 4}) {
            (buffer.name.starts_with("a_") ? a : b).push_back(buffer.address);
        }
    }
    EXPECT_EQ(a, places.a);
    ASSERT_EQ(b.size(), 2U);  // B and C
    EXPECT_EQ(b.front(), places.b);
}

}  // namespace
}  // namespace tilesim::workloads::npu::weight_stationary
