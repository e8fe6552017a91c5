#include "workloads/npu/output_stationary/gemm_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tilesim::workloads::npu::output_stationary {
namespace {

constexpr std::int64_t kAddressOfB = 1 << 26;
constexpr std::int64_t kAddressOfC = 1 << 27;

// Matrices without padding; A is nothing but zeros where nobody fills it, and so is C.
LoweredGemm places_of(const GemmProblem& gemm) {
    LoweredGemm lowered;
    lowered.m = gemm.m;
    lowered.k = gemm.k;
    lowered.n = gemm.n;
    lowered.program.external_buffers.resize(3);
    lowered.program.external_buffers[1].address = kAddressOfB;
    lowered.program.external_buffers[2].address = kAddressOfC;
    return lowered;
}

ProductCheck check_of(const GemmProblem& gemm, const arch::memory::port::BackingStore& store) {
    OutputStationaryMapping map;
    map.k_ct = 32;
    return check_product(gemm, places_of(gemm), map, 1, store);
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
    const LoweredGemm lowered = places_of(gemm);
    fill_operands(gemm, lowered, 7, store);
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

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
