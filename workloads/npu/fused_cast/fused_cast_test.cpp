#include "workloads/npu/fused_cast/fused_cast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <variant>

#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/control/configuration_writes.hpp"
#include "workloads/npu/elementwise/bounds.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::fused_cast {
namespace {

using arch::npu::program::Program;
using arch::npu::program::WriteDescriptor;
using arch::npu::program::WriteRegisters;
using testing::ElementsAre;
using testing::HasSubstr;

const Machine& xdna2() {
    static const Machine machine = load_machine("xdna2", "lpddr5x_7500");
    return machine;
}

GemmProblem problem(std::int64_t m = 256, std::int64_t k = 96, std::int64_t n = 512) {
    return {m, k, n, DataType::Bf16, DataType::Bf16, DataType::Bf16};
}

FusedCastMapping mapping() {
    FusedCastMapping map;
    map.product.m_ct = 16;
    map.product.k_ct = map.product.n_ct = 32;
    map.product.k_mt = 96;
    return map;
}

// DRAM's buffers that a sequence's descriptors name.
std::set<std::int64_t> arguments_of(const Program& program) {
    std::set<std::int64_t> arguments;
    for (const auto& operation : program.sequence) {
        if (const auto* write = std::get_if<WriteDescriptor>(&operation)) {
            arguments.insert(write->descriptor.buffer);
        }
    }
    return arguments;
}

TEST(FusedCast, TheCastReadsWhatTheProductLeavesAndWritesC) {
    const LoweredFusedCast lowered = lower(problem(), mapping(), xdna2().npu);
    ASSERT_EQ(lowered.program.then.size(), 1U);
    const Program& cast = lowered.program.then.front();
    EXPECT_THAT(arguments_of(lowered.program), ElementsAre(0, 1, 2));
    EXPECT_THAT(arguments_of(cast), ElementsAre(2, 3));
    for (const Program* program : {&lowered.program, &cast}) {
        ASSERT_EQ(program->external_buffers.size(), 4U);
        EXPECT_EQ(program->external_buffers[2].name, "sums");
        EXPECT_EQ(program->external_buffers[2].bytes, 256 * 512 * 4);
        EXPECT_EQ(program->external_buffers[3].bytes, 256 * 512 * 2);
        EXPECT_EQ(program->external_buffers[3].address, lowered.matrices.c);
    }
}

TEST(FusedCast, WholeCallsOfTheCastFindRoomBehindTheProduct) {
    FusedCastMapping map = mapping();
    map.cast.columns = 7;  // 64 calls on 7 cores: 10 each
    const LoweredFusedCast lowered = lower(problem(), map, xdna2().npu);
    EXPECT_EQ(lowered.program.external_buffers[2].bytes, 70 * 2048 * 4);
    EXPECT_EQ(lowered.program.external_buffers[3].bytes, 70 * 2048 * 2);
}

TEST(FusedCast, BothLaunchesWriteTheirConfigurationInFrontOfEverything) {
    const LoweredFusedCast lowered = lower(problem(), mapping(), xdna2().npu);
    const auto writes_of = [](Program program) {
        program.sequence.erase(program.sequence.begin());
        program.then.clear();
        return arch::npu::control::configuration_writes(
            arch::npu::check::prepare(std::move(program), xdna2().npu).program(), xdna2().npu);
    };
    EXPECT_THAT(lowered.writes,
                ElementsAre(writes_of(lowered.program), writes_of(lowered.program.then.front())));
    EXPECT_GT(lowered.writes[0], 32 * 30);  // cores, each with its locks
    EXPECT_GT(lowered.writes[1], 8 * 30);
    for (const Program* program : {&lowered.program, &lowered.program.then.front()}) {
        EXPECT_TRUE(program->sets_itself_up);
        ASSERT_TRUE(std::holds_alternative<WriteRegisters>(program->sequence.front()));
    }
    EXPECT_EQ(std::get<WriteRegisters>(lowered.program.sequence.front()).writes, lowered.writes[0]);
}

TEST(FusedCast, WhatTheFirmwareLoadsIsNotWritten) {
    FusedCastMapping map = mapping();
    map.set_up = SetUp::Loaded;
    const LoweredFusedCast lowered = lower(problem(), map, xdna2().npu);
    for (const Program* program : {&lowered.program, &lowered.program.then.front()}) {
        EXPECT_FALSE(program->sets_itself_up);
        EXPECT_FALSE(std::holds_alternative<WriteRegisters>(program->sequence.front()));
    }
}

TEST(FusedCast, TheBoundsOfBothLaunchesAddUp) {
    const Machine& m = xdna2();
    const MemoryPath path{m.memory, m.fabric};
    const GemmBounds both = bounds_of(problem(), mapping(), m.npu, path);
    const GemmBounds product =
        output_stationary::bounds_of(product_of(problem()), mapping().product, m.npu, path);
    const FusedCastMapping map = mapping();
    const GemmBounds cast = elementwise::bounds_of(
        elementwise::as_called(cast_of(problem(), map, m.npu), map.cast), map.cast, m.npu, path);
    EXPECT_DOUBLE_EQ(both.compute_ns, product.compute_ns + cast.compute_ns);
    EXPECT_DOUBLE_EQ(both.stream_ns, product.stream_ns + cast.stream_ns);
    EXPECT_DOUBLE_EQ(both.memory_ns, product.memory_ns + cast.memory_ns);
    EXPECT_DOUBLE_EQ(both.dram_bytes, product.dram_bytes + cast.dram_bytes);
    EXPECT_GT(cast.memory_ns, 0);
}

TEST(FusedCast, SaysWhichLaunchCannotBe) {
    const auto problems = [](const FusedCastMapping& map, const GemmProblem& gemm = problem()) {
        return problems_of(gemm, map, xdna2().npu);
    };
    EXPECT_TRUE(problems(mapping()).empty());
    GemmProblem sums = problem();
    sums.c = DataType::F32;
    EXPECT_THAT(problems(mapping(), sums), ElementsAre(HasSubstr("a C of bf16, not of f32")));
    FusedCastMapping map = mapping();
    map.product.sums_apart = true;
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("sums has to be in_c")));
    map = mapping();
    map.product.m_ct = 15;
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("output_stationary: tile 15 x 32 x 32")));
    map = mapping();
    map.cast.elements_per_call = 40000;
    EXPECT_THAT(problems(map), testing::Contains(HasSubstr("elementwise: a core's descriptor")));
}

}  // namespace
}  // namespace tilesim::workloads::npu::fused_cast
