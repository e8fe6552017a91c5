#include "arch/npu/core/core_operands.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using testing::kTile;

struct Bench {
    std::span<std::int32_t> values(std::int64_t buffer) {
        const std::span<std::byte> bytes = memory.buffer(buffer);
        return {reinterpret_cast<std::int32_t*>(bytes.data()), bytes.size() / 4};
    }
    program::Kernel kernel(program::KernelKind kind) const {
        program::Kernel result;
        result.kind = kind;
        result.m = 1;
        result.n = 2;
        result.c = DataType::Int32;
        result.value = 100;
        return result;
    }
    NpuConfig config = testing::core_config();
    program::CoreProgram core{kTile, {{"a", {3, 1, 2}}, {"b", {0}}}, {}};
    program::Program program = testing::with_buffers(
        {{"w", kTile, 0, 8}, {"x", kTile, 64, 8}, {"y", kTile, 128, 8}, {"z", kTile, 192, 8}});
    tile::TileMemory memory{config, program};
    KernelTiming timing{config.kernels};
    CoreOperands operands{core, timing, &memory};
};

TEST(CoreOperands, ARotationTakesItsBuffersInTurn) {
    Bench b;
    EXPECT_EQ(b.operands.buffer(0), 3);
    b.operands.advance({0});
    EXPECT_EQ(b.operands.buffer(0), 1);
    EXPECT_EQ(b.operands.buffer(1), 0);
    b.operands.advance({0, 1});
    EXPECT_EQ(b.operands.buffer(0), 2);
    EXPECT_EQ(b.operands.buffer(1), 0);
    b.operands.advance({0});
    EXPECT_EQ(b.operands.buffer(0), 3);
}

TEST(CoreOperands, ARotationTakesTheEqualPartsOfABufferOneAfterTheOther) {
    Bench b;
    b.core.rotations[0].parts = 2;
    EXPECT_EQ(b.operands.bytes(0).size(), 4U);
    EXPECT_EQ(b.operands.bytes(0).data(), b.memory.buffer(3).data());
    b.operands.advance({0});
    EXPECT_EQ(b.operands.buffer(0), 3);
    EXPECT_EQ(b.operands.bytes(0).data(), b.memory.buffer(3).data() + 4);
    b.operands.advance({0});
    EXPECT_EQ(b.operands.bytes(0).data(), b.memory.buffer(1).data());
}

// Buffer z has two words; steps of one word, then back.
TEST(CoreOperands, AWalkGoesThroughItsBufferByItsDimensions) {
    Bench b;
    b.core.rotations[1] = {.name = "walk", .buffers = {3}, .length = 1, .dimensions = {{2, 1}}};
    const std::byte* first = b.memory.buffer(3).data();
    EXPECT_EQ(b.operands.bytes(1).size(), 4U);
    EXPECT_EQ(b.operands.bytes(1).data(), first);
    b.operands.leave({.operand = 1});
    EXPECT_EQ(b.operands.bytes(1).data(), first);
    b.operands.leave({.operand = 1, .advance = true});
    EXPECT_EQ(b.operands.bytes(1).data(), first + 4);
    b.operands.leave({.operand = 1, .advance = true});
    EXPECT_EQ(b.operands.bytes(1).data(), first);
    EXPECT_EQ(b.operands.buffer(1), 3);
}

TEST(CoreOperands, AWalksOuterDimensionStepsWhenTheInnerOneBeginsAgain) {
    const program::Rotation walk{
        .name = "w", .buffers = {0}, .length = 1, .offset = 5, .dimensions = {{3, 2}, {2, 11}}};
    std::vector<std::int64_t> places;
    for (std::int64_t turn = 0; turn < 7; ++turn) {
        places.push_back(program::place_of_turn(walk, turn));
    }
    EXPECT_EQ(places, (std::vector<std::int64_t>{5, 7, 9, 16, 18, 20, 5}));
}

