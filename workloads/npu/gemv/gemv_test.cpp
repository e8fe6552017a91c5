#include "workloads/npu/gemv/gemv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <variant>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "workloads/npu/gemv/bounds.hpp"
#include "workloads/npu/gemv/gemv_data.hpp"
#include "workloads/npu/gemv/mapping_problems.hpp"
#include "workloads/npu/gemv/mapping_search.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::gemv {
namespace {

using arch::npu::DataType;

const Machine& xdna2() {
    static const Machine machine = load_machine("xdna2", "lpddr5x_7500");
    return machine;
}

Outcome run(const MatrixVector& problem, const GemvMapping& map, const Machine& m = xdna2()) {
    LoweredGemv lowered = lower(problem, map, m.npu);
    const Bytes bytes{[&](auto& store) { fill_operands(problem, lowered, 3, store); },
                      [&](auto& store) { return check_product(problem, lowered, store); }};
    arch::npu::program::Program program =
        arch::npu::check::prepare(lowered.program, m.npu).program();
    return run_program(m, program, bytes);
}

GemvMapping mapping(std::int64_t columns, std::int64_t rows_per_call, std::int64_t rows_per_core) {
    GemvMapping map;
    map.columns = columns;
    map.rows_per_call = rows_per_call;
    map.rows_per_core = rows_per_core;
    return map;
}

TEST(Gemv, OperandsComeThroughTheColumnsWhoseShimsHaveADma) {
    Machine some = xdna2();
    some.npu.shim_columns = {5, 2, 6};
    const MatrixVector problem{203, 301};
    for (const auto path : {GemvMapping::Path::Direct, GemvMapping::Path::MemoryTile}) {
        GemvMapping map = mapping(0, 2, 6);
        map.path = path;
        map.one_vector_stream = path == GemvMapping::Path::MemoryTile;
        std::set<std::int64_t> columns;
        for (const auto& dma : lower(problem, map, some.npu).program.dmas) {
            columns.insert(dma.tile.column);
        }
        EXPECT_EQ(columns, (std::set<std::int64_t>{2, 5, 6}));
        EXPECT_EQ(run(problem, map, some).check.first_mismatch, "");
    }
    EXPECT_THAT(problems_of(problem, mapping(4, 2, 6), some.npu),
                testing::Contains(testing::HasSubstr("3 columns with a shim DMA")));
}

TEST(Gemv, EveryMappingComputesTheProduct) {
    // Neither rows nor elements are multiples of anything.
    const MatrixVector problem{203, 301};
    for (const std::int64_t columns : {1, 2, 4, 8}) {
        EXPECT_EQ(run(problem, mapping(columns, 2, 6)).check.first_mismatch, "") << columns;
    }
    GemvMapping map = mapping(4, 3, 6);
    map.path = GemvMapping::Path::MemoryTile;
    for (map.rows = 1; map.rows <= 4; ++map.rows) {
        for (const auto order : {GemvMapping::Order::Apart, GemvMapping::Order::InTurn}) {
            map.order = order;
            EXPECT_EQ(run(problem, map).check.first_mismatch, "") << map.rows;
        }
    }
    map.rows = 4;
    map.vector = GemvMapping::Vector::EachCall;
    map.one_vector_stream = true;
    const Outcome outcome = run(problem, map);
    EXPECT_TRUE(outcome.check.match) << outcome.check.first_mismatch;
    EXPECT_EQ(outcome.check.checked, 203);
}

// A sum of int16 products has more digits than an f32.
TEST(Gemv, AnIntegerThatIsOneOffIsNotTheProduct) {
    const MatrixVector problem{8, 301, DataType::Int16, DataType::Int16, DataType::Int32};
    const LoweredGemv lowered = lower(problem, mapping(1, 2, 2), xdna2().npu);
    const auto found = [&](std::byte flipped) {
        const Bytes bytes{[&](auto& store) { fill_operands(problem, lowered, 3, store); },
                          [&](auto& store) {
                              const auto y = lowered.program.external_buffers.back().address;
                              std::array<std::byte, 1> lowest{};
                              store.read(y, lowest);
                              lowest[0] ^= flipped;
                              store.write(y, lowest);
                              return check_product(problem, lowered, store);
                          }};
        auto program = arch::npu::check::prepare(lowered.program, xdna2().npu).program();
        return run_program(xdna2(), program, bytes).check.first_mismatch;
    };
    EXPECT_EQ(found(std::byte{0}), "");
    EXPECT_THAT(found(std::byte{1}), testing::StartsWith("y[0] is "));
}

// 64 rows of 64 bf16 are 1024 words for each of two columns, 128 of them a step.
TEST(Gemv, ADescriptorOfAShimMovesAColumnOrAStep) {
    auto npu = xdna2().npu;
    const MatrixVector problem{64, 64};
    GemvMapping map = mapping(2, 4, 4);
    const auto of = [&](std::int64_t bits) {
        npu.shim_dma.length_bits = bits;
        return problems_of(problem, map, npu);
    };
    EXPECT_THAT(of(11), testing::IsEmpty());
    EXPECT_THAT(of(10), testing::ElementsAre("a shim's descriptor moves 1024 words, at most 1023; "
                                             "use more columns or order: in_turn"));
    map.order = GemvMapping::Order::InTurn;
    EXPECT_THAT(of(8), testing::IsEmpty());
    EXPECT_THAT(of(7), testing::ElementsAre("a shim's descriptor moves 128 words, at most 127; use "
                                            "fewer rows_per_core"));
}

TEST(Gemv, AShimHasADescriptorForMatrixVectorAndResults) {
    Machine few = xdna2();
    few.npu.shim_dma.descriptors = 3;
    EXPECT_EQ(run({64, 64}, mapping(2, 4, 4), few).check.first_mismatch, "");
    few.npu.shim_dma.descriptors = 2;
    EXPECT_THAT(problems_of({64, 64}, mapping(2, 4, 4), few.npu),
                testing::ElementsAre("matrix, vector and results need 3 descriptors of a shim, it "
                                     "has 2"));
}

// The panels of two cores come and go, two each, and so do their results.
TEST(Gemv, TilesHaveADescriptorForEachBufferOfARing) {
    GemvMapping map = mapping(1, 2, 4);
    map.rows = 2;
    map.path = GemvMapping::Path::MemoryTile;
    const auto lack_of = [&](arch::npu::DmaConfig arch::npu::NpuConfig::*dma, bool halves,
                             std::int64_t enough, std::int64_t few) {
        Machine m = xdna2();
        (m.npu.*dma).parity_bound_descriptors = halves;
        (m.npu.*dma).descriptors = enough;
        EXPECT_EQ(run({64, 64}, map, m).check.first_mismatch, "");
        (m.npu.*dma).descriptors = few;
        return problems_of({64, 64}, map, m.npu);
    };
    EXPECT_THAT(lack_of(&arch::npu::NpuConfig::memory_dma, false, 16, 15),
                testing::ElementsAre("a memory tile needs 16 descriptors, it has 15; use fewer "
                                     "rows or panels"));
    // A core's A and its results are on even channels, two buffers each.
    EXPECT_THAT(lack_of(&arch::npu::NpuConfig::core_dma, true, 8, 6),
                testing::ElementsAre("a core tile needs 4 descriptors for its even or its odd "
                                     "channels, it has 3; use fewer buffers"));
}

TEST(Gemv, EveryReachComputesTheProduct) {
    const MatrixVector problem{203, 301};  // 7 steps of 8 rows of 4 columns
    GemvMapping map = mapping(4, 4, 8);
    map.order = GemvMapping::Order::InTurn;
    map.vector = GemvMapping::Vector::EachCall;
    for (const auto path : {GemvMapping::Path::Direct, GemvMapping::Path::MemoryTile}) {
        map.path = path;
        for (map.reach = 0; map.reach <= 8; ++map.reach) {
            map.in_flight = map.reach % 3;
            EXPECT_EQ(run(problem, map).check.first_mismatch, "") << map.reach;
        }
    }
}

std::int64_t tasks_of(const arch::npu::program::Program& program) {
    return std::count_if(program.sequence.begin(), program.sequence.end(), [](const auto& op) {
        return std::holds_alternative<arch::npu::program::PushTask>(op);
    });
}

TEST(Gemv, ADescriptorReachesOverStepsAndRepeatsTheVectorForTheirCalls) {
    const MatrixVector problem{7 * 3 * 8, 64};  // 7 steps of 8 rows of 3 columns
    GemvMapping map = mapping(3, 4, 8);
    map.order = GemvMapping::Order::InTurn;
    map.vector = GemvMapping::Vector::EachCall;
    map.reach = 5;
    const auto program = lower(problem, map, xdna2().npu).program;
    EXPECT_EQ(tasks_of(program), 2 * 3 * 3);  // five steps and two; A, x and y of three columns
    std::vector<std::int64_t> runs;
    for (const auto& op : program.sequence) {
        if (const auto* write = std::get_if<arch::npu::program::WriteDescriptor>(&op)) {
            const auto& descriptor = write->descriptor;
            if (descriptor.buffer == 1) {
                EXPECT_FALSE(descriptor.iteration);
                continue;
            }
            const std::int64_t row_words = descriptor.buffer == 0 ? 64 / 2 : 1;
            const std::int64_t rows = descriptor.buffer == 0 ? 1 : 2;  // two results are a word
            EXPECT_EQ(descriptor.length, 8 * row_words / rows);
            EXPECT_EQ(descriptor.iteration->stride, 3 * 8 * row_words / rows);
        } else if (const auto* push = std::get_if<arch::npu::program::PushTask>(&op)) {
            runs.push_back(push->task.repeat);
        }
    }
    EXPECT_THAT(runs,
                testing::ElementsAre(5, 5, 5, 10, 10, 10, 5, 5, 5, 2, 2, 2, 4, 4, 4, 2, 2, 2));
}

TEST(Gemv, ADescriptorReachesAsFarAsItCanUnlessToldOtherwise) {
    GemvMapping map = mapping(8, 1, 8);
    map.order = GemvMapping::Order::InTurn;
    const arch::npu::NpuConfig& npu = xdna2().npu;
    EXPECT_EQ(shape_of({64 * 1000, 64}, map, npu).reach, 64);  // an offset of six bits
    EXPECT_EQ(shape_of({64 * 10, 64}, map, npu).reach, 10);
    map.vector = GemvMapping::Vector::EachCall;
    EXPECT_EQ(shape_of({64 * 1000, 64}, map, npu).reach, 256 / 8);  // 256 repeats of the vector
    // A step of 2^20 words at most.
    EXPECT_EQ(shape_of({64 * 1000, 32768}, map, npu).reach, 256 / 8);
    EXPECT_EQ(shape_of({64 * 1000, 32768 + 2}, map, npu).reach, 1);
}

TEST(Gemv, AShortReachCostsTheCommandProcessorsTime) {
    const MatrixVector problem{8 * 8 * 16, 512};
    GemvMapping map = mapping(8, 8, 8);
    map.order = GemvMapping::Order::InTurn;
    const std::int64_t all = run(problem, map).cycles;
    map.reach = 1;
    const std::int64_t one = run(problem, map).cycles;
    // Two tasks a column and step, against two a column: the shims are fed too slowly.
    const auto& processor = xdna2().npu.command_processor;
    const double task = static_cast<double>(processor.descriptor_cycles.count()) *
                        static_cast<double>(xdna2().npu.clock.count()) /
                        static_cast<double>(processor.clock.count());
    EXPECT_GT(static_cast<double>(one), 16 * 16 * task);
    EXPECT_LT(all, one / 2);
}

TEST(Gemv, WeightsMayBeIntegersWithFactors) {
    for (const DataType type : {DataType::Int4, DataType::Int8}) {
        const MatrixVector problem{64, 192, type, DataType::Bf16, DataType::Bf16, 32};
        EXPECT_EQ(run(problem, mapping(2, 4, 4)).check.first_mismatch, "");
    }
    const MatrixVector integers{64, 100, DataType::Int8, DataType::Int8, DataType::Int32};
    EXPECT_EQ(run(integers, mapping(2, 4, 4)).check.first_mismatch, "");
}

TEST(Gemv, ARowIsFollowedByItsFactors) {
    const MatrixVector problem{8, 70, DataType::Int4, DataType::Bf16, DataType::Bf16, 32};
    const GemvShape shape = shape_of(problem, mapping(1, 4, 4), xdna2().npu);
    EXPECT_EQ(shape.k, 128);  // two factors of two bytes are a word
    EXPECT_EQ(shape.row_bytes, 128 / 2 + 4 * 2);
}

TEST(Gemv, TheMatrixIsReadOnceAndTheVectorOnceAColumn) {
    const MatrixVector problem{256, 512};
    const Outcome outcome = run(problem, mapping(4, 4, 8));
    EXPECT_EQ(outcome.totals.bytes_read, 256 * 512 * 2 + 4 * 512 * 2);
    EXPECT_EQ(outcome.totals.bytes_written, 256 * 2);
    GemvMapping again = mapping(4, 4, 8);
    again.order = GemvMapping::Order::InTurn;
    again.vector = GemvMapping::Vector::EachCall;
    again.one_vector_stream = true;
    EXPECT_EQ(run(problem, again).totals.bytes_read, 256 * 512 * 2 + 256 / 4 / 4 * 512 * 2);
}

std::string problem_with(const MatrixVector& problem, const GemvMapping& map) {
    const auto problems = problems_of(problem, map, xdna2().npu);
    return problems.empty() ? "" : problems.front();
}

TEST(Gemv, WhatCannotBeSaysWhatLimitsIt) {
    const MatrixVector problem{2048, 4096};
    using testing::HasSubstr;
    EXPECT_EQ(problem_with(problem, mapping(8, 2, 4)), "");
    EXPECT_THAT(problem_with(problem, mapping(9, 2, 4)), HasSubstr("the array has 8 columns"));
    EXPECT_THAT(problem_with(problem, mapping(8, 4, 6)),
                HasSubstr("must be a multiple of rows_per_call (4)"));
    EXPECT_THAT(problem_with(problem, mapping(8, 1, 3)), HasSubstr("multiple of 2"));
    EXPECT_THAT(problem_with(problem, mapping(8, 8, 8)), HasSubstr("rows_per_call of 3 fits"));
    // Lengths of 14 bits: of two rows of bf16 there may be fewer, of one there is a shorter one.
    const MatrixVector wide{2048, 24000};
    EXPECT_THAT(problems_of(wide, mapping(8, 2, 2), xdna2().npu),
                testing::Contains(HasSubstr("use fewer rows_per_call")));
    const MatrixVector wider{2048, 40000};
    EXPECT_THAT(problems_of(wider, mapping(8, 1, 2), xdna2().npu),
                testing::Contains("a core's descriptor moves 20000 words, at most 16383; use a "
                                  "smaller K: one row alone is longer"));
    GemvMapping map = mapping(8, 2, 4);
    map.rows = 4;
    EXPECT_THAT(problem_with(problem, map), HasSubstr("path memory_tile serves more"));
    map.path = GemvMapping::Path::MemoryTile;
    EXPECT_EQ(problem_with(problem, map), "");
    map.panels = 8;
    EXPECT_THAT(problem_with(problem, map), HasSubstr("a memory tile needs"));
    map = mapping(8, 2, 4);
    map.vector = GemvMapping::Vector::EachCall;
    map.columns = 1;
    EXPECT_THAT(problem_with(problem, map), HasSubstr("a shim can repeat one 256 times"));
    map.order = GemvMapping::Order::InTurn;
    map.reach = 128;
    EXPECT_THAT(problem_with(problem, map), HasSubstr("reach must be at most 64"));
    map.order = GemvMapping::Order::Apart;
    EXPECT_THAT(problem_with(problem, map), HasSubstr("leave reach out"));
    map = mapping(8, 8, 4);  // no call at all
    map.vector = GemvMapping::Vector::EachCall;
    for (const auto order : {GemvMapping::Order::Apart, GemvMapping::Order::InTurn}) {
        map.order = order;
        EXPECT_THAT(problem_with(problem, map), HasSubstr("must be a multiple of rows_per_call"));
    }
    EXPECT_THAT(problem_with({64, 64, DataType::Int8, DataType::Bf16}, mapping(1, 4, 4)), "");
    EXPECT_THAT(problem_with({64, 64, DataType::Bf16, DataType::Int8}, mapping(1, 4, 4)),
                HasSubstr("does not multiply bf16 by int8"));
    EXPECT_THROW(lower(problem, map, xdna2().npu), arch::base::config::ConfigError);
}

TEST(Gemv, EveryNumberOfColumnsMayBeBest) {
    std::set<std::int64_t> columns;
    for (const GemvMapping& map : mappings_of({2048, 2048}, xdna2().npu)) {
        columns.insert(map.columns);
    }
    EXPECT_EQ(columns, (std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Gemv, VariantsFitAndDifferInOneKey) {
    const MatrixVector problem{2048, 2048};
    const GemvMapping map = mapping(8, 2, 4);
    const auto variants = variants_of(problem, map, xdna2().npu);
    bool in_turn = false;
    for (const GemvMapping& other : variants) {
        const int changed =
            (other.order != map.order) + (other.vector != map.vector) +
            (other.one_vector_stream != map.one_vector_stream) + (other.reach != map.reach) +
            (other.in_flight != map.in_flight) + (other.a_buffers != map.a_buffers) +
            (other.x_buffers != map.x_buffers) + (other.y_buffers != map.y_buffers) +
            (other.panels != map.panels) + (other.rows_per_core != map.rows_per_core);
        EXPECT_EQ(changed, 1);
        EXPECT_TRUE(problems_of(problem, other, xdna2().npu).empty());
        in_turn = in_turn || other.order == GemvMapping::Order::InTurn;
        EXPECT_EQ(other.reach, 0);  // all rows of a column in one piece
    }
    EXPECT_TRUE(in_turn);
    GemvMapping turns = map;
    turns.order = GemvMapping::Order::InTurn;
    const auto reaching = variants_of(problem, turns, xdna2().npu);
    EXPECT_TRUE(std::any_of(reaching.begin(), reaching.end(),
                            [](const GemvMapping& other) { return other.reach == 4; }));
}

TEST(Gemv, TheBoundsAreNotBeaten) {
    const MatrixVector problem{1024, 1024};
    for (const std::int64_t columns : {1, 8}) {
        const GemvMapping map = mapping(columns, 4, 8);
        const double cycles_ns =
            bounds_of(problem, map, xdna2().npu, {xdna2().memory, xdna2().fabric}).tightest_ns();
        const double clock = static_cast<double>(xdna2().npu.clock.count()) / 1e9;
        EXPECT_GE(static_cast<double>(run(problem, map).cycles) / clock, cycles_ns);
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu::gemv
