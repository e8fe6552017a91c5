#include "workloads/npu/elementwise/elementwise.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/elementwise/elementwise_data.hpp"
#include "workloads/npu/elementwise/expected_time.hpp"
#include "workloads/npu/elementwise/mapping_problems.hpp"
#include "workloads/npu/elementwise/mapping_search.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::elementwise {
namespace {

using arch::npu::DataType;
using arch::npu::program::VectorOperation;

const Machine& xdna2() {
    static const Machine machine = load_machine("xdna2", "lpddr5x_7500");
    return machine;
}

Outcome run(const ElementwiseProblem& problem, const ElementwiseMapping& map,
            const Machine& m = xdna2()) {
    const LoweredElementwise lowered = lower(problem, map, m.npu);
    const Bytes bytes{[&](auto& store) { fill_operands(problem, lowered, 3, store); },
                      [&](auto& store) { return check_result(problem, lowered, store); }};
    auto program = arch::npu::check::prepare(lowered.program, m.npu).program();
    return run_program(m, program, bytes);
}

TEST(Elementwise, OperandsComeThroughTheColumnsWhoseShimsHaveADma) {
    Machine some = xdna2();
    some.npu.shim_columns = {5, 2, 6};
    for (const auto operation : {VectorOperation::Add, VectorOperation::RmsNorm}) {
        const ElementwiseProblem problem{operation, 13, 96};
        std::set<std::int64_t> columns;
        for (const auto& core : lower(problem, {}, some.npu).program.cores) {
            columns.insert(core.tile.column);
        }
        EXPECT_EQ(columns, (std::set<std::int64_t>{2, 5, 6}));
        EXPECT_EQ(run(problem, {}, some).check.first_mismatch, "");
    }
    ElementwiseMapping map;
    map.columns = 4;
    EXPECT_THAT(problems_of({VectorOperation::Add, 13, 96}, map, some.npu),
                testing::ElementsAre("the mapping uses 4 columns, the array has 3 with a shim "
                                     "DMA"));
}

TEST(Elementwise, EveryOperationIsRightOnAnyNumberOfColumns) {
    for (const auto& [name, operation] : arch::npu::program::kVectorOperations) {
        ElementwiseProblem problem{operation, 13, 96};
        if (operation == VectorOperation::Dequantise) {
            problem.a = DataType::Int4;
            problem.scale_block = 32;
            problem.n = 128;
        } else if (operation == VectorOperation::Cast) {
            problem.a = DataType::F32;
        }
        for (const std::int64_t columns : {1, 3, 8}) {
            ElementwiseMapping map;
            map.columns = columns;
            map.rows_per_call = 2;
            const Outcome outcome = run(problem, map);
            EXPECT_TRUE(outcome.check.match) << name << ": " << outcome.check.first_mismatch;
            EXPECT_EQ(outcome.check.checked, problem.m * problem.n);
        }
    }
}

// What does not fit an integer result loses its upper bits, in the cores and in what is expected.
TEST(Elementwise, EveryOperationIsRightOnIntegers) {
    for (const auto& [name, operation] : arch::npu::program::kVectorOperations) {
        for (const auto& [a, c] : {std::pair{DataType::Int8, DataType::Int8},
                                   {DataType::Int16, DataType::Int8},
                                   {DataType::Int16, DataType::Int16},
                                   {DataType::Int8, DataType::Int32},
                                   {DataType::Int32, DataType::Int32}}) {
            const ElementwiseProblem problem{operation, 13, 96, a, c};
            const Outcome outcome = run(problem, {});
            EXPECT_TRUE(outcome.check.match) << name << " of " << name_of(a) << " to " << name_of(c)
                                             << ": " << outcome.check.first_mismatch;
        }
    }
}

TEST(Elementwise, AnIntegerThatIsOneOffIsNotRight) {
    const ElementwiseProblem problem{VectorOperation::Copy, 1, 64, DataType::Int32,
                                     DataType::Int32};
    const LoweredElementwise lowered = lower(problem, {}, xdna2().npu);
    const Bytes bytes{[&](auto& store) { fill_operands(problem, lowered, 3, store); },
                      [&](auto& store) {
                          const auto c = lowered.program.external_buffers.back().address;
                          std::array<std::byte, 1> lowest{};
                          store.read(c, lowest);
                          lowest[0] ^= std::byte{1};
                          store.write(c, lowest);
                          return check_result(problem, lowered, store);
                      }};
    auto program = arch::npu::check::prepare(lowered.program, xdna2().npu).program();
    EXPECT_THAT(run_program(xdna2(), program, bytes).check.first_mismatch,
                testing::StartsWith("C[0][0] is "));
}

TEST(Elementwise, WhatIsNoNumberIsNotRight) {
    const ElementwiseProblem problem{VectorOperation::Softmax, 1, 64};
    const LoweredElementwise lowered = lower(problem, {}, xdna2().npu);
    const Bytes bytes{[&](auto& store) { fill_operands(problem, lowered, 3, store); },
                      [&](auto& store) {
                          const std::array nan{std::byte{0xFF}, std::byte{0x7F}};
                          store.write(lowered.program.external_buffers.back().address, nan);
                          return check_result(problem, lowered, store);
                      }};
    auto program = arch::npu::check::prepare(lowered.program, xdna2().npu).program();
    EXPECT_THAT(run_program(xdna2(), program, bytes).check.first_mismatch,
                testing::StartsWith("C[0][0] is nan"));
}

TEST(Elementwise, EveryOperandIsMovedOnce) {
    ElementwiseMapping map;
    map.columns = 4;
    const Outcome added = run({VectorOperation::Add, 16, 64}, map);
    EXPECT_EQ(added.totals.bytes_read, 2 * 16 * 64 * 2);
    EXPECT_EQ(added.totals.bytes_written, 16 * 64 * 2);
    // The weights go to each of the columns.
    EXPECT_EQ(run({VectorOperation::RmsNorm, 16, 64}, map).totals.bytes_read,
              16 * 64 * 2 + 4 * 64 * 2);
}

// A shim has two channels each way: two cores of a column get rows of their own.
TEST(Elementwise, WhatHasOneOperandUsesTwoCoresOfAColumn) {
    const ElementwiseProblem problem{VectorOperation::Silu, 13, 96};
    ElementwiseMapping map;
    map.columns = 3;
    map.cores = 2;
    std::set<std::pair<std::int64_t, std::int64_t>> tiles;
    for (const auto& core : lower(problem, map, xdna2().npu).program.cores) {
        tiles.insert({core.tile.column, core.tile.row});
    }
    using Tiles = std::set<std::pair<std::int64_t, std::int64_t>>;
    EXPECT_EQ(tiles, (Tiles{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 2}, {2, 3}}));
    const Outcome outcome = run(problem, map);
    EXPECT_TRUE(outcome.check.match) << outcome.check.first_mismatch;
    // 3 rows for each of 6 cores.
    EXPECT_EQ(outcome.totals.bytes_read, 3 * 6 * 96 * 2);
    map.cores = 3;
    EXPECT_THAT(problems_of(problem, map, xdna2().npu),
                testing::ElementsAre("a column's shim sends 1 operands to each of 3 cores on a "
                                     "channel each, it has 2; use fewer cores of a column"));
    map.cores = 5;
    EXPECT_THAT(problems_of(problem, map, xdna2().npu),
                testing::Contains("the mapping uses 5 cores of a column of 4"));
    map.cores = 2;
    EXPECT_THAT(problems_of({VectorOperation::Add, 13, 96}, map, xdna2().npu),
                testing::ElementsAre(testing::HasSubstr("sends 2 operands to each of 2 cores")));
}

