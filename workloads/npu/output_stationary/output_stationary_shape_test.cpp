#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/output_stationary/mapping_problems.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

using testing::HasSubstr;

Machine undispatched(const std::string& name) {
    Machine m = load_machine(name, "ddr5_5600");
    m.npu.command_processor.dispatch = arch::base::Femtoseconds{0};
    return m;
}

OutputStationaryMapping tiny_map() {
    OutputStationaryMapping map;
    map.m_ct = map.k_ct = map.n_ct = 16;
    map.k_mt = 48;
    return map;
}

// Padded in every dimension on every array; K is nine calls.
const GemmProblem kProblem{250, 100, 130, DataType::Int8, DataType::Int8, DataType::Int16, true};

std::int64_t exact_cycles(const Machine& m, const OutputStationaryMapping& map,
                          const GemmProblem& gemm = kProblem) {
    LoweredGemm lowered = lower(gemm, map, m.npu);
    EXPECT_EQ(arch::npu::check::verify(lowered.program, m.npu), std::vector<std::string>{});
    const Bytes bytes{[&](auto& store) { fill_operands(gemm, matrices_of(lowered), 5, store); },
                      [&](auto& store) {
                          return check_product(gemm, matrices_of(lowered), sum_order(gemm, map), 5,
                                               store);
                      }};
    const Outcome outcome = run_program(m, lowered.program, bytes);
    EXPECT_TRUE(outcome.check.match) << outcome.check.first_mismatch;
    EXPECT_EQ(outcome.check.checked, gemm.m * gemm.n);
    return outcome.cycles;
}

std::string refusal(const Machine& m, const OutputStationaryMapping& map,
                    const GemmProblem& gemm = kProblem) {
    const auto problems = problems_of(gemm, map, m.npu);
    return problems.empty() ? "" : problems[0];
}

class Arrays : public testing::TestWithParam<std::tuple<std::string, int>> {
  protected:
    Machine machine_ = undispatched(std::get<0>(GetParam()));
    std::int64_t columns_ = std::get<1>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Columns, Arrays,
                         testing::Combine(testing::Values("xdna", "xdna2"),
                                          testing::Values(1, 2, 3, 6, 8)));

// A memory tile has six MM2S channels: one for each row whose A it holds, one for B, one for C.
TEST_P(Arrays, RunExactlyWithAnyRowsOrNameTheChannelsTheyLack) {
    machine_.npu.columns = columns_;
    for (std::int64_t rows = 1; rows <= 8; ++rows) {
        machine_.npu.core_rows = rows;
        if ((rows + columns_ - 1) / columns_ + 2 <= 6) {
            EXPECT_EQ(refusal(machine_, tiny_map()), "");
            EXPECT_EQ(exact_cycles(machine_, tiny_map()), exact_cycles(machine_, tiny_map()));
        } else {
            EXPECT_THAT(refusal(machine_, tiny_map()), HasSubstr("it has 6 MM2S channels"));
        }
    }
}

// Cores, channels and wires of the columns and rows that are not used stand idle, nothing more.
TEST_P(Arrays, CanBeUsedInPart) {
    OutputStationaryMapping map = tiny_map();
    map.columns = 1 + columns_ / 2;
    map.rows = 3;
    machine_.npu.columns = columns_;
    const std::int64_t part = exact_cycles(machine_, map);
    machine_.npu.columns = map.columns;
    machine_.npu.core_rows = 3;
    EXPECT_EQ(part, exact_cycles(machine_, tiny_map()));
}

class Shapes : public testing::TestWithParam<std::string> {
  protected:
    ArrayShape shape() const { return shape_of(view_of(kProblem, map_), machine_.npu); }
    std::string refused() const { return refusal(machine_, map_); }
    std::int64_t exact() const { return exact_cycles(machine_, map_); }

    Machine machine_ = undispatched(GetParam());
    OutputStationaryMapping map_ = tiny_map();
};
INSTANTIATE_TEST_SUITE_P(Devices, Shapes, testing::Values("xdna", "xdna2"));

TEST_P(Shapes, MemoryTilesShareTheStreamsOfCWhereChannelsAreShort) {
    for (const std::int64_t channels : {3, 4, 5, 6}) {
        machine_.npu.memory_dma.channels = channels;
        EXPECT_EQ(shape().c_in, channels - 2);  // A and B have one each
        exact();
    }
    machine_.npu.memory_dma.channels = 2;
    EXPECT_THAT(refused(), HasSubstr("takes 3 streams (A, B and C), it has 2 S2MM channels"));
}

