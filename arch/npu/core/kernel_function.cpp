#include "arch/npu/core/kernel_function.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "arch/base/check.hpp"
#include "arch/base/vector_clones.hpp"
#include "arch/npu/core/matrix_packing.hpp"
#include "arch/npu/core/tile_product.hpp"

namespace tilesim::arch::npu::core {

namespace {

// Sums of the type's elements; unsigned, so that they wrap.
template <class Element>
void add_elements(std::int64_t count, std::span<const std::byte> a, const std::byte* b,
                  Element value, std::span<std::byte> c) {
    for (Size i = 0; i < static_cast<Size>(count); ++i) {
        Element x{};
        Element y = value;
        std::memcpy(&x, a.data() + i * sizeof(Element), sizeof(Element));
        if (b != nullptr) {
            std::memcpy(&y, b + i * sizeof(Element), sizeof(Element));
        }
        const auto sum = static_cast<Element>(x + y);
        std::memcpy(c.data() + i * sizeof(Element), &sum, sizeof(Element));
    }
}

void add_any(const program::Kernel& kernel, std::span<const std::byte> a, const std::byte* b,
             std::span<std::byte> c) {
    const std::int64_t count = kernel.m * kernel.n;
    if (kernel.c == DataType::Int8) {
        add_elements(count, a, b, static_cast<std::uint8_t>(kernel.value), c);
    } else if (kernel.c == DataType::Int16) {
        add_elements(count, a, b, static_cast<std::uint16_t>(kernel.value), c);
    } else if (kernel.c == DataType::F32) {
        add_elements(count, a, b, static_cast<float>(kernel.value), c);
    } else {
        add_elements(count, a, b, static_cast<std::uint32_t>(kernel.value), c);
    }
}

// Element (i, j) of C lies at rows[i] + columns[j].
struct Places {
    std::vector<Size> rows;
    std::vector<Size> columns;