TEST(Elementwise, TwoCoresOfAColumnHalveWhatKernelsTake) {
    const ElementwiseProblem problem{VectorOperation::Softmax, 640, 64};
    ElementwiseMapping map;
    map.columns = 1;
    const std::int64_t one = run(problem, map).cycles;
    map.cores = 2;
    const std::int64_t two = run(problem, map).cycles;
    // Half of the calls are the other core's, with their locks; its tasks come after the first's.
    const auto kernel = arch::npu::core::KernelTiming(xdna2().npu.kernels)
                            .cycles(kernel_of(problem, 1))
                            .total()
                            .count();
    const auto& core = xdna2().npu.core;
    const std::int64_t call = kernel + core.call_cycles.count() + 4 * core.lock_cycles.count();
    EXPECT_LE(one - two, 320 * call);
    EXPECT_GT(one - two, 320 * call * 85 / 100);
}

TEST(Elementwise, RowsOfOneTokenAreTurnedByTheSameAngles) {
    for (const std::int64_t heads : {2, 4}) {
        ElementwiseProblem problem{VectorOperation::Rope, 12, 96};
        problem.heads = heads;
        ElementwiseMapping map;
        map.columns = 2;
        const Outcome outcome = run(problem, map);
        EXPECT_TRUE(outcome.check.match) << outcome.check.first_mismatch;
        // Of 12 rows 6 pairs or 3 fours: 3 or 2 rows of angles for each column.
        const std::int64_t angles = heads == 2 ? 3 : 2;
        EXPECT_EQ(outcome.totals.bytes_read, 2 * angles * (heads + 1) * 96 * 2);
        map.rows_per_call = 2;
        EXPECT_THAT(problems_of(problem, map, xdna2().npu),
                    testing::ElementsAre("rows that share their angles come one a call, not 2"));
    }
}