TEST_P(Shapes, MoreChannelsThanStreamsAreLeftAlone) {
    const std::int64_t before = exact();
    machine_.npu.memory_dma.channels = 8;
    machine_.npu.core_dma.channels = 4;
    EXPECT_EQ(exact(), before);
}

// Half of a shim's channels each for A and B, as many for C; C goes before second streams of A.
TEST_P(Shapes, ShimsWithMoreChannelsSplitTheStreams) {
    machine_.npu.shim_dma.channels = 4;
    EXPECT_EQ(shape().c_out, 2);
    EXPECT_EQ(shape().a_in, 1);  // six channels: one for A, one for B and four for C
    exact();
    machine_.npu.memory_dma.channels = 8;
    EXPECT_EQ(shape().a_in, 2);
    EXPECT_EQ(shape().b_in, 2);
    exact();
    machine_.npu.memory_dma.channels = 7;
    EXPECT_EQ(shape().a_in, 2);
    EXPECT_EQ(shape().b_in, 1);
    exact();
    map_.shim_channels = 2;
    EXPECT_EQ(shape().a_in, 1);
    EXPECT_EQ(shape().b_in, 1);
    EXPECT_EQ(shape().c_out, 1);
    exact();
    map_.shim_channels = 5;
    EXPECT_THAT(refused(), HasSubstr("shim_channels must be 2 to 4, or 0 for all, got 5"));
    map_.shim_channels = 1;
    EXPECT_THAT(refused(), HasSubstr("got 1"));
    map_.shim_channels = 0;
    machine_.npu.shim_dma.channels = 1;
    EXPECT_THAT(refused(), HasSubstr("a shim needs 2 MM2S channels, it has 1"));
}

TEST_P(Shapes, StreamsOfOneOperandTakeItsBlocksInTurnThroughAllOutputTiles) {
    machine_.npu.shim_dma.channels = 6;
    machine_.npu.memory_dma.channels = 10;
    map_.a_buffers = map_.b_buffers = 3;
    EXPECT_EQ(shape().a_in, 3);
    map_.k_mt = 16;  // seven blocks over three streams
    exact();
    map_.k_mt = 112;  // one block: two streams have nothing in an output tile
    exact();
    GemmProblem row_major = kProblem;
    row_major.b_column_major = false;
    exact_cycles(machine_, map_, row_major);
}

// Three transfers an output tile: A, B and C.
TEST_P(Shapes, DescriptorsAndQueuesOfAShimBoundTheTilesInFlight) {
    EXPECT_EQ(shape().in_flight, 16 / 3);
    machine_.npu.shim_dma.descriptors = 32;
    EXPECT_EQ(shape().slots, 32 / 3);
    EXPECT_EQ(shape().in_flight, 5);  // four tasks queue behind the one that runs
    exact();
    machine_.npu.shim_dma.task_queue_depth = 6;
    EXPECT_EQ(shape().in_flight, 7);
    exact();
    map_.in_flight = 8;
    EXPECT_THAT(refused(), HasSubstr("in_flight must be at most 7"));
    map_.in_flight = 0;
    machine_.npu.shim_dma.descriptors = 2;
    EXPECT_THAT(refused(), HasSubstr("a shim needs 3 descriptors for one output tile, it has 2"));
}

TEST_P(Shapes, BoundDescriptorsAreCountedByHalves) {
    machine_.npu.shim_dma.parity_bound_descriptors = true;
    EXPECT_EQ(shape().slots, 8 / 2);  // A and C on even channels, B on an odd one
    exact();
    // Even channels of a memory tile: A in and out, C of two rows in, of four out.
    machine_.npu.memory_dma.descriptors = 2 * (2 + 2 + 2 + 4);
    EXPECT_EQ(refused(), "");
    exact();
    machine_.npu.memory_dma.descriptors -= 2;
    EXPECT_THAT(refused(),
                HasSubstr("needs 10 descriptors for its even or its odd channels, it has 9"));
}

// A device with more channels runs it with the two that it needs.
TEST_P(Shapes, ReachesOfARowOfBlocksAreRefusedMoreStreamsThanTheyHaveRoomFor) {
    map_.reach = OutputStationaryMapping::Reach::BlockRow;
    EXPECT_EQ(refused(), "");
    machine_.npu.shim_dma.channels = 4;
    EXPECT_THAT(refused(), HasSubstr("the nearest that can: shim_channels: 2"));
    map_.shim_channels = 2;
    EXPECT_EQ(refused(), "");
}

