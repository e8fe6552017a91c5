#include "workloads/npu/gemm_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "arch/base/data_type.hpp"

namespace tilesim::workloads::npu {
namespace {

constexpr std::int64_t kAddressOfB = 1 << 26;
constexpr std::int64_t kAddressOfC = 1 << 27;

// Matrices without padding; A is nothing but zeros where nobody fills it, and so is C.
GemmMatrices places_of(const GemmProblem& gemm) {
    return {0, kAddressOfB, kAddressOfC, gemm.m, gemm.k, gemm.n};
}

ProductCheck check_of(const GemmProblem& gemm, const arch::memory::port::BackingStore& store) {
    return check_product(gemm, places_of(gemm), {32}, 1, store);
}

void set_byte_of_c(const GemmProblem& gemm, std::int64_t row, std::int64_t column,
                   std::uint8_t value, arch::memory::port::BackingStore& store) {
    const std::array<std::byte, 1> byte{std::byte{value}};
    store.write(kAddressOfC + (row * gemm.n + column) * bytes_of(gemm.c), byte);
}

TEST(CheckProduct, NamesTheFirstWrongElementInOrderOfRows) {
    const GemmProblem gemm{9, 70, 45, DataType::Int8, DataType::Int8, DataType::Int8, true};
    arch::memory::port::BackingStore store;
    EXPECT_TRUE(check_of(gemm, store).match);
    EXPECT_EQ(check_of(gemm, store).checked, 9 * 45);
    set_byte_of_c(gemm, 3, 1, 5, store);  // computed before column 40
    set_byte_of_c(gemm, 2, 40, 0xFF, store);
    const ProductCheck check = check_of(gemm, store);
    EXPECT_FALSE(check.match);
    EXPECT_EQ(check.first_mismatch, "C[2][40] is -1, expected 0");
}

// The highest bit is the hardest: every second random vector cannot see it.
TEST(CheckProduct, ProjectionsSeeOneBitOfAnElementBetweenTheSampledRows) {
    for (const bool column_major : {false, true}) {
        const GemmProblem gemm{2048,           2048,           1025,        DataType::Int8,
                               DataType::Int8, DataType::Int8, column_major};
        arch::memory::port::BackingStore store;
        EXPECT_TRUE(check_of(gemm, store).match);
        EXPECT_LT(check_of(gemm, store).checked, gemm.m * gemm.n);
        set_byte_of_c(gemm, 2047, 1024, 0x80, store);
        EXPECT_THAT(check_of(gemm, store).first_mismatch, testing::HasSubstr("projection"));
    }
}

// One element of A is 2, so that C has one row of twice a row of B.
TEST(CheckProduct, ProjectionsAgreeWithAProductThatIsRight) {
    const GemmProblem gemm{2048, 2048, 1025, DataType::Int8, DataType::Int8, DataType::Int16,
                           false};
    arch::memory::port::BackingStore store;
    fill_operands(gemm, places_of(gemm), 7, store);
    const std::vector<std::byte> zeros(static_cast<std::size_t>(gemm.m * gemm.k));
    store.write(0, zeros);
    const std::array<std::byte, 1> two{std::byte{2}};
    store.write(5 * gemm.k + 9, two);
    EXPECT_FALSE(check_of(gemm, store).match);
    for (std::int64_t j = 0; j < gemm.n; ++j) {
        std::array<std::byte, 1> b{};
        store.read(kAddressOfB + 9 * gemm.n + j, b);
        const int twice = 2 * static_cast<std::int8_t>(b[0]);
        set_byte_of_c(gemm, 5, j, static_cast<std::uint8_t>(twice & 0xFF), store);
        const std::array<std::byte, 1> high{static_cast<std::byte>((twice >> 8) & 0xFF)};
        store.write(kAddressOfC + (5 * gemm.n + j) * 2 + 1, high);
    }
    EXPECT_TRUE(check_of(gemm, store).match) << check_of(gemm, store).first_mismatch;
}

// 2^24 + 1 has no f32: one after the other both are lost, summed first they are not.
TEST(CheckProduct, SlicesThatAreSummedApartAreAddedAsAWhole) {
    const GemmProblem gemm{1, 4, 1, DataType::Bf16, DataType::Bf16, DataType::F32, true};
    arch::memory::port::BackingStore store;
    const auto put = [&](std::int64_t address, const auto& values) {
        store.write(address, std::as_bytes(std::span{values}));
    };
    using arch::base::to_bf16;
    put(0, std::array{to_bf16(16777216), to_bf16(0), to_bf16(1), to_bf16(1)});
    put(kAddressOfB, std::array{to_bf16(1), to_bf16(1), to_bf16(1), to_bf16(1)});
    put(kAddressOfC, std::array{16777216.0F});
    EXPECT_TRUE(check_product(gemm, places_of(gemm), {2, false}, 1, store).match);
    EXPECT_FALSE(check_product(gemm, places_of(gemm), {2, true}, 1, store).match);
    put(kAddressOfC, std::array{16777218.0F});
    EXPECT_TRUE(check_product(gemm, places_of(gemm), {2, true}, 1, store).match);
}

TEST(CheckProduct, CMayLieColumnByColumn) {
    const GemmProblem gemm{3, 32, 5, DataType::Int8, DataType::Int8, DataType::Int8, true};
    GemmMatrices matrices = places_of(gemm);
    matrices.c_column_major = true;
    arch::memory::port::BackingStore store;
    const std::array<std::byte, 1> five{std::byte{5}};
    store.write(kAddressOfC + 4 * gemm.m + 2, five);
    EXPECT_EQ(check_product(gemm, matrices, {32}, 1, store).first_mismatch,
              "C[2][4] is 5, expected 0");
}

}  // namespace
}  // namespace tilesim::workloads::npu