TEST(Elementwise, ElementsAreCutWhateverRowTheyAreOf) {
    for (const auto operation : {VectorOperation::Add, VectorOperation::Tanh}) {
        const ElementwiseProblem problem{operation, 3, 1000};
        ElementwiseMapping map;
        map.columns = 2;
        map.elements_per_call = 256;
        const LoweredElementwise lowered = lower(problem, map, xdna2().npu);
        EXPECT_EQ(lowered.calls, 6);  // 3000 elements are 12 calls
        const Outcome outcome = run(problem, map);
        EXPECT_TRUE(outcome.check.match) << outcome.check.first_mismatch;
        EXPECT_EQ(outcome.check.checked, 3000);
        map.rows_per_call = 2;
        EXPECT_THAT(problems_of(problem, map, xdna2().npu),
                    testing::ElementsAre("a call works on rows_per_call rows or on "
                                         "elements_per_call elements; of rows there are 2"));
    }
    ElementwiseMapping map;
    map.elements_per_call = 256;
    for (const auto operation :
         {VectorOperation::LayerNorm, VectorOperation::Softmax, VectorOperation::Rope}) {
        EXPECT_THAT(problems_of({operation, 3, 1000}, map, xdna2().npu),
                    testing::Contains(testing::HasSubstr("goes by rows")));
    }
}

TEST(Elementwise, MappingsAreSearchedOverColumnsCoresAndPieces) {
    const auto mappings = mappings_of({VectorOperation::Relu, 1, 65536}, xdna2().npu);
    const auto has = [&](std::int64_t columns, std::int64_t cores, std::int64_t elements) {
        return std::any_of(mappings.begin(), mappings.end(), [&](const ElementwiseMapping& map) {
            return map.columns == columns && map.cores == cores &&
                   map.elements_per_call == elements;
        });
    };
    for (const std::int64_t columns : {1, 2, 4, 8}) {
        EXPECT_TRUE(has(columns, 2, 4096)) << columns;
    }
    EXPECT_TRUE(has(3, 2, 2752));   // 10923 elements a core in four calls, of whole vectors
    EXPECT_FALSE(has(8, 2, 8192));  // 16 cores have 4096 each
    EXPECT_TRUE(has(1, 1, 4096));
    EXPECT_FALSE(has(1, 1, 8192));  // four buffers of 16 KiB, and a stack
    EXPECT_TRUE(has(1, 2, 256));
    EXPECT_FALSE(has(1, 2, 0));  // a row is 128 KiB
    // Of three elements, which are no whole words, there is a padded piece: a vector of 32.
    EXPECT_EQ(mappings_of({VectorOperation::Relu, 1, 3}, xdna2().npu).back().elements_per_call, 32);
}

// Cores share an element more than whole powers of two in pieces that are each a vector longer.
TEST(Elementwise, AnElementMoreIsNotPaddedByAWholePiece) {
    const ElementwiseProblem problem{VectorOperation::Relu, 1, 65537};
    for (const ElementwiseMapping& map : mappings_of(problem, xdna2().npu)) {
        ASSERT_GT(map.elements_per_call, 0);  // a row is 128 KiB
        const std::int64_t calls =
            calls_of(as_called(problem, map), map, xdna2().npu) * map.cores_of(xdna2().npu);
        EXPECT_GE(calls * map.elements_per_call, problem.n);
        EXPECT_LT(calls * map.elements_per_call, problem.n + 32 * calls);
    }
    // 65 rows a core: in calls of 33, not of 64.
    const auto mappings = mappings_of({VectorOperation::Softmax, 130, 64}, xdna2().npu);
    EXPECT_TRUE(std::any_of(mappings.begin(), mappings.end(), [](const ElementwiseMapping& map) {
        return map.columns == 2 && map.cores == 1 && map.rows_per_call == 33;
    }));
}

TEST(Elementwise, BuffersAreVaried) {
    ElementwiseMapping map;
    map.elements_per_call = 4096;
    const auto buffers = [&] {
        std::vector<std::int64_t> list;
        for (const auto& other : variants_of({VectorOperation::Relu, 1, 65536}, map, xdna2().npu)) {
            EXPECT_EQ(other.elements_per_call, map.elements_per_call);
            list.push_back(other.buffers);
        }
        return list;
    };
    EXPECT_THAT(buffers(), testing::ElementsAre(1, 3));  // eight of 8 KiB, and a stack, do not fit
    map.elements_per_call = 1024;
    EXPECT_THAT(buffers(), testing::ElementsAre(1, 3, 4));
}