TEST_P(Shapes, ATileAtATimeIsSlowerThanTwo) {
    map_.in_flight = 1;
    const std::int64_t one = exact();
    map_.in_flight = 2;
    EXPECT_LT(exact(), one);
}

// Buffers hide what moves behind what is computed: nothing, where both wait for the descriptors of
// the sequence, as tiles this small do at the device's own clock of the command processor.
TEST_P(Shapes, SingleBuffersAreSlowerThanDoubleOnes) {
    machine_.npu.command_processor.clock = arch::base::Hertz{10'000'000'000};
    const std::int64_t two = exact();
    map_.b_buffers = 1;
    EXPECT_GT(exact(), two);
    map_.a_buffers = 1;
    EXPECT_GT(exact(), two);
    map_.a_buffers = 5;
    map_.b_buffers = 4;
    exact();
}

TEST_P(Shapes, ASecondRowOfMemoryTilesDoublesTheBlocksThatFit) {
    const BufferSizes sizes = buffer_sizes(view_of(kProblem, map_), machine_.npu);
    // Every column's C and B, and A's blocks without the last byte: nobody has any to lend.
    machine_.npu.columns = 4;
    machine_.npu.memory_tile.memory =
        arch::base::Bytes{sizes.c_join + 2 * sizes.b_block + 2 * sizes.a_block - 1};
    EXPECT_THAT(refused(), HasSubstr("the memory tiles of a column need"));
    machine_.npu.memory_rows = 2;
    EXPECT_EQ(refused(), "");
    EXPECT_EQ(shape().c_home, 1);  // the largest first, then where the least lies
    EXPECT_EQ(shape().a_home, 2);
    EXPECT_EQ(shape().b_home, 2);
    exact();
    machine_.npu.memory_rows = 0;
    EXPECT_THAT(refused(), HasSubstr("the array has none"));
}

// Every way the tiles may go, whatever lies how in DRAM.
TEST_P(Shapes, AGoesAlongRowsOrUpColumnsAndEveryLayoutIsRight) {
    using Reach = OutputStationaryMapping::Reach;
    map_.columns = 3;
    map_.rows = 2;
    for (const bool up : {false, true}) {
        for (const bool b_by_columns : {false, true}) {
            for (const bool c_by_columns : {false, true}) {
                for (const Reach reach : {Reach::OutputTile, Reach::BlockRow}) {
                    GemmProblem gemm = kProblem;
                    gemm.b_column_major = b_by_columns;
                    map_.a_along_columns = up;
                    map_.c_column_major = c_by_columns;
                    map_.reach = reach;
                    EXPECT_EQ(refusal(machine_, map_, gemm), "");
                    exact_cycles(machine_, map_, gemm);
                }
            }
        }
    }
}

// Lines go through all tiles of a column of cores where these lie side by side, whoever shares A.
TEST_P(Shapes, CLeavesLineByLine) {
    map_.c_by_line = true;
    for (const bool up : {false, true}) {
        map_.a_along_columns = up;
        map_.c_column_major = !up;
        for (const std::int64_t buffers : {1, 2, 3}) {
            map_.c_blocks = buffers;
            exact();
        }
        map_.c_blocks = 0;
        map_.c_column_major = up;
        EXPECT_THAT(refused(), HasSubstr(fmt::format("use c_layout: {} or c_leaves: by_tile",
                                                     up ? "row_major" : "column_major")));
    }
    map_.a_along_columns = true;
    map_.c_column_major = false;
    GemmProblem floats = kProblem;
    floats.a = floats.b = DataType::Bf16;
    floats.c = DataType::F32;
    exact_cycles(machine_, map_, floats);
}

// As many bytes of C in runs as long as the column of cores is high.
TEST_P(Shapes, LinesOfCAreRunsInDram) {
    map_.a_along_columns = true;
    const auto run = [&] {
        for (const auto& op : lower(kProblem, map_, machine_.npu).program.sequence) {
            const auto* write = std::get_if<arch::npu::program::WriteDescriptor>(&op);
            if (write != nullptr && write->descriptor.buffer == 2) {
                return write->descriptor.dimensions.at(0).size;
            }
        }
        return std::int64_t{0};
    };
    const std::int64_t of_a_tile = run();
    map_.c_by_line = true;
    EXPECT_EQ(run(), shape().rows * of_a_tile);
    machine_.npu.shim_dma.wrap_bits = 5;
    EXPECT_THAT(refused(), HasSubstr("lines of 32 words, 5 bits hold 31"));
}

TEST_P(Shapes, LinesNeedAStreamOfCForEveryRowOfCores) {
    map_.a_along_columns = map_.c_by_line = true;
    machine_.npu.memory_dma.channels = 5;
    EXPECT_THAT(refused(), HasSubstr("rows of cores share a stream of C"));
    map_.rows = 3;
    exact();
}

// One output tile wide, so that a descriptor reaches over all rows of them.
TEST_P(Shapes, ADescriptorReachesDownAColumnOfOutputTiles) {
    map_.reach = OutputStationaryMapping::Reach::BlockRow;
    map_.columns = 1;
    GemmProblem narrow = kProblem;
    narrow.n = 16;
    const LoweredGemm lowered = lower(narrow, map_, machine_.npu);
    std::int64_t tokens = 0;
    for (const auto& op : lowered.program.sequence) {
        tokens += std::holds_alternative<arch::npu::program::WaitToken>(op) ? 1 : 0;
    }
    EXPECT_EQ(tokens, 1);
    exact_cycles(machine_, map_, narrow);
}

TEST_P(Shapes, EveryBufferHasADepthOfItsOwn) {
    map_.a_blocks = 3;
    map_.b_blocks = 1;
    map_.c_blocks = 3;
    map_.b_k_mt = 16;
    exact();
    EXPECT_EQ(shape().joins, 3);
}

TEST_P(Shapes, SumsApartAreCastOnce) {
    GemmProblem gemm = kProblem;
    gemm.a = gemm.b = gemm.c = DataType::Bf16;
    map_.sums_apart = true;
    exact_cycles(machine_, map_, gemm);
    map_.c_buffers = 2;
    map_.c_column_major = true;
    exact_cycles(machine_, map_, gemm);
    EXPECT_THAT(refusal(machine_, map_), HasSubstr("sums: f32 are cast to floats, not to int16"));
}

TEST_P(Shapes, ACastWhoseIterationsDoNotOverlapTakesTheLatencyOfEach) {
    GemmProblem gemm = kProblem;
    gemm.a = gemm.b = gemm.c = DataType::Bf16;
    map_.sums_apart = true;
    machine_.npu.kernels.load_latency = arch::base::Cycles{11};
    machine_.npu.kernels.vector_latency = arch::base::Cycles{5};
    const auto cycles = [&] {
        return arch::npu::core::KernelTiming(machine_.npu.kernels)
            .cycles(lower(gemm, map_, machine_.npu).program.kernels[2])
            .total()
            .count();
    };
    map_.cast_lanes = 24;
    const std::int64_t iterations = (map_.m_ct * map_.n_ct + 23) / 24;
    EXPECT_EQ(cycles(), iterations * (11 + 5 + 1));
    exact_cycles(machine_, map_, gemm);
    map_.cast_by_element = true;  // five moves an element, the last of which begins the latency
    EXPECT_EQ(cycles(), iterations * (11 + 24 * 5 - 1 + 5 + 1));
    exact_cycles(machine_, map_, gemm);
    map_.cast_lanes = 0;
    EXPECT_THAT(refusal(machine_, map_), HasSubstr("cast_by: element needs cast_lanes"));
}

// Two shuffles for each block of B (8 x 8 bf16) a step of four multiplications, and for each of the
// four blocks of C (4 x 8 f32) in and out: aie_api. A step is eight elements of K.
TEST(Modes, KernelsThatTransposeTakeTheirShuffles) {
    namespace program = arch::npu::program;
    const arch::npu::NpuConfig npu = undispatched("xdna2").npu;
    const arch::npu::core::KernelTiming timing(npu.kernels);
    const auto cycles = [&](const char* mode, DataType c) {
        program::Kernel kernel;
        kernel.kind = program::KernelKind::Multiply;
        kernel.m = kernel.k = kernel.n = 64;
        kernel.a = kernel.b = DataType::Bf16;
        kernel.c = c;
        kernel.mode = mode;
        return timing.cycles(kernel).total().count();
    };
    constexpr std::int64_t kBlocks = (64 / 8) * (64 / 16), kSteps = 64 / 8;
    const std::int64_t plain = cycles("native", DataType::F32);
    const std::int64_t b = kBlocks * kSteps * 2 * 2, c = kBlocks * 4 * 2 * 2;
    EXPECT_EQ(cycles("native_transposed_b", DataType::F32), plain + b);
    EXPECT_EQ(cycles("native_transposed_c", DataType::F32), plain + c);
    EXPECT_EQ(cycles("native_transposed_b_c", DataType::F32), plain + b + c);
    // Two conversions of 32 sums for each of four 8 x 8 blocks, in and out; loads use both slots.
    constexpr std::int64_t kWideBlocks = (64 / 16) * (64 / 16);
    EXPECT_EQ(cycles("compiled", DataType::Bf16),
              cycles("", DataType::Bf16) + kWideBlocks * (4 * 2 * 2 - 4 * 2 / 2));
}

TEST_P(Shapes, WhatADescriptorCannotReachIsRefused) {
    map_.reach = OutputStationaryMapping::Reach::BlockRow;
    map_.columns = 1;
    GemmProblem gemm = kProblem;
    gemm.n = 16 * 65;
    EXPECT_EQ(refusal(machine_, map_, gemm), "");  // it moves as many as it can
    map_.reach_tiles = 65;
    EXPECT_THAT(refusal(machine_, map_, gemm), HasSubstr("reach_tiles must be at most 64"));
    gemm.n = 32;
    gemm.k = 1 << 19;
    map_.reach_tiles = 2;
    EXPECT_THAT(refusal(machine_, map_, gemm), HasSubstr("by steps of 20 bits"));
    map_.reach_tiles = 0;
    map_.reach = OutputStationaryMapping::Reach::OutputTile;
    map_.a_along_columns = true;
    map_.rows = 2;
    gemm = kProblem;
    gemm.b_column_major = false;
    EXPECT_THAT(refusal(machine_, map_, gemm), HasSubstr("at least as many columns as rows"));
}

TEST_P(Shapes, WhatADescriptorCannotStepThroughIsRefused) {
    machine_.npu.shim_dma.wrap_bits = 6;
    GemmProblem gemm = kProblem;
    EXPECT_EQ(refusal(machine_, map_, gemm), "");
    map_.m_ct = 64;  // rows of A of a core
    gemm.m = 64 * machine_.npu.core_rows;
    map_.k_mt = map_.k_ct;
    gemm.k = 2 * map_.k_ct;
    EXPECT_THAT(refusal(machine_, map_, gemm), HasSubstr("6 bits hold 63"));
    gemm.k = map_.k_ct;
    EXPECT_EQ(refusal(machine_, map_, gemm), "");
}

TEST_P(Shapes, ACoreNeedsAChannelForEachOperand) {
    machine_.npu.core_dma.channels = 1;
    EXPECT_THAT(refused(), HasSubstr("a core tile needs 2 S2MM channels, it has 1"));
}

TEST_P(Shapes, MoreRowsOrColumnsThanTheArrayHasAreRefused) {
    map_.columns = machine_.npu.columns + 1;
    EXPECT_THAT(refused(), HasSubstr("the mapping uses"));
    map_.columns = 0;
    map_.rows = machine_.npu.core_rows + 1;
    EXPECT_THAT(refused(), HasSubstr("the mapping uses"));
}

// A core may be b_buffers calls ahead of another of its column, and one in the switches; it has
// sent an output tile when it begins the one c_buffers later.
TEST_P(Shapes, RowsThatShareAStreamHaveAPlaceForEveryTileOneCoreMayBeAhead) {
    machine_.npu.memory_dma.channels = 5;
    EXPECT_EQ(shape().joins, 1);  // a tile is nine calls
    map_.b_buffers = 7;
    EXPECT_EQ(shape().joins, 1);
    map_.b_buffers = 8;
    EXPECT_EQ(shape().joins, 2);
    map_.c_buffers = 2;
    EXPECT_EQ(shape().joins, 4);  // three, in whole turns of the core's two buffers
}

// Sums in buffers of their own need no room of C until they are cast: a tile more is under way.
TEST_P(Shapes, RowsThatShareAStreamHaveAPlaceMoreWhereSumsLieApart) {
    machine_.npu.memory_dma.channels = 5;
    map_.sums_apart = true;
    EXPECT_EQ(shape().joins, 2);  // a tile is nine calls
    map_.b_buffers = 8;
    EXPECT_EQ(shape().joins, 3);
    map_.in_flight = 2;
    EXPECT_EQ(shape().joins, 2);  // no transfers of a third tile yet
    map_.in_flight = 0;
    map_.c_buffers = 2;
    EXPECT_EQ(shape().joins, 4);
}

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
