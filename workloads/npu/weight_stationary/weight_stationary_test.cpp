#include "workloads/npu/weight_stationary/weight_stationary.hpp"

#include <gmock/gmock.h>
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
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/program_run_testing.hpp"
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
    const Bytes bytes{[&](auto& store) { fill_operands(gemm, matrices_of(lowered), 5, store); },
                      [&](auto& store) {
                          return check_product(gemm, matrices_of(lowered), sum_order(gemm, map), 5,
                                               store);
                      }};
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

TEST(Expected, IsNearWhatRunsTake) {
    for (const char* device : {"xdna", "xdna2"}) {
        const Machine m = machine(device);
        for (const Reduction reduction : {Reduction::Cascade, Reduction::MemoryTile}) {
            for (const std::int64_t n_ct : {32, 96}) {
                WeightStationaryMapping map = small_map(reduction);
                map.m_ct = 32;
                map.k_ct = 96;
                map.n_ct = n_ct;
                for (const std::int64_t rows : {320, 960}) {
                    const GemmProblem gemm = int8_gemm(rows, 288, 1536);
                    const arch::base::Cycles cycles{run(m, gemm, map, false).cycles};
                    EXPECT_NEAR(expected_ns(gemm, map, m.npu, {m.memory, m.fabric}) /
                                    arch::base::ns_of(cycles, m.npu.clock),
                                1, 0.08)
                        << device << " " << rows << " " << n_ct << " " << map.adds();
                }
            }
        }
    }
}

// Where buffers of A share B's banks, one of them or both, cores of a cascade wait for the slowest;
// a single C tile leaves before the next one begins.
TEST(Expected, IsNearWhatRunsTakeWhereBuffersMeetInABankAndWhereCIsOne) {
    const Machine m = machine("xdna");
    const GemmProblem gemm{960, 576, 1280, DataType::Int8, DataType::Int8, DataType::Int16, true};
    for (const std::int64_t n_ct : {80, 144, 240}) {
        for (const std::int64_t c_buffers : {1, 2}) {
            WeightStationaryMapping map;
            map.m_ct = 16;
            map.k_ct = 144;
            map.n_ct = n_ct;
            map.c_buffers = c_buffers;
            const arch::base::Cycles cycles{run(m, gemm, map, false).cycles};
            EXPECT_NEAR(expected_ns(gemm, map, m.npu, {m.memory, m.fabric}) /
                            arch::base::ns_of(cycles, m.npu.clock),
                        1, 0.12)
                << n_ct << " " << c_buffers;
        }
    }
}

// What a C tile more costs where nothing is in the way of three cores in a column: each multiplies,
// taking and giving back an A tile; the first clears C before, the others get it; all but the last
// put it on.
void expect_tile_cost(std::int64_t store_width, bool first_binds) {
    Machine m = machine("xdna");
    m.fabric.link_width = arch::base::BytesPerCycle{64};
    m.fabric.link_clock = arch::base::Hertz{10'000'000'000};
    m.fabric.request_latency = m.fabric.response_latency = arch::base::Femtoseconds{1'000'000};
    m.fabric.page_walk = m.fabric.request_interval = arch::base::Femtoseconds{0};
    m.npu.shim.outstanding_bursts = m.npu.shim.outstanding_writes = 256;
    m.npu.shim.data_fifo = arch::base::Bytes{65536};
    m.npu.kernels.store_width = arch::base::BytesPerCycle{store_width};
    // Longer ones would not be hidden behind the words queued for the middle core.
    m.npu.core.lock_cycles = arch::base::Cycles{4};
    WeightStationaryMapping map = small_map();
    map.m_ct = map.n_ct = 64;
    map.k_ct = 128;
    map.columns = map.rows = 3;
    const auto gemm = [](std::int64_t tiles) {
        return GemmProblem{64 * tiles,     3 * 128,        3 * 64, DataType::Int8,
                           DataType::Int8, DataType::Int8, true};
    };
    arch::npu::program::Kernel kernel;
    kernel.kind = arch::npu::program::KernelKind::Multiply;
    kernel.m = kernel.n = 64;
    kernel.k = 128;
    const std::int64_t multiply =
        arch::npu::core::KernelTiming(m.npu.kernels).cycles(kernel).total().count();
    const arch::npu::CoreConfig& core = m.npu.core;
    const std::int64_t words = 64 * 64 / 64;
    const std::int64_t zero = arch::base::ceil_div(std::int64_t{64 * 64}, store_width);
    const std::int64_t get = words + m.npu.cascade.read_latency.count() - 1;
    const std::int64_t after =
        core.call_cycles.count() + multiply + 2 * core.lock_cycles.count() + words;
    const std::int64_t first = core.call_cycles.count() + zero + after;
    const std::int64_t middle = get + after;
    const auto cost_of_20 = [&] {
        return run(m, gemm(60), map, false).cycles - run(m, gemm(40), map, false).cycles;
    };
    // Banks so small that no two buffers share one.
    const arch::base::Bytes bank = std::exchange(m.npu.core.bank, arch::base::Bytes{1024});
    EXPECT_EQ(cost_of_20(), 20 * (first_binds ? first : middle));
    // A core's B lies in the first bank behind the stack, and the first buffer of A behind it but
    // for its last 1024 B; the second lies in another bank. Every second multiplication loads 7/8
    // of its 16 x 16 x 4 blocks of A when B's are.
    m.npu.core.bank = bank;
    const std::int64_t conflicts = 16 * 16 * 4 * 7 / 8;
    // The middle core is a tile behind the first: they are slow in turn, and the other waits. The
    // first waits with both queues full, so that it has put its last word so many words before the
    // middle core would have had it otherwise, less the cycle a word is on the wire.
    const std::int64_t queued = 2 * m.npu.cascade.fifo - 1;
    EXPECT_EQ(cost_of_20(), 10 * (first + middle + 2 * conflicts - queued));
    // The bound has of it what no other program could save, and B's tile before the first.
    const double cycle_ns = 1e9 / static_cast<double>(m.npu.clock.count());
    const std::int64_t least = multiply + words + (first_binds ? zero : words);
    EXPECT_NEAR(bounds_of(gemm(40), map, m.npu, {m.memory, m.fabric}).compute_ns,
                static_cast<double>(40 * least + 128 * 64 / 4) * cycle_ns, 1e-6);
}

TEST(WeightStationary, ACTileMoreCostsTheFirstCoreClearingMultiplyingAndPutting) {
    expect_tile_cost(32, true);
}

TEST(WeightStationary, WithFastStoresACTileMoreCostsACoreInTheMiddleGettingToo) {
    expect_tile_cost(1024, false);
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

TEST(WeightStationary, CandidatesFitAndThereIsNoneWhereKDoesNot) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm = int8_gemm(512, 1024, 1024);
    const auto candidates = candidates_of(gemm, m.npu, {m.memory, m.fabric});
    EXPECT_FALSE(candidates.empty());
    for (const TileCandidate& candidate : candidates) {
        EXPECT_TRUE(problems_of(gemm, candidate.mapping, m.npu).empty());
    }
    EXPECT_TRUE(candidates_of(int8_gemm(64, 1 << 20, 64), m.npu, {m.memory, m.fabric}).empty());
}

}  // namespace
}  // namespace tilesim::workloads::npu::weight_stationary