// Three operands' buffers of one core: two, two and two.
TEST(Elementwise, ACoreNeedsADescriptorForEachBuffer) {
    auto npu = xdna2().npu;
    const ElementwiseProblem problem{VectorOperation::Add, 16, 64};
    npu.core_dma.descriptors = 6;
    EXPECT_THAT(problems_of(problem, {}, npu), testing::IsEmpty());
    npu.core_dma.descriptors = 5;
    EXPECT_THAT(problems_of(problem, {}, npu),
                testing::ElementsAre("a core tile needs 6 descriptors, it has 5; use fewer "
                                     "buffers"));
    EXPECT_EQ(mappings_of(problem, npu).front().buffers, 1);
    // Weights are one buffer: five.
    EXPECT_THAT(problems_of({VectorOperation::RmsNorm, 16, 64}, {}, npu), testing::IsEmpty());
    // A and C are on even channels, whose half is four of eight.
    npu.core_dma.parity_bound_descriptors = true;
    npu.core_dma.descriptors = 8;
    EXPECT_THAT(problems_of(problem, {}, npu), testing::IsEmpty());
    ElementwiseMapping map;
    map.buffers = 3;
    EXPECT_THAT(problems_of(problem, map, npu),
                testing::ElementsAre("a core tile needs 6 descriptors for its even or its odd "
                                     "channels, it has 4; use fewer buffers"));
}

// Of 8192 elements of bf16 two fit a core of 64 KiB with its stack, not four.
TEST(Elementwise, LongRowsComeIntoOneBufferEach) {
    const ElementwiseProblem problem{VectorOperation::Softmax, 8, 8192};
    const auto mappings = mappings_of(problem, xdna2().npu);
    ASSERT_FALSE(mappings.empty());
    for (const ElementwiseMapping& map : mappings) {
        EXPECT_EQ(map.buffers, 1);
    }
    EXPECT_TRUE(run(problem, mappings.front()).check.match);
    EXPECT_EQ(mappings_of({VectorOperation::Softmax, 8, 4096}, xdna2().npu).back().buffers, 2);
    EXPECT_TRUE(mappings_of({VectorOperation::Softmax, 8, 16384}, xdna2().npu).empty());
}

// Rows of 2002 and of 1001 B are moved two and four at a time, the missing ones padded.
TEST(Elementwise, ARowAloneIsPaddedToWholeWords) {
    for (const auto& [type, rows] : {std::pair{DataType::Bf16, 2}, {DataType::Int8, 4}}) {
        ElementwiseProblem problem{VectorOperation::Softmax, 1, 1001, type, type};
        const auto mappings = mappings_of(problem, xdna2().npu);
        ASSERT_FALSE(mappings.empty());
        for (const ElementwiseMapping& map : mappings) {
            EXPECT_EQ(map.rows_per_call, rows);
        }
        if (type == DataType::Bf16) {
            EXPECT_TRUE(run(problem, mappings.front()).check.match);
        }
        ElementwiseMapping one;
        EXPECT_THAT(problems_of(problem, one, xdna2().npu),
                    testing::Contains(testing::HasSubstr(
                        fmt::format("use a multiple of {} rows_per_call", rows))));
    }
}

// Two rows of three elements are three words; the one row of weights, of 6 B, comes as two.
TEST(Elementwise, ARowOfWeightsMayEndWithinAWord) {
    const ElementwiseProblem problem{VectorOperation::RmsNorm, 100, 3};
    const auto mappings = mappings_of(problem, xdna2().npu);
    ASSERT_FALSE(mappings.empty());
    for (const ElementwiseMapping& map : mappings) {
        EXPECT_EQ(map.rows_per_call % 2, 0);
    }
    EXPECT_TRUE(run(problem, mappings.front()).check.match);
    EXPECT_TRUE(run(problem, mappings.back()).check.match);
}

TEST(Elementwise, ACastWhoseIterationsDoNotOverlapTakesTheLatencyOfEach) {
    ElementwiseProblem problem{VectorOperation::Cast, 13, 96, DataType::F32};
    ElementwiseMapping map;
    const auto cycles = [&] {
        const auto npu = xdna2().npu;
        return arch::npu::core::KernelTiming(npu.kernels)
            .cycles(lower(problem, map, npu).program.kernels.at(0))
            .total()
            .count();
    };
    const std::int64_t apart = 96 / 16 * (7 + 6 + 1);
    EXPECT_LT(cycles(), apart);
    map.cast_lanes = 16;
    EXPECT_EQ(cycles(), apart);
    EXPECT_TRUE(run(problem, map).check.match);
    problem = {VectorOperation::Add, 13, 96};
    EXPECT_THAT(problems_of(problem, map, xdna2().npu),
                testing::ElementsAre("cast_lanes is for casts, not for add"));
}