TEST(CoreOperands, WordsComeFromTheirBufferARegisterOrAreKnown) {
    Bench b;
    const auto word = [](std::span<const std::byte> bytes) {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    };
    b.values(0)[0] = 31;
    EXPECT_EQ(word(b.operands.words_to_put({.operand = 1}, 4)), 31U);
    EXPECT_EQ(word(b.operands.words_to_put({.value = 0xFFFFFFFE}, 4)), 0xFFFFFFFEU);
    EXPECT_EQ(word(b.operands.words_to_put({}, 4)), 0U);
    const std::uint32_t got = 37;
    b.operands.keep({.in_register = 2}, std::as_bytes(std::span(&got, 1)));
    EXPECT_EQ(word(b.operands.words_to_put({.in_register = 2}, 4)), 37U);
    EXPECT_EQ(word(b.operands.words_to_put({.in_register = 3}, 4)), 0U);
    EXPECT_EQ(b.operands.words_to_put({.operand = 1}, 100).size(), 8U);  // no more than it holds
}

TEST(CoreOperands, WhatIsGotIsInItsBufferAndInItsRegister) {
    Bench b;
    const std::vector<std::uint32_t> got{41, 43};
    b.operands.keep({.operand = 1, .in_register = 0}, std::as_bytes(std::span(got)));
    EXPECT_EQ(b.values(0)[0], 41);
    EXPECT_EQ(b.values(0)[1], 43);
    EXPECT_EQ(std::memcmp(b.operands.words_to_put({.in_register = 0}, 8).data(), got.data(), 8), 0);
}

TEST(CoreOperands, KernelsWorkOnTheBuffersTheirRotationsStandAt) {
    Bench b;
    b.values(3)[0] = 5;
    b.values(0)[0] = 70;
    b.values(1)[0] = 900;
    b.operands.compute(b.kernel(program::KernelKind::Add), {0, 1, 0});
    EXPECT_EQ(b.values(3)[0], 75);
    b.operands.advance({0});
    b.operands.compute(b.kernel(program::KernelKind::AddValue), {1, 0});
    EXPECT_EQ(b.values(1)[0], 170);
    b.operands.compute(b.kernel(program::KernelKind::Zero), {1});
    EXPECT_EQ(b.values(0)[0], 0);
    EXPECT_EQ(b.values(3)[0], 75);
}

TEST(CoreOperands, AMatrixTimesAVectorGoesToItsThirdOperand) {
    Bench b;
    b.core.rotations.push_back({"c", {1}});
    b.values(3)[0] = 5;
    b.values(3)[1] = 7;
    b.values(0)[0] = 11;
    b.values(0)[1] = 13;
    program::Kernel kernel = b.kernel(program::KernelKind::Matvec);
    kernel.k = 2;
    kernel.a = kernel.b = DataType::Int32;
    b.operands.compute(kernel, {0, 1, 2});
    EXPECT_EQ(b.values(1)[0], 5 * 11 + 7 * 13);
}

TEST(CoreOperands, AVectorKernelGoesFromItsFirstOperandsToItsLast) {
    Bench b;
    b.core.rotations.push_back({"c", {1}});
    b.values(3)[0] = 5;
    b.values(0)[0] = 11;
    program::Kernel kernel = b.kernel(program::KernelKind::Vector);
    kernel.a = kernel.b = DataType::Int32;
    kernel.operation = program::VectorOperation::Add;
    b.operands.compute(kernel, {0, 1, 2});
    EXPECT_EQ(b.values(1)[0], 5 + 11);
    kernel.operation = program::VectorOperation::Cast;
    b.operands.compute(kernel, {0, 2});
    EXPECT_EQ(b.values(1)[0], 5);
}

TEST(CoreOperands, AKernelOfStatedCostMovesNoData) {
    Bench b;
    b.values(3)[0] = 5;
    b.operands.compute(b.kernel(program::KernelKind::Fixed), {0});
    b.operands.compute(b.kernel(program::KernelKind::Inline), {0});
    EXPECT_EQ(b.values(3)[0], 5);
}

TEST(CoreOperands, WithoutMemoryOnlyTheirTimeCounts) {
    Bench b;
    EXPECT_TRUE(b.operands.functional());
    EXPECT_FALSE(CoreOperands(b.core, b.timing, nullptr).functional());
}

}  // namespace
}  // namespace tilesim::arch::npu::core
