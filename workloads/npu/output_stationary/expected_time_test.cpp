#include "workloads/npu/output_stationary/expected_time.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/mapping_search_testing.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

// What a mapping is expected to take on an array with changed costs.
class ExpectedTime : public testing::Test {
  protected:
    double expected(const GemmProblem& problem, const OutputStationaryMapping& map) const {
        const MemoryPath path{machine_.memory, machine_.fabric};
        return expected_ns({problem, machine_.npu, path}, map,
                           bounds_of(problem, map, machine_.npu, path));
    }
    // As tasks take so many cycles more of the processor's clock, an array's cycle each.
    double more_for_tasks(const GemmProblem& problem, const OutputStationaryMapping& map,
                          std::int64_t cycles) {
        auto& processor = machine_.npu.command_processor;
        processor.clock = machine_.npu.clock;
        const double before = expected(problem, map);
        processor.write_cycles += arch::base::Cycles{cycles};
        const double after = expected(problem, map);
        processor.write_cycles -= arch::base::Cycles{cycles};
        return after - before;
    }

    // At least, of an output tile of all cores.
    double period(const GemmProblem& problem, const OutputStationaryMapping& map) const {
        return least_period_ns({problem, machine_.npu, {machine_.memory, machine_.fabric}}, map);
    }

    Machine machine_ = load_machine("xdna", "ddr5_5600");
};

// Blocks of 64 B at 100 ns each are slower than all else: a round more or less of them is all that
// differs. Joined requests do not pay for blocks.
TEST_F(ExpectedTime, WhatTheWayToMemoryTakesIsExpected) {
    using namespace arch::base::literals;
    GemmProblem problem = gemm(768, 768, 768, DataType::Int8, DataType::Int8);
    problem.b_column_major = false;
    const auto with_blocks_each = [&](arch::base::Femtoseconds interval) {
        machine_.fabric.block_interval = interval;
        return expected(problem, tile(48, 48, 64, 384));
    };
    // A is read for each of three rounds of columns, B for each of four of rows.
    const double blocks = 7.0 * 768 * 768 / 64;
    const double last_c = 768.0 * 768 / 64 / 12;
    for (const bool modifiable : {false, true}) {
        machine_.npu.shim.modifiable = modifiable;
        EXPECT_NEAR(with_blocks_each(200_ns) - with_blocks_each(100_ns), 100 * (blocks + last_c),
                    1);
    }
}

// Four of eight columns read a row of A each besides their B: their ports are the last to be done.
TEST_F(ExpectedTime, ThePortOfAColumnThatReadsAAndBIsExpectedToBind) {
    using namespace arch::base::literals;
    const GemmProblem problem = gemm(768, 768, 768, DataType::Int8, DataType::Int8);
    machine_ = load_machine("xdna2", "ddr5_5600");
    const auto with_requests_each = [&](arch::base::Femtoseconds interval) {
        machine_.fabric.request_interval = interval;
        return expected(problem, tile(48, 48, 48, 384));
    };
    // Runs of 384 bytes at multiples of 128 touch two chops of 256. A is read for both rounds of
    // columns, B for each of four of rows; the last of eight tiles of C leaves behind them: that of
    // the third column begins at 96 and at 480, and every second of its rows touches two chops.
    const double chops = 2 * 768.0 * 768 / 384 * (2.0 / 4 + 4.0 / 8);
    const double of_c = 768.0 * 768 / 48 * 1.5 / 8;
    EXPECT_NEAR(with_requests_each(2000_ns) - with_requests_each(1000_ns),
                1000 * (chops + of_c / 8), 1);
}

// A is read for each of three rounds of columns, B for each of four of rows; 12 rounds in all.
TEST_F(ExpectedTime, ARoundTakesAtLeastWhatItsBytesTakeInDram) {
    machine_.memory.clock = arch::base::Hertz{100'000'000};
    EXPECT_NEAR(period(gemm(768, 768, 768, DataType::Int8, DataType::Int8), tile(48, 48, 64, 384)),
                (3 + 4 + 1) * 768.0 * 768 / machine_.memory.peak_bytes_per_second() * 1e9 / 12, 1);
}

// Rows of tiles of 32 bytes, in bursts of 64: A is read for each of six rounds of columns, B for
// each of four of rows, C written once, all twice.
TEST_F(ExpectedTime, WholeBurstsOfDramAreExpectedForShortRuns) {
    GemmProblem problem = gemm(768, 768, 768, DataType::Int8, DataType::Int8);
    problem.b_column_major = false;
    machine_.memory.burst = arch::base::Bytes{64};
    const auto at_clock = [&](std::int64_t hertz) {
        machine_.memory.clock = arch::base::Hertz{hertz};
        return std::pair{expected(problem, tile(48, 32, 32, 32)),
                         1e9 / machine_.memory.peak_bytes_per_second()};
    };
    const auto [slow, slow_byte] = at_clock(20'000'000);
    const auto [fast, fast_byte] = at_clock(40'000'000);
    constexpr double kOfPeak = 0.85;  // that DRAM sustains
    EXPECT_NEAR((slow - fast) / (slow_byte - fast_byte) * kOfPeak, 2 * (6 + 4 + 1) * 768.0 * 768,
                1e-3 * 768 * 768);
}