    void assign(const ProductShape& shape) {
        rows.clear();
        columns.clear();
        const Size mmul = shape.r * shape.t;
        // Rows of sub-tiles that have rows, or columns of sub-tiles that have columns.
        const bool across = shape.c_column_major;
        const Size row_step = across ? mmul : shape.r * shape.n;
        const Size column_step = across ? shape.t * shape.m : mmul;
        for (Size block = 0; block < shape.m / shape.r; ++block) {
            for (Size row = 0; row < shape.r; ++row) {
                rows.push_back(block * row_step + row * (across ? 1 : shape.t));
            }
        }
        for (Size block = 0; block < shape.n / shape.t; ++block) {
            for (Size column = 0; column < shape.t; ++column) {
                columns.push_back(block * column_step + column * (across ? shape.r : 1));
            }
        }
    }
};

// A tile that is not made of groups of C, or reaches beyond it, gets a copy.
template <class Out, class Product>
void add_to_copy(const ProductShape& shape, const Places& places, Size i, Size j, Out* c,
                 const Product& add_tile) {
    with_run(shape.c_run(), [&](auto run) {
        std::array<Out, kTileRows * kTileColumns> copy{};
        const auto for_each_run = [&](auto action) {
            for (Size row = 0; row < std::min(kTileRows, shape.m - i); ++row) {
                Out* const begin = c + places.rows[i + row];
                for (Size column = 0; column < std::min(kTileColumns, shape.n - j); column += run) {
                    action(begin + places.columns[j + column], &copy[row * kTileColumns + column]);
                }
            }
        };
        TileOfC<Out> tile;
        for (Size group = 0; group < copy.size(); group += kTileGroup) {
            tile[group / kTileColumns][group % kTileColumns / kTileGroup] = &copy[group];
        }
        for_each_run([&](const Out* in_c, Out* out) { std::memcpy(out, in_c, run * sizeof *out); });
        add_tile(i, j, tile);
        for_each_run([&](Out* in_c, const Out* out) { std::memcpy(in_c, out, run * sizeof *out); });
    });
}

// The tile from row i and column j on, made of groups of C.
template <class Out>
TileOfC<Out> tile_at(const Places& places, Size i, Size j, Out* c) {
    TileOfC<Out> tile;
    for (Size row = 0; row < kTileRows; ++row) {
        for (Size group = 0; group < kTileColumns / kTileGroup; ++group) {
            tile[row][group] = c + places.rows[i + row] + places.columns[j + group * kTileGroup];
        }
    }
    return tile;
}

// Adds a product to C: `add_tile(i, j, tile)` the tile's from row i and column j on. Begins with
// column `j`.
template <class Out, class Product>
void add_tiles(const ProductShape& shape, const Places& places, Out* c, const Product& add_tile,
               Size j = 0) {
    for (; j < shape.n; j += kTileColumns) {
        for (Size i = 0; i < shape.m; i += kTileRows) {
            if (shape.c_run() % kTileGroup != 0 || i + kTileRows > shape.m ||
                j + kTileColumns > shape.n) {
                add_to_copy(shape, places, i, j, c, add_tile);
            } else {
                add_tile(i, j, tile_at(places, i, j, c));
            }
        }
    }
}

// The same two tiles at a time, `add_pair(i, j, left, right)`, where C is made of them; returns the
// first column that is left.
template <class Out, class Product>
Size add_pairs_of_tiles(const ProductShape& shape, const Places& places, Out* c,
                        const Product& add_pair) {
    if (shape.c_run() % kTileGroup != 0 || shape.m % kTileRows != 0) {
        return 0;
    }
    Size j = 0;
    for (; j + 2 * kTileColumns <= shape.n; j += 2 * kTileColumns) {
        for (Size i = 0; i < shape.m; i += kTileRows) {
            add_pair(i, j, tile_at(places, i, j, c), tile_at(places, i, j + kTileColumns, c));
        }
    }
    return j;
}

// Of the four lowest bits of a word's bytes, one of four bits.
std::uint32_t gathered(std::uint32_t word) {
    return (word & 0x01010101U) * 0x01020408U >> 24 & 0xFU;
}

// Takes the top bits off the rows' bytes: bit e of a row's words is that of step e.
void split_top_bits(Size row_count, Size stride, std::int8_t* rows, std::uint32_t* top) {
    for (Size row = 0; row < row_count; ++row, rows += stride) {
        for (Size word = 0; word < stride; word += kWordSteps) {
            std::uint32_t bits = 0;
            for (Size k = word; k < std::min(word + kWordSteps, stride); k += kDepth<std::int8_t>) {
                std::uint32_t bytes = 0;
                std::memcpy(&bytes, rows + k, sizeof bytes);
                bits |= gathered(bytes >> 7) << (k - word);
                bytes &= 0x7F7F7F7FU;
                std::memcpy(rows + k, &bytes, sizeof bytes);
            }
            *top++ = bits;
        }
    }
}

// The lowest bits of the panels' bytes: a word a column for every kWordSteps steps.
void gather_odd(Size panel_count, Size stride, const std::int8_t* panels, std::uint32_t* odd) {
    using Columns = std::array<std::uint32_t, kTileColumns>;
    for (Size panel = 0; panel < panel_count; ++panel) {
        for (Size word = 0; word < stride; word += kWordSteps) {
            Columns bits{};
            for (Size k = word; k < std::min(word + kWordSteps, stride); k += kDepth<std::int8_t>) {
                for (Size j = 0; j < kTileColumns; ++j) {
                    std::uint32_t bytes = 0;
                    std::memcpy(&bytes, panels + j * sizeof bytes, sizeof bytes);
                    bits[j] |= gathered(bytes) << (k - word);
                }
                panels += sizeof bits;
            }
            std::memcpy(odd, bits.data(), sizeof bits);
            odd += kTileColumns;
        }
    }
}

void multiply_split_bytes(const ProductShape& shape, std::span<const std::byte> a,
                          std::span<const std::byte> b, std::span<std::byte> c) {
    thread_local std::vector<std::int8_t> rows;
    thread_local std::vector<std::int8_t> panels;
    thread_local std::vector<std::uint32_t> top;
    thread_local std::vector<std::uint32_t> odd;
    thread_local Places places;
    const Size stride = round_up(shape.k, kDepth<std::int8_t>);
    const Size words = round_up(stride, kWordSteps) / kWordSteps;
    const Size row_count = round_up(shape.m, kTileRows);
    const Size panel_count = round_up(shape.n, kTileColumns) / kTileColumns;
    pack<std::int8_t>(shape, stride, a, b, rows, panels);
    top.resize(row_count * words);
    split_top_bits(row_count, stride, rows.data(), top.data());
    odd.resize(panel_count * words * kTileColumns);
    gather_odd(panel_count, stride, panels.data(), odd.data());
    places.assign(shape);
    add_tiles(shape, places, reinterpret_cast<std::int8_t*>(c.data()),
              [&](Size i, Size j, const TileOfC<std::int8_t>& tile) {
                  add_product({rows.data() + i * stride, stride, panels.data() + j * stride, stride,
                               top.data() + i * words, odd.data() + j * words, words},
                              tile);
              });
}

template <class In, class Packed, class Out>
void multiply_as(const ProductShape& shape, std::span<const std::byte> a,
                 std::span<const std::byte> b, std::span<std::byte> c) {
    thread_local std::vector<Packed> rows;
    thread_local std::vector<Packed> panels;
    thread_local Places places;
    const Size stride = round_up(shape.k, kDepth<Packed>);
    pack<In>(shape, stride, a, b, rows, panels);
    places.assign(shape);
    Out* const first = reinterpret_cast<Out*>(c.data());
    Size column = 0;
    if constexpr (std::is_same_v<Packed, std::int8_t>) {
        column = add_pairs_of_tiles(
            shape, places, first,
            [&](Size i, Size j, const TileOfC<Out>& left, const TileOfC<Out>& right) {
                add_products(rows.data() + i * stride, stride, panels.data() + j * stride,
                             stride * kTileColumns, stride, left, right);
            });
    }
    const auto add_tile = [&](Size i, Size j, const TileOfC<Out>& tile) {
        add_product(rows.data() + i * stride, stride, panels.data() + j * stride, stride, tile);
    };
    add_tiles(shape, places, first, add_tile, column);
}

// False where there is no functional model of the types.
TILESIM_VECTOR_CLONES
bool multiply_types(const program::Kernel& kernel, const ProductShape& shape,
                    std::span<const std::byte> a, std::span<const std::byte> b,
                    std::span<std::byte> c) {
    const auto is = [&kernel](DataType in, DataType out) {
        return kernel.a == in && kernel.b == in && kernel.c == out;
    };
    if (is(DataType::Int8, DataType::Int8) && splits_bytes()) {
        multiply_split_bytes(shape, a, b, c);
    } else if (is(DataType::Int8, DataType::Int8)) {
        multiply_as<std::int8_t, std::int8_t, std::int8_t>(shape, a, b, c);
    } else if (is(DataType::Int8, DataType::Int16)) {
        multiply_as<std::int8_t, std::int16_t, std::int16_t>(shape, a, b, c);
    } else if (is(DataType::Int8, DataType::Int32)) {
        multiply_as<std::int8_t, std::int16_t, std::int32_t>(shape, a, b, c);
    } else if (is(DataType::Int16, DataType::Int16)) {
        multiply_as<std::int16_t, std::int16_t, std::int16_t>(shape, a, b, c);
    } else if (is(DataType::Int16, DataType::Int32)) {
        multiply_as<std::int16_t, std::int16_t, std::int32_t>(shape, a, b, c);
    } else if (is(DataType::Bf16, DataType::Bf16)) {
        multiply_as<std::uint16_t, float, std::uint16_t>(shape, a, b, c);
    } else if (is(DataType::Bf16, DataType::F32)) {
        multiply_as<std::uint16_t, float, float>(shape, a, b, c);
    } else {
        return false;
    }
    return true;
}

}  // namespace

void add(const program::Kernel& kernel, std::span<const std::byte> a, std::span<const std::byte> b,
         std::span<std::byte> c) {
    add_any(kernel, a, b.data(), c);
}

void add_value(const program::Kernel& kernel, std::span<const std::byte> a,
               std::span<std::byte> c) {
    add_any(kernel, a, nullptr, c);
}

void multiply(const program::Kernel& kernel, const MultiplyMode& mode, std::span<const std::byte> a,
              std::span<const std::byte> b, std::span<std::byte> c) {
    const auto size = [](std::int64_t x) { return static_cast<Size>(x); };
    const ProductShape shape{size(kernel.m),        size(kernel.k),       size(kernel.n),
                             size(mode.r),          size(mode.s),         size(mode.t),
                             kernel.b_column_major, kernel.c_column_major};
    SIM_CHECK(multiply_types(kernel, shape, a, b, c), "no functional model of {} x {} -> {}",
              name_of(kernel.a), name_of(kernel.b), name_of(kernel.c));
}

void zero(std::span<std::byte> c) {
    std::fill(c.begin(), c.end(), std::byte{0});
}

}  // namespace tilesim::arch::npu::core
