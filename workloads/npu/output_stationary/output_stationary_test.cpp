#include "workloads/npu/output_stationary/output_stationary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "arch/npu/check/program_verifier.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/mapping_problems.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

Machine machine(const std::string& name) {
    return load_machine(name, "ddr5_5600");
}

Outcome run(const Machine& m, const GemmProblem& gemm, const OutputStationaryMapping& map,
            bool functional) {
    LoweredGemm lowered = lower(gemm, map, m.npu);
    const Bytes bytes{[&](auto& store) { fill_operands(gemm, matrices_of(lowered), 5, store); },
                      [&](auto& store) {
                          return check_product(gemm, matrices_of(lowered), sum_order(gemm, map), 5,
                                               store);
                      }};
    return run_program(m, lowered.program, functional ? std::optional{bytes} : std::nullopt);
}

OutputStationaryMapping small_map(std::int64_t c_buffers = 1) {
    OutputStationaryMapping map;
    map.m_ct = 32;
    map.k_ct = 32;
    map.n_ct = 32;
    map.k_mt = 64;
    map.c_buffers = c_buffers;
    return map;
}

using Case = std::tuple<std::string, DataType, DataType, bool>;
class Products : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    TypesAndLayouts, Products,
    testing::Combine(testing::Values("xdna", "xdna2"), testing::Values(DataType::Int8),
                     testing::Values(DataType::Int8, DataType::Int16, DataType::Int32),
                     testing::Bool()));
INSTANTIATE_TEST_SUITE_P(Bf16, Products,
                         testing::Combine(testing::Values("xdna", "xdna2"),
                                          testing::Values(DataType::Bf16),
                                          testing::Values(DataType::Bf16, DataType::F32),
                                          testing::Bool()));
INSTANTIATE_TEST_SUITE_P(Int16, Products,
                         testing::Combine(testing::Values("xdna", "xdna2"),
                                          testing::Values(DataType::Int16),
                                          testing::Values(DataType::Int32), testing::Bool()));

TEST_P(Products, MatchTheReferenceAndTimingModeAgreesToTheCycle) {
    const auto& [device, in, out, column_major] = GetParam();
    const Machine m = machine(device);
    const GemmProblem gemm{200, 150, 300, in, in, out, column_major};
    const Outcome functional = run(m, gemm, small_map(), true);
    EXPECT_TRUE(functional.check.match) << functional.check.first_mismatch;
    EXPECT_EQ(functional.check.checked, 200 * 300);
    EXPECT_EQ(run(m, gemm, small_map(), false).cycles, functional.cycles);
}

