#include "arch/npu/core/kernel_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <tuple>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/npu/core/tile_product.hpp"

namespace tilesim::arch::npu::core {
namespace {

using Size = std::size_t;

// Products of any mmul shape, odd ones included, against one sum an element.
template <class In, class Out, class Sum>
void expect_product(const program::Kernel& kernel, const MultiplyMode& mode) {
    const auto size = [](std::int64_t x) { return static_cast<Size>(x); };
    const Size m = size(kernel.m), k = size(kernel.k), n = size(kernel.n);
    const Size r = size(mode.r), s = size(mode.s), t = size(mode.t);
    std::uint64_t state = 3;
    const auto fill = [&state](auto& values) {
        for (auto& value : values) {
            const std::uint64_t bits = base::next_splitmix64(state);
            using Value = std::remove_reference_t<decltype(value)>;
            const float small = static_cast<float>(bits & 0xFFFU) / 1024.0F - 2.0F;
            if constexpr (std::is_same_v<Value, float>) {
                value = small;
            } else if constexpr (std::is_same_v<Value, std::uint16_t>) {
                value = to_bf16(small);
            } else {
                value = static_cast<Value>(bits % 5 == 0 ? std::uint64_t{1} << 15U : bits);
            }
        }
    };
    const auto widen = [](auto value) -> Sum {
        if constexpr (std::is_same_v<decltype(value), std::uint16_t>) {
            return from_bf16(value);
        } else {
            return static_cast<Sum>(value);
        }
    };
    std::vector<In> a(m * k), b(k * n);
    std::vector<Out> c(m * n);
    fill(a);
    fill(b);
    fill(c);
    std::vector<Out> expected = c;
    for (Size i = 0; i < m; ++i) {
        for (Size j = 0; j < n; ++j) {
            Out& out = expected[(i / r * (n / t) + j / t) * r * t + i % r * t + j % t];
            Sum sum = widen(out);
            for (Size e = 0; e < k; ++e) {
                const Size in_a = (i / r * (k / s) + e / s) * r * s + i % r * s + e % s;
                const Size in_b = kernel.b_column_major
                                      ? (j / t * (k / s) + e / s) * s * t + j % t * s + e % s
                                      : (e / s * (n / t) + j / t) * s * t + e % s * t + j % t;
                sum += widen(a[in_a]) * widen(b[in_b]);
            }
            if constexpr (std::is_same_v<Out, std::uint16_t>) {
                out = to_bf16(sum);
            } else {
                out = static_cast<Out>(sum);
            }
        }
    }
    multiply(kernel, mode, std::as_bytes(std::span{a}), std::as_bytes(std::span{b}),
             std::as_writable_bytes(std::span{c}));
    EXPECT_EQ(c, expected);
}

struct MmulShape {
    std::int64_t r, s, t;
};
class Multiply : public testing::TestWithParam<std::tuple<MmulShape, bool>> {
  protected:
    template <class In, class Out, class Sum>
    void expect(DataType in, DataType out) {
        const auto& [shape, column_major] = GetParam();
        for (const std::int64_t blocks : {1, 3, 5}) {  // no pair of tiles, one, one and a tile
            program::Kernel kernel;
            kernel.m = blocks * shape.r;
            kernel.k = (blocks + 2) * shape.s;
            kernel.n = (blocks + 1) * shape.t;
            kernel.a = kernel.b = in;
            kernel.c = out;
            kernel.b_column_major = column_major;
            MultiplyMode mode;
            mode.r = shape.r;
            mode.s = shape.s;
            mode.t = shape.t;
            expect_product<In, Out, Sum>(kernel, mode);
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Shapes, Multiply,
                         testing::Combine(testing::Values(MmulShape{8, 8, 8}, MmulShape{4, 8, 4},
                                                          MmulShape{4, 4, 8}, MmulShape{3, 5, 7},
                                                          MmulShape{1, 1, 1}, MmulShape{5, 12, 40},
                                                          MmulShape{2, 2, 20}),
                                          testing::Bool()));

TEST_P(Multiply, Int8) {
    expect<std::int8_t, std::int8_t, std::uint32_t>(DataType::Int8, DataType::Int8);
    expect<std::int8_t, std::int16_t, std::uint32_t>(DataType::Int8, DataType::Int16);
    expect<std::int8_t, std::int32_t, std::uint32_t>(DataType::Int8, DataType::Int32);
}
TEST_P(Multiply, Int16WrapsModulo32Bits) {
    expect<std::int16_t, std::int32_t, std::uint32_t>(DataType::Int16, DataType::Int32);
}
TEST_P(Multiply, Bf16AddsInOrderOfK) {
    expect<std::uint16_t, std::uint16_t, float>(DataType::Bf16, DataType::Bf16);
    expect<std::uint16_t, float, float>(DataType::Bf16, DataType::F32);
}

// Both kinds of code on one tile, whose groups lie apart.
template <class Packed, class Out>
void expect_same_bits(const std::vector<Packed>& a, const std::vector<Packed>& b, Out c) {
    constexpr Size kGroups = kTileColumns / kTileGroup;
    const Size k = a.size() / kTileRows;
    const auto product = [&](auto add) {
        std::vector<Out> memory(2 * kTileRows * kTileColumns, c);
        TileOfC<Out> tile;
        for (Size i = 0; i < kTileRows * kGroups; ++i) {
            tile[i / kGroups][i % kGroups] = &memory[2 * i * kTileGroup];
        }
        add(a.data(), k, b.data(), k, tile);
        return memory;
    };
    EXPECT_EQ(product(add_product<Packed, Out>), product(add_product_plainly<Packed, Out>));
}

TEST(TileProduct, PlainAndVectorCodeGiveTheSameBits) {
    constexpr Size kDeep = 6;
    std::vector<std::int16_t> a(kTileRows * kDeep, INT16_MIN);  // every pair of products is 2^31
    std::vector<std::int16_t> b(kTileColumns * kDeep, INT16_MIN);
    std::vector<float> x(a.size());
    std::vector<float> y(b.size());
    std::uint64_t state = 1;
    for (float& value : x) {
        value = 1.0F / static_cast<float>(1 + base::next_splitmix64(state) % 1000);
    }
    for (Size i = 0; i < y.size(); ++i) {
        y[i] = 1.0F / static_cast<float>(1 + base::next_splitmix64(state) % 1000);
        b[i] = static_cast<std::int16_t>(i % 2 == 0 ? b[i] : base::next_splitmix64(state));
    }
    expect_same_bits<std::int16_t, std::int16_t>(a, b, INT16_MAX);
    expect_same_bits<std::int16_t, std::int32_t>(a, b, INT32_MAX);
    expect_same_bits<float, std::uint16_t>(x, y, to_bf16(0.1F));
    expect_same_bits<float, float>(x, y, 0.1F);
}

TEST(TileProduct, TwoTilesSideBySideAreWhatEachIsAlone) {
    constexpr Size kDeep = 20;
    constexpr Size kPanel = kTileColumns * kDeep;
    std::uint64_t state = 1;
    std::vector<std::int8_t> a(kTileRows * kDeep);
    std::vector<std::int8_t> b(2 * kPanel + kTileColumns);  // the panels lie apart
    std::array<std::int8_t, 2 * kTileRows * kTileColumns> begin{};
    const auto fill = [&state](auto& bytes) {
        for (std::int8_t& byte : bytes) {
            byte = static_cast<std::int8_t>(base::next_splitmix64(state));
        }
    };
    fill(a);
    fill(b);
    fill(begin);
    const auto tile_of = [](std::int8_t* c) {
        TileOfC<std::int8_t> tile;
        for (Size i = 0; i < kTileRows; ++i) {
            tile[i] = {c + i * kTileColumns, c + i * kTileColumns + kTileGroup};
        }
        return tile;
    };
    auto together = begin;
    add_products(a.data(), kDeep, b.data(), kPanel + kTileColumns, kDeep, tile_of(together.data()),
                 tile_of(together.data() + together.size() / 2));
    auto alone = begin;
    add_product_plainly(a.data(), kDeep, b.data(), kDeep, tile_of(alone.data()));
    add_product_plainly(a.data(), kDeep, b.data() + kPanel + kTileColumns, kDeep,
                        tile_of(alone.data() + alone.size() / 2));
    EXPECT_EQ(together, alone);
}

// Bytes of the extremes and of chance, C included, against products of whole bytes.
TEST(TileProduct, BytesAreWholeModulo256) {
    constexpr Size kDeep = 68;  // two words of bits and a piece
    constexpr Size kWords = 3;
    std::uint64_t state = 1;
    const auto any_byte = [&state] {
        const std::uint64_t chance = base::next_splitmix64(state);
        return static_cast<std::int8_t>(chance % 4 == 0 ? 0x80 : chance >> 8);
    };
    std::array<std::array<std::int8_t, kDeep>, kTileRows> a{};
    std::array<std::array<std::int8_t, kTileColumns>, kDeep> b{};
    std::vector<std::int8_t> whole(kTileRows * kDeep);
    std::vector<std::int8_t> rows(kTileRows * kDeep);  // without their top bits
    std::vector<std::int8_t> panel(kDeep * kTileColumns);
    std::vector<std::uint32_t> top(kTileRows * kWords);
    std::vector<std::uint32_t> odd(kWords * kTileColumns);
    for (Size e = 0; e < kDeep; ++e) {
        for (Size i = 0; i < kTileRows; ++i) {
            a[i][e] = any_byte();
            whole[i * kDeep + e] = a[i][e];
            rows[i * kDeep + e] = static_cast<std::int8_t>(a[i][e] & 0x7F);
            top[i * kWords + e / kWordSteps] |= std::uint32_t{a[i][e] < 0} << e % kWordSteps;
        }
        for (Size j = 0; j < kTileColumns; ++j) {
            constexpr Size kStep = kDepth<std::int8_t>;
            b[e][j] = any_byte();
            panel[e / kStep * kStep * kTileColumns + j * kStep + e % kStep] = b[e][j];
            odd[e / kWordSteps * kTileColumns + j] |= std::uint32_t{b[e][j] % 2 != 0}
                                                      << e % kWordSteps;
        }
    }
    const ByteOperands operands{rows.data(), kDeep,      panel.data(), kDeep,
                                top.data(),  odd.data(), kWords};
    std::array<std::int8_t, kTileRows * kTileColumns> begin{};
    std::generate(begin.begin(), begin.end(), any_byte);
    auto expected = begin;
    for (Size at = 0; at < expected.size(); ++at) {
        std::int32_t sum = begin[at];
        for (Size e = 0; e < kDeep; ++e) {
            sum += a[at / kTileColumns][e] * b[e][at % kTileColumns];
        }
        expected[at] = static_cast<std::int8_t>(sum);
    }
    using Tile = TileOfC<std::int8_t>;
    const std::array<std::function<void(const Tile&)>, 4> products{
        [&](const Tile& tile) { add_product(operands, tile); },
        [&](const Tile& tile) { add_product_plainly(operands, tile); },
        [&](const Tile& tile) { add_product(whole.data(), kDeep, panel.data(), kDeep, tile); },
        [&](const Tile& tile) {
            add_product_plainly(whole.data(), kDeep, panel.data(), kDeep, tile);
        }};
    for (const auto& product : products) {
        auto c = begin;
        Tile tile;
        for (Size i = 0; i < kTileRows; ++i) {
            tile[i] = {&c[i * kTileColumns], &c[i * kTileColumns + kTileGroup]};
        }
        product(tile);
        EXPECT_EQ(c, expected);
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::core
