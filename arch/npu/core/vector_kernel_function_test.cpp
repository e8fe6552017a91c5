#include "arch/npu/core/vector_kernel_function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

namespace tilesim::arch::npu::core {
namespace {

using program::VectorOperation;

std::vector<std::byte> bytes_of(const std::vector<float>& values, DataType type) {
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bits_of(type)) / 8);
    store_floats(values, type, bytes);
    return bytes;
}

std::vector<std::byte> raw(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

program::Kernel kernel(program::KernelKind kind, std::int64_t m, std::int64_t elements) {
    program::Kernel result;
    result.kind = kind;
    result.m = m;
    result.k = result.n = elements;
    result.a = result.b = result.c = DataType::F32;
    return result;
}

TEST(VectorKernelFunction, AMatrixTimesAVectorIsAddedToWhatIsThere) {
    const auto a = bytes_of({1, 2, 3, 4, 5, 6}, DataType::F32);
    const auto x = bytes_of({7, 11, 13}, DataType::F32);
    auto y = bytes_of({1000, 2000}, DataType::F32);
    multiply_vector(kernel(program::KernelKind::Matvec, 2, 3), a, x, y);
    EXPECT_EQ(as_floats(y, DataType::F32, 2),
              (std::vector<float>{1000 + 7 + 22 + 39, 2000 + 28 + 55 + 78}));
}

TEST(VectorKernelFunction, IntegersAreAddedModuloTheirWidth) {
    program::Kernel matvec = kernel(program::KernelKind::Matvec, 1, 2);
    matvec.a = matvec.b = matvec.c = DataType::Int8;
    auto y = raw({1});
    multiply_vector(matvec, raw({100, -3}), raw({2, 7}), y);
    EXPECT_EQ(std::to_integer<std::int8_t>(y[0]), static_cast<std::int8_t>(1 + 200 - 21));
}

TEST(VectorKernelFunction, FourBitWeightsLieTwoInAByteAndTheirFactorsBehindThem) {
    program::Kernel matvec = kernel(program::KernelKind::Matvec, 2, 4);
    matvec.a = DataType::Int4;
    matvec.scale_block = 2;
    EXPECT_EQ(program::row_bytes(matvec, 4), 2 + 2 * 2);
    auto a = raw({0x21, 0xF8});  // 1, 2, -8, -1
    for (const std::byte each : bytes_of({0.5F, 3}, DataType::Bf16)) {
        a.push_back(each);
    }
    EXPECT_EQ(dequantised_row(matvec, a, 4), (std::vector<float>{0.5F, 1, -24, -3}));
    a.insert(a.end(), a.begin(), a.end());
    a.resize(12);
    auto y = bytes_of({0, 0}, DataType::F32);
    multiply_vector(matvec, a, bytes_of({2, 3, 5, 7}, DataType::F32), y);
    EXPECT_EQ(as_floats(y, DataType::F32, 1).front(), 1 + 3 - 120 - 21);
}

std::vector<float> worked(VectorOperation operation, std::int64_t rows, const std::vector<float>& a,
                          const std::vector<float>& b) {
    program::Kernel each =
        kernel(program::KernelKind::Vector, rows, static_cast<std::int64_t>(a.size()) / rows);
    each.operation = operation;
    auto c = bytes_of(a, DataType::F32);
    work_on_vectors(each, bytes_of(a, DataType::F32), bytes_of(b, DataType::F32), c);
    return as_floats(c, DataType::F32, static_cast<std::int64_t>(a.size()));
}

TEST(VectorKernelFunction, ElementsAreAddedAndMultiplied) {
    EXPECT_EQ(worked(VectorOperation::Add, 2, {1, 2, 3, 4}, {10, 20, 30, 40}),
              (std::vector<float>{11, 22, 33, 44}));
    EXPECT_EQ(worked(VectorOperation::Multiply, 1, {1, 2, 3, 4}, {5, 7, 11, 13}),
              (std::vector<float>{5, 14, 33, 52}));
}

TEST(VectorKernelFunction, SiluIsAnElementTimesItsSigmoid) {
    EXPECT_FLOAT_EQ(worked(VectorOperation::Silu, 1, {2}, {})[0], 2 / (1 + std::exp(-2.0F)));
}

TEST(VectorKernelFunction, ARowIsNormalisedByTheRootOfItsMeanSquare) {
    // Mean squares of (3, 4) and (6, 8): 12.5 and 50.
    const auto rows = worked(VectorOperation::RmsNorm, 2, {3, 4, 6, 8}, {1, 10});
    EXPECT_NEAR(rows[0], 3 / std::sqrt(12.5), 1e-5);
    EXPECT_NEAR(rows[1], 40 / std::sqrt(12.5), 1e-4);
    EXPECT_NEAR(rows[2], 6 / std::sqrt(50.0), 1e-5);
}

TEST(VectorKernelFunction, ActivationsAreThoseOfTheirDefinitions) {
    EXPECT_EQ(worked(VectorOperation::Copy, 1, {-2, 3}, {}), (std::vector<float>{-2, 3}));
    EXPECT_EQ(worked(VectorOperation::Relu, 1, {-2, 3}, {}), (std::vector<float>{0, 3}));
    EXPECT_NEAR(worked(VectorOperation::Sigmoid, 1, {2}, {})[0], 1 / (1 + std::exp(-2.0)), 1e-6);
    EXPECT_NEAR(worked(VectorOperation::Tanh, 1, {-0.5F}, {})[0], std::tanh(-0.5), 1e-6);
    // 1 and its cube: 0.5 (1 + tanh(0.7979 x 1.0447)) = 0.8412.
    EXPECT_NEAR(worked(VectorOperation::Gelu, 1, {1}, {})[0], 0.8412, 1e-4);
    EXPECT_NEAR(worked(VectorOperation::Gelu, 1, {-2}, {})[0], -0.0454, 1e-4);
}

TEST(VectorKernelFunction, ALayerIsNormalisedToNoMeanAndADeviationOfOne) {
    // Mean 5, deviations -4, 0 and 4: their mean square is 32 / 3.
    const auto row = worked(VectorOperation::LayerNorm, 1, {1, 5, 9}, {});
    EXPECT_NEAR(row[0], -4 / std::sqrt(32.0 / 3), 1e-5);
    EXPECT_EQ(row[1], 0);
    EXPECT_NEAR(row[2], 4 / std::sqrt(32.0 / 3), 1e-5);
}

TEST(VectorKernelFunction, ARowIsNormalisedWithoutWeightsToo) {
    EXPECT_NEAR(worked(VectorOperation::UnweightedRmsNorm, 1, {3, 4}, {})[1], 4 / std::sqrt(12.5),
                1e-5);
}

TEST(VectorKernelFunction, SoftmaxOfARowAddsUpToOne) {
    const auto row = worked(VectorOperation::Softmax, 1, {1, 2, 4}, {});
    const float sum = std::exp(1.0F) + std::exp(2.0F) + std::exp(4.0F);
    EXPECT_NEAR(row[0], std::exp(1.0F) / sum, 1e-6);
    EXPECT_NEAR(row[2], std::exp(4.0F) / sum, 1e-6);
}

TEST(VectorKernelFunction, RopeTurnsPairs) {
    EXPECT_EQ(worked(VectorOperation::Rope, 1, {3, 5}, {0, 1}), (std::vector<float>{-5, 3}));
}

// Through f32, 2^24 + 1 and its neighbours would be one.
TEST(VectorKernelFunction, IntegersOfIntegersAreExactModuloTheirWidth) {
    const auto worked = [](VectorOperation operation, DataType a, DataType c,
                           const std::vector<std::int32_t>& x, const std::vector<std::int32_t>& y) {
        const auto stored = [](const std::vector<std::int32_t>& values, DataType type) {
            std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bits_of(type)) /
                                         8);
            for (std::size_t i = 0; i < values.size(); ++i) {  // the lowest bytes are the first
                const std::size_t size = bytes.size() / values.size();
                std::memcpy(bytes.data() + i * size, &values[i], size);
            }
            return bytes;
        };
        program::Kernel each =
            kernel(program::KernelKind::Vector, 1, static_cast<std::int64_t>(x.size()));
        each.operation = operation;
        each.a = a;
        each.b = each.c = c;
        EXPECT_TRUE(stays_integer(each));
        std::vector<std::byte> bytes(x.size() * static_cast<std::size_t>(bits_of(c)) / 8);
        work_on_vectors(each, stored(x, a), stored(y, c), bytes);
        return as_integers(bytes, c, each.n);
    };
    using Values = std::vector<std::int64_t>;
    constexpr auto kInt8 = DataType::Int8;
    constexpr auto kInt32 = DataType::Int32;
    constexpr std::int32_t kBig = (1 << 24) + 1;
    EXPECT_EQ(worked(VectorOperation::Copy, kInt32, kInt32, {kBig}, {}), (Values{kBig}));
    EXPECT_EQ(worked(VectorOperation::Relu, kInt32, kInt32, {-kBig, kBig}, {}), (Values{0, kBig}));
    EXPECT_EQ(worked(VectorOperation::Add, kInt32, kInt32, {kBig}, {2}), (Values{kBig + 2}));
    EXPECT_EQ(worked(VectorOperation::Add, kInt8, kInt8, {100, 100}, {27, 28}),
              (Values{127, -128}));
    EXPECT_EQ(worked(VectorOperation::Multiply, kInt32, kInt32, {kBig, 1 << 30}, {3, 5}),
              (Values{3LL * kBig, 1 << 30}));  // 5 x 2^30 less 2^32
    EXPECT_EQ(worked(VectorOperation::Cast, kInt32, kInt8, {0x1234FF}, {}), (Values{-1}));
    EXPECT_EQ(worked(VectorOperation::Rope, kInt32, kInt32, {3, kBig}, {5, 2}),
              (Values{15 - 2LL * kBig, 6 + 5LL * kBig}));
    program::Kernel softmax = kernel(program::KernelKind::Vector, 1, 2);
    softmax.operation = VectorOperation::Softmax;
    softmax.a = softmax.b = softmax.c = kInt8;
    EXPECT_FALSE(stays_integer(softmax));
}

TEST(VectorKernelFunction, ACastRoundsToTheOtherType) {
    program::Kernel cast = kernel(program::KernelKind::Vector, 1, 2);
    cast.operation = VectorOperation::Cast;
    cast.c = DataType::Bf16;
    std::vector<std::byte> c(4);
    work_on_vectors(cast, bytes_of({1.0F, 1.00390625F}, DataType::F32), {}, c);
    // 1 + 2^-8 lies between 1 and 1 + 2^-7: the even one.
    EXPECT_EQ(as_floats(c, DataType::Bf16, 2), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace tilesim::arch::npu::core