// Of two buffers each, A's and B's lie apart in four banks, and meet in one.
TEST_F(ExpectedTime, ConflictsOfTheOperandsBuffersAreExpected) {
    const GemmProblem problem = gemm(768, 768, 768, DataType::Int8, DataType::Int8);
    const OutputStationaryMapping map = tile(96, 32, 96, 768);
    machine_.fabric.link_width = arch::base::BytesPerCycle{64};
    machine_.fabric.link_clock = arch::base::Hertz{10'000'000'000};
    machine_.fabric.request_interval = machine_.fabric.page_walk = machine_.fabric.block_interval =
        arch::base::Femtoseconds{0};
    machine_.npu.shim.outstanding_bursts = 256;
    const auto with_banks_of = [&](arch::base::Bytes bank) {
        machine_.npu.core.bank = bank;
        return expected(problem, map);
    };
    const auto conflicts = static_cast<double>(
        arch::npu::core::KernelTiming(machine_.npu.kernels)
            .cycles(multiply_kernel(problem, map), {0, map.m_ct * map.k_ct, 65536})
            .conflicts.count());
    ASSERT_GT(conflicts, 0);
    const double calls = 4.0 * 768 / 32;  // a nanosecond a cycle
    EXPECT_NEAR(with_banks_of(arch::base::Bytes{65536}) - with_banks_of(arch::base::Bytes{16384}),
                calls * conflicts, 1);
}

// Four columns start A, B and C each. Three tiles of a row of blocks are one reach: all its tasks
// come first, and once.
TEST_F(ExpectedTime, TheTasksOfAReachComeBeforeWhatItMoves) {
    const GemmProblem problem = gemm(192, 768, 768, DataType::Int8, DataType::Int8);
    OutputStationaryMapping map = tile(48, 48, 64, 384);
    map.reach = OutputStationaryMapping::Reach::BlockRow;
    EXPECT_NEAR(more_for_tasks(problem, map, 100), 12 * 100, 1);
}

// Three reaches of a tile each: the first one's tasks before all, the others' while data moves; all
// of them where they take longer than that, or where none may be ahead.
TEST_F(ExpectedTime, TasksOfLaterReachesAreHiddenWhereTheyMayBeAhead) {
    const GemmProblem problem = gemm(192, 768, 768, DataType::Int8, DataType::Int8);
    OutputStationaryMapping map = tile(48, 48, 64, 384);
    machine_.npu.command_processor.descriptor_cycles = arch::base::Cycles{10};
    machine_.npu.command_processor.write_cycles = arch::base::Cycles{10};
    EXPECT_NEAR(more_for_tasks(problem, map, 10), 12 * 10, 1);
    map.in_flight = 1;
    EXPECT_NEAR(more_for_tasks(problem, map, 10), 3 * 12 * 10, 1);
    map.in_flight = 0;
    machine_.npu.command_processor.write_cycles = arch::base::Cycles{100'000};
    EXPECT_NEAR(more_for_tasks(problem, map, 10), 3 * 12 * 10, 1);
}

// Before the first call, and after the last read, a block: of A as long as k_mt says, of row-major
// B as long as a core's tile. A is read for three rounds of columns, B for four of rows.
TEST_F(ExpectedTime, OnlyBlocksThatGrowWithKMtKeepTheFirstCallWaitingLonger) {
    machine_.fabric.block_interval = arch::base::Femtoseconds{200'000'000};
    const auto longer = [this](bool column_major) {
        GemmProblem problem = gemm(768, 768, 768, DataType::Int8, DataType::Int8);
        problem.b_column_major = column_major;
        return expected(problem, tile(48, 48, 64, 768)) - expected(problem, tile(48, 48, 64, 384));
    };
    EXPECT_GT(longer(true), 1000);
    EXPECT_NEAR(longer(false) / longer(true), 3.0 / 7, 1e-6);
}

// Of rows of 768 bytes, one column reads 96 from 192 on, in two chops of 256; were the rows of 1024
// bytes, each would read 128 in one.
TEST_F(ExpectedTime, AColumnWhoseRunsTouchMoreChopsBinds) {
    GemmProblem problem = gemm(64, 3072, 768, DataType::Int8, DataType::Int8);
    problem.b_column_major = false;
    machine_ = load_machine("xdna2", "ddr5_5600");
    const auto more = [&](std::int64_t n_ct) {
        machine_.fabric.request_interval = arch::base::Femtoseconds{1'000'000'000};
        const double before = expected(problem, tile(16, 48, n_ct, 768));
        machine_.fabric.request_interval = arch::base::Femtoseconds{2'000'000'000};
        return expected(problem, tile(16, 48, n_ct, 768)) - before;
    };
    // A's runs of 768 bytes are three chops; C's last rows, 16 of each of four cores, as B's.
    const double of_a = 16 * 3072 / 256;
    EXPECT_NEAR(more(96), 1000 * (2 * 3072 + of_a + 2 * 64), 1);
    EXPECT_NEAR(more(128), 1000 * (3072 + of_a + 64), 1);
}

// Four C tiles of 16 KiB leave through a shim, 8 B a cycle of 1.8 GHz.
TEST_F(ExpectedTime, CLeavesAtTheWidthOfAStream) {
    machine_ = load_machine("xdna2", "ddr5_5600");
    machine_.fabric.request_interval = arch::base::Femtoseconds{0};
    OutputStationaryMapping map = tile(128, 64, 128, 64);
    map.columns = 1;
    EXPECT_NEAR(period(gemm(512, 64, 128, DataType::Int8, DataType::Int8), map),
                4 * 128 * 128 / 8 / 1.8, 1);
}

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