TEST(Elementwise, WhatCannotBeSaysWhatLimitsIt) {
    const auto reason = [](const ElementwiseProblem& problem, const ElementwiseMapping& map) {
        const auto problems = problems_of(problem, map, xdna2().npu);
        return problems.empty() ? "" : problems.front();
    };
    using testing::HasSubstr;
    ElementwiseMapping map;
    EXPECT_EQ(reason({VectorOperation::Add, 16, 64}, map), "");
    map.columns = 9;
    EXPECT_THAT(reason({VectorOperation::Add, 16, 64}, map), HasSubstr("the array has 8"));
    map.columns = 8;
    map.rows_per_call = 128;
    EXPECT_THAT(reason({VectorOperation::Add, 16, 64}, map), HasSubstr("fewer rows_per_call"));
    map.rows_per_call = 1;
    EXPECT_THAT(reason({VectorOperation::Add, 16, 3}, map), HasSubstr("no whole words"));
    // Lengths of 14 bits: there are no fewer rows of a call than one.
    EXPECT_EQ(reason({VectorOperation::Softmax, 16, 32768}, map),
              "a core's descriptor moves 16384 words, at most 16383; use rows of fewer elements");
    auto few_bits = xdna2().npu;  // of lengths: said of all operands at once
    few_bits.core_dma.length_bits = 8;
    EXPECT_THAT(
        problems_of({VectorOperation::RmsNorm, 16, 2048}, map, few_bits),
        testing::ElementsAre(
            "a core's descriptor moves 1024 words, at most 255; use rows of fewer elements"));
    // 64 KiB less a stack of 1 KiB, for four and for two buffers of bf16.
    EXPECT_THAT(reason({VectorOperation::Softmax, 1, 8192}, map),
                HasSubstr("use fewer buffers or rows of at most 8064 elements"));
    EXPECT_THAT(reason({VectorOperation::Relu, 1, 24576}, map),
                HasSubstr("use fewer buffers or elements_per_call of at most 8064"));
    map.elements_per_call = 24576;
    EXPECT_THAT(reason({VectorOperation::Relu, 1, 24576}, map),
                HasSubstr("use fewer buffers or fewer elements_per_call"));
    map.elements_per_call = 0;
    map.buffers = 1;
    EXPECT_THAT(reason({VectorOperation::Softmax, 1, 16384}, map),
                HasSubstr("use rows of at most 16128 elements"));
}

// 16 rows of 64 bf16 are 256 words of each operand for each of two columns.
TEST(Elementwise, ADescriptorOfAShimMovesAllOfACore) {
    auto npu = xdna2().npu;
    ElementwiseMapping map;
    map.columns = 2;
    npu.shim_dma.length_bits = 9;
    EXPECT_THAT(problems_of({VectorOperation::Add, 16, 64}, map, npu), testing::IsEmpty());
    npu.shim_dma.length_bits = 8;
    EXPECT_THAT(problems_of({VectorOperation::Add, 16, 64}, map, npu),
                testing::ElementsAre("a shim's descriptor moves 256 words to or from a core, at "
                                     "most 255; use more columns or cores"));
    npu.shim_dma.length_bits = 9;
    npu.shim_dma.descriptors = 2;
    EXPECT_THAT(problems_of({VectorOperation::Add, 16, 64}, map, npu),
                testing::ElementsAre("a column's shim needs 3 descriptors, it has 2; use fewer "
                                     "cores of a column"));
}

// Few rows are over before the tasks of many columns are given; many take as long as the columns'
// own reads where these are few.
TEST(Elementwise, FewRowsAreExpectedOnFewColumnsAndManyOnMany) {
    const MemoryPath path{xdna2().memory, xdna2().fabric};
    const auto expected = [&](std::int64_t rows, std::int64_t columns) {
        ElementwiseMapping map;
        map.columns = columns;
        return expected_ns({VectorOperation::Add, rows, 1024}, map, xdna2().npu, path);
    };
    EXPECT_LT(expected(8, 1), expected(8, 8));
    EXPECT_LT(expected(1009, 8), expected(1009, 2));
    EXPECT_GT(expected(2018, 2), 1.8 * expected(1009, 2));
}

}  // namespace
}  // namespace tilesim::workloads::npu::elementwise
