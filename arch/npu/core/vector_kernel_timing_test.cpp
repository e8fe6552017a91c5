#include "arch/npu/core/vector_kernel_timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tilesim::arch::npu::core {
namespace {

using namespace std::string_literals;

constexpr std::int64_t kFillDrain = 11 + 7;  // latencies of a load and of an instruction
// Four lanes are summed in two steps of a shuffle (2) and an addition (7).
constexpr std::int64_t kReduction = 2 * (2 + 7);
constexpr std::int64_t kReciprocal = 4 * 7;

KernelConfig sample() {
    KernelConfig config;
    config.load_width = base::BytesPerCycle{6};
    config.load_slots = 2;
    config.store_width = base::BytesPerCycle{5};
    config.vector_lanes = 4;
    config.vector_macs = 10;
    config.vector_interval = base::Cycles{3};
    config.vector_latency = base::Cycles{7};
    config.load_latency = base::Cycles{11};
    return config;
}

program::Kernel matvec(std::int64_t rows, std::int64_t k) {
    program::Kernel kernel;
    kernel.name = "matvec";
    kernel.kind = program::KernelKind::Matvec;
    kernel.m = rows;
    kernel.k = k;
    kernel.a = kernel.b = kernel.c = DataType::Bf16;
    return kernel;
}

program::Kernel vector(program::VectorOperation operation, std::int64_t rows, std::int64_t n) {
    program::Kernel kernel;
    kernel.name = "vector";
    kernel.kind = program::KernelKind::Vector;
    kernel.operation = operation;
    kernel.m = rows;
    kernel.n = n;
    kernel.a = kernel.b = kernel.c = DataType::Bf16;
    return kernel;
}

std::int64_t total(const KernelConfig& config, const program::Kernel& kernel) {
    return VectorKernelTiming(config).cycles(kernel).total().count();
}

TEST(VectorKernelTiming, ARowOfAProductTakesItsVectorsAtThePaceOfItsLoads) {
    // Ten elements of both operands are 40 B: seven loads of 6 B, four cycles in two slots.
    EXPECT_EQ(total(sample(), matvec(1, 30)), 3 * 4 + kFillDrain + kReduction);
    EXPECT_EQ(total(sample(), matvec(1, 31)), 4 * 4 + kFillDrain + kReduction);
    EXPECT_EQ(total(sample(), matvec(5, 30)), 5 * (3 * 4 + kFillDrain + kReduction));
}

TEST(VectorKernelTiming, ASumWaitsForTheOneBefore) {
    KernelConfig config = sample();
    config.load_width = base::BytesPerCycle{64};
    EXPECT_EQ(total(config, matvec(1, 30)), 3 * 3 + kFillDrain + kReduction);
    config.vector_interval = base::Cycles{5};
    EXPECT_EQ(total(config, matvec(1, 30)), 3 * 5 + kFillDrain + kReduction);
}

TEST(VectorKernelTiming, NarrowOperandsAreMultipliedMoreAtATime) {
    program::Kernel kernel = matvec(1, 40);
    kernel.a = kernel.b = DataType::Int8;  // twenty at once: 40 B, four cycles
    kernel.c = DataType::Int32;
    EXPECT_EQ(total(sample(), kernel), 2 * 4 + kFillDrain + kReduction);
}

TEST(VectorKernelTiming, QuantisedWeightsAreUnpackedConvertedAndScaled) {
    KernelConfig config = sample();
    config.vector_interval = base::Cycles{1};
    config.load_width = base::BytesPerCycle{64};
    program::Kernel kernel = matvec(1, 30);
    kernel.a = DataType::Int4;
    EXPECT_EQ(total(config, kernel), 3 * 3 + kFillDrain + kReduction);
    kernel.scale_block = 32;
    EXPECT_EQ(total(config, kernel), 3 * 4 + kFillDrain + kReduction);
    kernel.a = DataType::Int32;  // converted to the width of what they are multiplied by
    EXPECT_EQ(total(config, kernel), 3 * 4 + kFillDrain + kReduction);
}

TEST(VectorKernelTiming, ElementsTakeTheirLoadsStoresOrInstructions) {
    using enum program::VectorOperation;
    // Four lanes: 8 B an operand. Loads of 16 B: three in two slots; stores: two of 5 B.
    EXPECT_EQ(total(sample(), vector(Add, 1, 12)), 3 * 2 + kFillDrain);
    EXPECT_EQ(total(sample(), vector(Multiply, 2, 6)), 3 * 2 + kFillDrain);  // in one loop
    KernelConfig config = sample();
    config.store_width = base::BytesPerCycle{2};
    EXPECT_EQ(total(config, vector(Cast, 1, 12)), 3 * 4 + kFillDrain);
    config.store_width = base::BytesPerCycle{64};
    EXPECT_EQ(total(config, vector(Cast, 1, 12)), 3 * 1 + kFillDrain);  // one operand: two loads
    EXPECT_EQ(total(config, vector(Silu, 1, 12)), 3 * 6 + kFillDrain);
    EXPECT_EQ(total(config, vector(Copy, 1, 12)), 3 * 1 + kFillDrain);
    EXPECT_EQ(total(config, vector(Relu, 1, 12)), 3 * 1 + kFillDrain);
    EXPECT_EQ(total(config, vector(Sigmoid, 1, 12)), 3 * 5 + kFillDrain);
    EXPECT_EQ(total(config, vector(Tanh, 1, 12)), 3 * 6 + kFillDrain);
    EXPECT_EQ(total(config, vector(Gelu, 1, 12)), 3 * 9 + kFillDrain);
    EXPECT_EQ(total(config, vector(Rope, 1, 12)), 3 * 4 + kFillDrain);
    EXPECT_EQ(total(config, vector(Dequantise, 1, 12)), 3 * 3 + kFillDrain);
}

TEST(VectorKernelTiming, TwoOperandsAreLoadedForOneResult) {
    using enum program::VectorOperation;
    KernelConfig config = sample();
    config.store_width = base::BytesPerCycle{64};
    config.load_width = base::BytesPerCycle{3};  // 8 B an operand, three loads; 16 B six
    EXPECT_EQ(total(config, vector(Copy, 1, 12)), 3 * 2 + kFillDrain);
    EXPECT_EQ(total(config, vector(Add, 1, 12)), 3 * 3 + kFillDrain);
}

TEST(VectorKernelTiming, IterationsThatDoNotOverlapTakeALoadAnInstructionAndAStoreEach) {
    program::Kernel cast = vector(program::VectorOperation::Cast, 2, 24);
    cast.iteration_lanes = 24;
    EXPECT_EQ(total(sample(), cast), 2 * (11 + 7 + 1));
    cast.n = 25;  // in one loop
    EXPECT_EQ(total(sample(), cast), 3 * (11 + 7 + 1));
    KernelConfig config = sample();
    config.vector_lanes *= 2;  // its own are stated
    config.load_slots = 1;
    EXPECT_EQ(total(config, cast), 3 * (11 + 7 + 1));
    cast.by_element = true;  // five moves each, of which the last one begins the latency
    EXPECT_EQ(total(sample(), cast), 3 * (11 + 24 * 5 - 1 + 7 + 1));
}

TEST(VectorKernelTiming, OnlyCastsHaveIterationsThatDoNotOverlap) {
    using testing::HasSubstr;
    const KernelConfig config = sample();
    const VectorKernelTiming timing(config);
    program::Kernel kernel = vector(program::VectorOperation::Cast, 2, 24);
    kernel.by_element = true;
    EXPECT_THAT(timing.check(kernel), HasSubstr("only where `iteration_lanes` says"));
    kernel.iteration_lanes = 16;
    EXPECT_EQ(timing.check(kernel), "");
    kernel.operation = program::VectorOperation::Copy;
    EXPECT_THAT(timing.check(kernel), HasSubstr("only casts"));
    program::Kernel product = matvec(1, 30);
    product.iteration_lanes = 16;
    EXPECT_THAT(timing.check(product), HasSubstr("only casts"));
}

TEST(VectorKernelTiming, RowsThatAreNormalisedArePassedTwiceAndSummed) {
    // Squares wait for their sum (3); then two instructions, 16 B of loads (2), two stores.
    EXPECT_EQ(total(sample(), vector(program::VectorOperation::RmsNorm, 2, 12)),
              2 * (3 * 3 + 3 * 2 + 2 * kFillDrain + kReduction + kReciprocal));
}

TEST(VectorKernelTiming, WeightsOfANormalisationTakeAnInstructionAndTheirLoads) {
    KernelConfig config = sample();
    config.store_width = base::BytesPerCycle{64};
    // The second pass: one instruction, 8 B of loads in two slots.
    EXPECT_EQ(total(config, vector(program::VectorOperation::UnweightedRmsNorm, 2, 12)),
              2 * (3 * 3 + 3 * 1 + 2 * kFillDrain + kReduction + kReciprocal));
    config.load_width = base::BytesPerCycle{64};  // two instructions bind
    EXPECT_EQ(total(config, vector(program::VectorOperation::RmsNorm, 2, 12)),
              2 * (3 * 3 + 3 * 2 + 2 * kFillDrain + kReduction + kReciprocal));
}

TEST(VectorKernelTiming, ALayerIsNormalisedByTwoSums) {
    KernelConfig config = sample();
    config.vector_interval = base::Cycles{1};  // two instructions bind
    EXPECT_EQ(total(config, vector(program::VectorOperation::LayerNorm, 2, 12)),
              2 * (3 * 2 + 3 * 2 + 2 * kFillDrain + 2 * kReduction + kReciprocal));
    config.vector_interval = base::Cycles{5};
    EXPECT_EQ(total(config, vector(program::VectorOperation::LayerNorm, 1, 12)),
              3 * 5 + 3 * 2 + 2 * kFillDrain + 2 * kReduction + kReciprocal);
}

TEST(VectorKernelTiming, SoftmaxPassesARowThreeTimes) {
    // The greatest (interval 3), four instructions, then one with two stores.
    const std::int64_t row = 3 * 3 + 3 * 4 + 3 * 2 + 3 * kFillDrain + 2 * kReduction + kReciprocal;
    EXPECT_EQ(total(sample(), vector(program::VectorOperation::Softmax, 1, 12)), row);
    EXPECT_EQ(total(sample(), vector(program::VectorOperation::Softmax, 5, 12)), 5 * row);
    KernelConfig config = sample();
    config.vector_interval = base::Cycles{5};  // exponentials wait for their sum, too
    EXPECT_EQ(total(config, vector(program::VectorOperation::Softmax, 1, 12)),
              row + 3 * (5 - 3) + 3 * (5 - 4));
}

TEST(VectorKernelTiming, SaysWhatItCannotRun) {
    KernelConfig config = sample();
    const VectorKernelTiming timing(config);
    EXPECT_EQ(timing.check(matvec(1, 8)), "");
    EXPECT_EQ(timing.check(matvec(1, 0)), "needs its numbers of rows and elements, `m` and `k`");
    EXPECT_NE(timing.check(matvec(0, 8)), "");
    EXPECT_EQ(timing.check(vector(program::VectorOperation::Add, 1, 0)),
              "needs its numbers of rows and elements, `m` and `n`");
    EXPECT_EQ(timing.check(vector(program::VectorOperation::Add, 1, 8)), "");
    program::Kernel kernel = matvec(1, 8);
    kernel.a = DataType::Int8;
    kernel.scale_block = 32;
    EXPECT_EQ(timing.check(kernel), "");
    kernel.b = DataType::Int8;
    EXPECT_EQ(timing.check(kernel),
              "scale factors go with integer weights and a float input, not int8 and int8");
    kernel = vector(program::VectorOperation::Dequantise, 1, 64);
    kernel.scale_block = 32;
    EXPECT_EQ(timing.check(kernel), "scale factors make floats of integers, not bf16 of bf16");
    kernel.a = DataType::Int4;
    EXPECT_EQ(timing.check(kernel), "");
    kernel.c = DataType::Int8;
    EXPECT_EQ(timing.check(kernel), "scale factors make floats of integers, not int8 of int4");
    kernel = vector(program::VectorOperation::Silu, 1, 8);
    kernel.a = DataType::Int4;
    EXPECT_EQ(timing.check(kernel), "works on int8, int16, int32, bf16, f32, not on int4");
    kernel = vector(program::VectorOperation::Silu, 1, 8);
    kernel.b = DataType::F16;  // which silu does not have
    EXPECT_EQ(timing.check(kernel), "");
    for (const DataType type : {DataType::Int4, DataType::F16, DataType::Bfp16}) {
        kernel.c = type;  // stored as if it were int32 otherwise
        EXPECT_THAT(timing.check(kernel), testing::EndsWith("f32, not on "s + name_of(type)));
    }
    kernel = vector(program::VectorOperation::Add, 1, 8);
    kernel.b = DataType::F16;
    EXPECT_EQ(timing.check(kernel), "works on int8, int16, int32, bf16, f32, not on f16");
    config.vector_lanes = 0;
    EXPECT_EQ(timing.check(matvec(1, 8)), "this device's cores have no vector kernels");
}

}  // namespace
}  // namespace tilesim::arch::npu::core
