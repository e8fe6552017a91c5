#include "workloads/npu/weight_stationary/mapping_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_testing.hpp"

namespace tilesim::workloads::npu::weight_stationary {
namespace {

TEST(WeightStationarySearch, IsNearWhatRunsTake) {
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
TEST(WeightStationarySearch, IsNearWhatRunsTakeWhereBuffersMeetInABankAndWhereCIsOne) {
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

// Rows of tiles of 32 bytes, in bursts of 64: A is read for each of two passes, B once, C, of 128,
// written once.
TEST(WeightStationarySearch, WholeBurstsOfDramAreExpectedForShortRuns) {
    Machine m = machine("xdna");
    GemmProblem gemm = int8_gemm(960, 128, 256);
    gemm.b_column_major = false;
    const auto at_clock = [&](std::int64_t hertz) {
        m.memory.clock = arch::base::Hertz{hertz};
        return std::pair{expected_ns(gemm, small_map(), m.npu, {m.memory, m.fabric}),
                         1e9 / m.memory.peak_bytes_per_second()};
    };
    const auto [slow, slow_byte] = at_clock(20'000'000);
    const auto [fast, fast_byte] = at_clock(40'000'000);
    constexpr double kOfPeak = 0.85;  // that DRAM sustains
    const double bytes = 2 * (2 * 960.0 * 128 + 128.0 * 256) + 960.0 * 256 * 4;
    EXPECT_NEAR((slow - fast) / (slow_byte - fast_byte) * kOfPeak, bytes, 1e-3 * bytes);
}

// Four columns start A, B and C each before anything moves; in a second pass B and C and A again,
// while the first one's tiles move.
TEST(WeightStationarySearch, TasksOfTheFirstPassComeBeforeWhatItMoves) {
    Machine m = machine("xdna");
    auto& processor = m.npu.command_processor;
    processor.clock = m.npu.clock;
    processor.descriptor_cycles = processor.write_cycles = arch::base::Cycles{10};
    const auto more = [&](std::int64_t columns_of_b) {
        WeightStationaryMapping map = small_map();
        map.m_ct = 32;
        map.k_ct = 96;
        map.n_ct = 48;
        const GemmProblem gemm = int8_gemm(960, 384, columns_of_b);
        const auto expected = [&] { return expected_ns(gemm, map, m.npu, {m.memory, m.fabric}); };
        const double before = expected();
        processor.write_cycles += arch::base::Cycles{10};
        const double after = expected();
        processor.write_cycles -= arch::base::Cycles{10};
        return after - before;
    };
    EXPECT_NEAR(more(192), 12 * 10, 1);
    EXPECT_NEAR(more(384), 12 * 10, 1);
}

// Of rows of B of 768 bytes the third column reads 96 from 192 on, in two chops of 256.
TEST(WeightStationarySearch, AColumnWhoseRunsTouchMoreChopsBinds) {
    Machine m = machine("xdna2");
    GemmProblem gemm = int8_gemm(16, 2304, 768);
    gemm.b_column_major = false;
    const auto more = [&](std::int64_t n_ct) {
        WeightStationaryMapping map;
        map.m_ct = 16;
        map.k_ct = 576;
        map.n_ct = n_ct;
        m.fabric.request_interval = arch::base::Femtoseconds{1'000'000'000};
        const double before = expected_ns(gemm, map, m.npu, {m.memory, m.fabric});
        m.fabric.request_interval = arch::base::Femtoseconds{2'000'000'000};
        return expected_ns(gemm, map, m.npu, {m.memory, m.fabric}) - before;
    };
    EXPECT_NEAR(more(96) / more(128), 2, 0.05);
}

// Four columns need 72 columns of B each, which is no multiple of a step.
TEST(WeightStationarySearch, TilesThatCoverNEvenlyAreCandidatesOnPartsOfTheArrayToo) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm = int8_gemm(576, 768, 288);
    const std::vector<TileCandidate> list =
        candidates_of(gemm, mappings_of(gemm, {}, m.npu), m.npu, {m.memory, m.fabric});
    EXPECT_TRUE(std::any_of(list.begin(), list.end(), [](const TileCandidate& each) {
        return each.mapping.columns == 4 && each.mapping.n_ct == 72;
    }));
}

TEST(WeightStationarySearch, VariantsFitAndDifferInOneKey) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm = int8_gemm(576, 768, 288);
    WeightStationaryMapping map;
    map.m_ct = 32;
    map.k_ct = 192;
    map.n_ct = 48;
    const auto variants = variants_of(gemm, map, m.npu, {m.memory, m.fabric});
    std::set<std::int64_t> widths;
    for (const TileCandidate& each : variants) {
        const WeightStationaryMapping& other = each.mapping;
        EXPECT_EQ((other.m_ct != map.m_ct) + (other.k_ct != map.k_ct) + (other.n_ct != map.n_ct) +
                      (other.a_buffers != map.a_buffers) + (other.c_buffers != map.c_buffers),
                  1);
        EXPECT_TRUE(problems_of(gemm, other, m.npu).empty());
        widths.insert(other.n_ct);
    }
    EXPECT_EQ(widths, (std::set<std::int64_t>{24, 32, 40, 48, 56, 64, 96}));
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

TEST(WeightStationarySearch, ACTileMoreCostsTheFirstCoreClearingMultiplyingAndPutting) {
    expect_tile_cost(32, true);
}

TEST(WeightStationarySearch, WithFastStoresACTileMoreCostsACoreInTheMiddleGettingToo) {
    expect_tile_cost(1024, false);
}

// So more columns or rows than a product has use for are no slower.
TEST(WeightStationarySearch, WhatASmallerArrayCanDoIsTriedOnALargerOne) {
    const GemmProblem gemm = int8_gemm(512, 512, 512);
    const auto expected = [&gemm](std::int64_t columns, std::int64_t rows) {
        Machine m = machine("xdna");
        m.npu.columns = columns;
        m.npu.core_rows = rows;
        m.npu.shim_columns.clear();
        double least = 1e9;
        for (const auto& candidate :
             candidates_of(gemm, mappings_of(gemm, {}, m.npu), m.npu, {m.memory, m.fabric})) {
            least = std::min(least, candidate.expected_ns);
        }
        return least;
    };
    const double on_4_by_4 = expected(4, 4);
    for (const std::int64_t cores : {6, 8, 12}) {
        EXPECT_LE(expected(cores, 4), on_4_by_4) << cores << " columns";
        EXPECT_LE(expected(4, cores), on_4_by_4) << cores << " rows";
    }
}

TEST(WeightStationarySearch, CandidatesFitAndThereIsNoneWhereKDoesNot) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm = int8_gemm(512, 1024, 1024);
    const auto candidates =
        candidates_of(gemm, mappings_of(gemm, {}, m.npu), m.npu, {m.memory, m.fabric});
    EXPECT_FALSE(candidates.empty());
    for (const TileCandidate& candidate : candidates) {
        EXPECT_TRUE(problems_of(gemm, candidate.mapping, m.npu).empty());
    }
    const GemmProblem deep = int8_gemm(64, 1 << 20, 64);
    EXPECT_TRUE(
        candidates_of(deep, mappings_of(deep, {}, m.npu), m.npu, {m.memory, m.fabric}).empty());
}

}  // namespace
}  // namespace tilesim::workloads::npu::weight_stationary