TEST(OutputStationary, DoubleBufferedCHidesTheDrain) {
    Machine m = machine("xdna");
    m.fabric.link_clock =
        arch::base::Hertz{10'000'000'000};  // enough DRAM bandwidth to be bound by the cores
    m.fabric.request_interval = arch::base::Femtoseconds{0};
    m.npu.shim.data_fifo = arch::base::Bytes{16384};
    m.npu.command_processor.dispatch = arch::base::Femtoseconds{0};
    m.npu.command_processor.clock = arch::base::Hertz{10'000'000'000};  // nor by the sequence
    const GemmProblem gemm{1024, 256, 1024, DataType::Int8, DataType::Int8, DataType::Int32, true};
    OutputStationaryMapping map = small_map(1);
    map.m_ct = map.n_ct = 64;
    map.k_mt = 256;
    const Outcome one = run(m, gemm, map, false);
    map.c_buffers = 2;
    const Outcome two = run(m, gemm, map, true);
    EXPECT_TRUE(two.check.match) << two.check.first_mismatch;
    EXPECT_LT(two.cycles, one.cycles);
}

TEST(OutputStationary, BorrowsANeighboursMemoryWhereATileIsTooSmall) {
    Machine m = machine("xdna2");
    GemmProblem gemm;
    gemm.m = 128;
    gemm.k = 128;
    gemm.n = 256;
    gemm.a = gemm.b = DataType::Int8;
    gemm.c = DataType::Int32;
    const Outcome plenty = run(m, gemm, small_map(), true);
    // Two blocks of A and of B and the joined C tiles take all but one byte too much; every second
    // column holds no A.
    const std::int64_t block = 32 * 64;
    const std::int64_t joined = 4 * 32 * 32 * 4;
    m.npu.memory_tile.memory = arch::base::Bytes{4 * block + joined - 1};
    const LoweredGemm lowered = lower(gemm, small_map(), m.npu);
    EXPECT_EQ(arch::npu::check::verify(lowered.program, m.npu), std::vector<std::string>{});
    const auto lent = std::count_if(
        lowered.program.buffers.begin(), lowered.program.buffers.end(), [](const auto& buffer) {
            return buffer.name.starts_with("b_mt0") && buffer.tile.column == 1;
        });
    EXPECT_EQ(lent, 1);
    const Outcome borrowed = run(m, gemm, small_map(), true);
    EXPECT_TRUE(borrowed.check.match) << borrowed.check.first_mismatch;
    EXPECT_EQ(borrowed.cycles, plenty.cycles);
    m.npu.memory_tile.memory = arch::base::Bytes{3 * block + joined - 1};  // nothing left to lend
    EXPECT_EQ(
        problems_of(gemm, small_map(), m.npu),
        std::vector<std::string>{fmt::format(
            "the memory tiles of a column need {} B, they have {} B and their neighbours have "
            "not enough left; reduce k_mt",
            4 * block + joined, 3 * block + joined - 1)});
}

// Runs of 672 bytes begin within blocks of memory that their bursts would touch twice.
TEST(OutputStationary, ALongerBlockAlongKIsNotSlower) {
    const Machine m = machine("xdna");
    const GemmProblem gemm{768, 2016, 768, DataType::Bf16, DataType::Bf16, DataType::Bf16, true};
    const auto cycles = [&](std::int64_t k_mt) {
        OutputStationaryMapping map;
        map.m_ct = 96;
        map.k_ct = 56;
        map.n_ct = 96;
        map.k_mt = k_mt;
        return static_cast<double>(run(m, gemm, map, false).cycles);
    };
    EXPECT_LT(cycles(336), 1.02 * cycles(224));  // the first block takes longer to come
}

TEST(OutputStationary, SequentialDescriptorsAreSlower) {
    const Machine m = machine("xdna");
    const GemmProblem gemm{1024, 256, 1024, DataType::Int8, DataType::Int8, DataType::Int8, true};
    OutputStationaryMapping map = small_map();
    const Outcome overlapped = run(m, gemm, map, true);
    map.shim_bds = OutputStationaryMapping::ShimDescriptors::Sequential;
    const Outcome sequential = run(m, gemm, map, true);
    EXPECT_TRUE(sequential.check.match);
    EXPECT_GT(sequential.cycles, overlapped.cycles);
}

// Pushes of the sequence and what they repeat, of shim channels.
std::pair<std::int64_t, std::int64_t> shim_pushes(const LoweredGemm& lowered) {
    std::int64_t pushes = 0;
    std::int64_t runs = 0;
    for (const auto& operation : lowered.program.sequence) {
        const auto* push = std::get_if<arch::npu::program::PushTask>(&operation);
        if (push != nullptr && push->channel.tile.row == 0) {
            ++pushes;
            runs += push->task.repeat;
        }
    }
    return {pushes, runs};
}

class Reaches : public testing::TestWithParam<std::tuple<std::int64_t, bool>> {};
INSTANTIATE_TEST_SUITE_P(ColumnsOfBlocksAndLayouts, Reaches,
                         testing::Combine(testing::Values(1, 3), testing::Bool()));

TEST_P(Reaches, ADescriptorMovesWhatARowOfBlocksNeedsOrAllWhereItHasOne) {
    const auto& [across, column_major] = GetParam();
    const Machine m = machine("xdna");
    const GemmProblem gemm{
        2 * 128, 128, across * 128, DataType::Int8, DataType::Int8, DataType::Int8, column_major};
    OutputStationaryMapping map = small_map();
    map.shim_bds = OutputStationaryMapping::ShimDescriptors::Sequential;
    map.reach = OutputStationaryMapping::Reach::BlockRow;
    const Outcome outcome = run(m, gemm, map, true);
    EXPECT_TRUE(outcome.check.match) << outcome.check.first_mismatch;
    // Four columns, each with a stream of A, of B and of C, which repeat for every output tile: a
    // descriptor's iteration takes it to the next one's C, and to the next A or B.
    const std::int64_t steps = across == 1 ? 1 : 2;
    const std::int64_t tiles = 2 * across / steps;
    const auto [pushes, runs] = shim_pushes(lower(gemm, map, m.npu));
    EXPECT_EQ(pushes, steps * 4 * 3);
    EXPECT_EQ(runs, steps * 4 * 3 * tiles);
}

TEST(OutputStationary, ADescriptorMayMovePartOfARowOfBlocks) {
    const Machine m = machine("xdna");
    const GemmProblem gemm{2 * 128,        128, 6 * 128, DataType::Int8, DataType::Int8,
                           DataType::Int8, true};
    OutputStationaryMapping map = small_map();
    map.shim_bds = OutputStationaryMapping::ShimDescriptors::Sequential;
    map.reach = OutputStationaryMapping::Reach::BlockRow;
    for (const std::int64_t tiles : {1, 2, 3, 6}) {
        map.reach_tiles = tiles;
        map.in_flight = tiles == 2 ? 2 : 1;
        const Outcome outcome = run(m, gemm, map, true);
        EXPECT_TRUE(outcome.check.match) << outcome.check.first_mismatch;
        const auto [pushes, runs] = shim_pushes(lower(gemm, map, m.npu));
        EXPECT_EQ(pushes, 2 * 6 / tiles * 4 * 3);  // A, B and C of four columns
        EXPECT_EQ(runs, 2 * 6 * 4 * 3);
    }
    map.reach_tiles = 4;
    EXPECT_THAT(problems_of(gemm, map, m.npu),
                testing::Contains(testing::HasSubstr("the nearest that does is 3")));
    map.reach = OutputStationaryMapping::Reach::OutputTile;
    EXPECT_THAT(problems_of(gemm, map, m.npu),
                testing::Contains(testing::HasSubstr("reach_tiles needs reach: block_row")));
}

TEST(OutputStationary, SequentialKeepsOneOutputTileInFlightUnlessToldOtherwise) {
    const Machine m = machine("xdna");
    const GemmProblem gemm{512, 128, 512, DataType::Int8, DataType::Int8, DataType::Int8, true};
    OutputStationaryMapping map = small_map();
    map.shim_bds = OutputStationaryMapping::ShimDescriptors::Sequential;
    EXPECT_EQ(lower(gemm, map, m.npu).shape.in_flight, 1);
    map.in_flight = 2;
    EXPECT_EQ(lower(gemm, map, m.npu).shape.in_flight, 2);
    map.in_flight = 0;
    map.shim_bds = OutputStationaryMapping::ShimDescriptors::Overlapped;
    EXPECT_GT(lower(gemm, map, m.npu).shape.in_flight, 1);
}

TEST(OutputStationary, DramMovesTheBytesTheDataflowNeeds) {
    const Machine m = machine("xdna2");
    const GemmProblem gemm{256, 256, 512, DataType::Int8, DataType::Int8, DataType::Int32, true};
    const Outcome outcome = run(m, gemm, small_map(), false);
    const LoweredGemm lowered = lower(gemm, small_map(), m.npu);
    const GemmBounds bounds = bounds_of(gemm, small_map(), m.npu, {m.memory, m.fabric});
    EXPECT_EQ(static_cast<double>(outcome.totals.bytes_requested), bounds.dram_bytes);
    EXPECT_GE(outcome.totals.bytes_read + outcome.totals.bytes_written,
              outcome.totals.bytes_requested);
}

std::set<std::int64_t> columns_of(const arch::npu::program::Program& program) {
    std::set<std::int64_t> columns;
    for (const auto& dma : program.dmas) {
        columns.insert(dma.tile.column);
    }
    return columns;
}

TEST(OutputStationary, OperandsComeThroughTheColumnsWhoseShimsHaveADma) {
    const GemmProblem gemm{200, 150, 300, DataType::Int8, DataType::Int8, DataType::Int32, true};
    Machine some = machine("xdna");
    some.npu.shim_columns = {3, 1};
    const LoweredGemm on_two = lower(gemm, small_map(), some.npu);
    EXPECT_EQ(columns_of(on_two.program), (std::set<std::int64_t>{1, 3}));
    EXPECT_TRUE(run(some, gemm, small_map(), true).check.match);
    OutputStationaryMapping wide = small_map();
    wide.columns = 3;
    EXPECT_NE(problems_of(gemm, wide, some.npu).at(0).find("2 columns with a shim DMA"),
              std::string::npos);
    const Machine versal = machine("ve2802");
    EXPECT_EQ(
        columns_of(lower(gemm, small_map(), versal.npu).program),
        std::set<std::int64_t>(versal.npu.shim_columns.begin(), versal.npu.shim_columns.end()));
    EXPECT_TRUE(run(versal, gemm, small_map(), true).check.match);
}

TEST(OutputStationary, TilesThatDoNotFitAreRefusedWithTheReason) {
    const Machine m = machine("xdna");
    OutputStationaryMapping map = small_map();
    map.m_ct = map.n_ct = 160;
    const GemmProblem gemm{512, 512, 512, DataType::Int8, DataType::Int8, DataType::Int32, true};
    const auto problems = problems_of(gemm, map, m.npu);
    ASSERT_FALSE(problems.empty());
    EXPECT_NE(problems[0].find("a core has 65536 B"), std::string::npos) << problems[0];
    map = small_map();
    map.m_ct = 30;
    EXPECT_NE(problems_of(gemm, map, m.npu).at(0).find("multiples of the mmul shape"),
              std::string::npos);
    map = small_map();
    map.k_mt = 80;
    EXPECT_NE(problems_of(gemm, map, m.npu).at(0).find("multiple of k_ct"), std::string::npos);
}

TEST(OutputStationary, FivesOfEachTransferAreInFlightAndNoPushIsLost) {
    const Machine m = machine("xdna");
    const GemmProblem gemm{1280, 64, 1280, DataType::Int8, DataType::Int8, DataType::Int8, true};
    const LoweredGemm lowered = lower(gemm, small_map(), m.npu);
    std::map<arch::npu::program::ChannelId, std::int64_t> in_flight;
    std::int64_t most = 0;
    for (const arch::npu::program::SequenceOp& op : lowered.program.sequence) {
        if (const auto* push = std::get_if<arch::npu::program::PushTask>(&op);
            push != nullptr && push->task.token) {
            most = std::max(most, ++in_flight[push->channel]);
        } else if (const auto* wait = std::get_if<arch::npu::program::WaitToken>(&op)) {
            --in_flight[wait->channel];
        }
    }
    EXPECT_EQ(most, 5);
    for (const auto& [channel, left] : in_flight) {
        EXPECT_EQ(left, 0);
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
