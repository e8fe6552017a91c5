#include "arch/npu/core/kernel_function.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "arch/base/check.hpp"
#include "arch/base/vector_clones.hpp"
#include "arch/npu/core/tile_product.hpp"

namespace tilesim::arch::npu::core {

namespace {

using Size = std::size_t;

struct Shape {
    Size m, k, n, r, s, t;
    bool b_column_major;
    bool c_column_major = false;

    // Elements of a row of C that lie next to each other in any case.
    Size c_run() const { return c_column_major ? 1 : t; }
};

Size round_up(Size value, Size multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

template <class To, class From>
To widen(From value) {
    if constexpr (std::is_same_v<From, std::uint16_t>) {
        return base::from_bf16(value);
    } else {
        return static_cast<To>(value);
    }
}

// Through locals, because pointers to bytes may alias anything and would keep it scalar.
template <Size kRun, class From, class To>
void widen_run(const From* from, To* to) {
    std::array<From, kRun> in;
    std::array<To, kRun> out;
    std::memcpy(in.data(), from, sizeof in);
    for (Size e = 0; e < kRun; ++e) {
        out[e] = widen<To>(in[e]);
    }
    std::memcpy(to, out.data(), sizeof out);
}

// Calls the action with the longest known run of elements that `size` is a multiple of.
template <class Action>
void with_run(Size size, Action action) {
    if (size % 8 == 0) {
        action(std::integral_constant<Size, 8>{});
    } else if (size % 4 == 0) {
        action(std::integral_constant<Size, 4>{});
    } else {
        action(std::integral_constant<Size, 1>{});
    }
}

// The packing functions take a copy of the shape: bytes they store could alias anything, and a
// reference would be read anew for every element.

// A in rows of k, `stride` apart.
template <class In, class Packed>
void pack_a(const In* a, Shape shape, Size stride, Packed* rows) {
    with_run(shape.s, [&](auto run) {
        for (Size row = 0; row < shape.m; ++row) {
            const In* in = a + row / shape.r * shape.r * shape.k + row % shape.r * shape.s;
            Packed* out = rows + row * stride;
            for (Size k = 0; k < shape.k; k += shape.s, in += shape.r * shape.s) {
                for (Size e = 0; e < shape.s; e += run) {
                    widen_run<run>(in + e, out + k + e);
                }
            }
        }
    });
}

// Where an element of B lies in panels of kTileColumns columns, as tile_product.hpp wants them: the
// sum of what its column and its step of k say.
template <class Packed>
Size column_index(Size j, Size stride) {
    return j / kTileColumns * stride * kTileColumns + j % kTileColumns * kDepth<Packed>;
}
template <class Packed>
Size step_index(Size k) {
    return k / kDepth<Packed> * kDepth<Packed> * kTileColumns + k % kDepth<Packed>;
}

template <class In, class Packed>
void pack_column_major_b(const In* b, Shape shape, Size stride, Packed* panels) {
    with_run(shape.s, [&](auto run) {
        constexpr Size kStep = std::min<Size>(run, kDepth<Packed>);
        for (Size j = 0; j < shape.n; ++j) {
            const In* in = b + j / shape.t * shape.t * shape.k + j % shape.t * shape.s;
            Packed* const column = panels + column_index<Packed>(j, stride);
            for (Size k = 0; k < shape.k; k += shape.s, in += shape.s * shape.t) {
                for (Size e = 0; e < shape.s; e += run) {
                    std::array<Packed, run> steps;
                    widen_run<run>(in + e, steps.data());
                    Packed* out = column + step_index<Packed>(k + e);
                    for (Size i = 0; i < run; i += kStep) {
                        std::memcpy(out + i * kTileColumns, steps.data() + i,
                                    kStep * sizeof(Packed));
                    }
                }
            }
        }
    });
}

template <class In, class Packed>
void pack_row_major_b(const In* b, Shape shape, Size stride, Packed* panels) {
    with_run(shape.t, [&](auto run) {
        for (Size block = 0; block < shape.k; block += shape.s) {
            for (Size j = 0; j < shape.n; j += shape.t) {
                for (Size k = block; k < block + shape.s; ++k) {
                    for (Size e = 0; e < shape.t; e += run, b += run) {
                        Packed* out =
                            panels + column_index<Packed>(j + e, stride) + step_index<Packed>(k);
                        for (Size i = 0; i < run; ++i) {
                            out[i * kDepth<Packed>] = widen<Packed>(b[i]);
                        }
                    }
                }
            }
        }
    });
}

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

    void assign(const Shape& shape) {
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
void add_to_copy(const Shape& shape, const Places& places, Size i, Size j, Out* c,
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

// Adds a product to C: `add_tile(i, j, tile)` the tile's from row i and column j on.
template <class Out, class Product>
void add_tiles(const Shape& shape, const Places& places, Out* c, const Product& add_tile) {
    for (Size j = 0; j < shape.n; j += kTileColumns) {
        for (Size i = 0; i < shape.m; i += kTileRows) {
            if (shape.c_run() % kTileGroup != 0 || i + kTileRows > shape.m ||
                j + kTileColumns > shape.n) {
                add_to_copy(shape, places, i, j, c, add_tile);
                continue;
            }
            TileOfC<Out> tile;
            for (Size row = 0; row < kTileRows; ++row) {
                for (Size group = 0; group < kTileColumns / kTileGroup; ++group) {
                    tile[row][group] =
                        c + places.rows[i + row] + places.columns[j + group * kTileGroup];
                }
            }
            add_tile(i, j, tile);
        }
    }
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

template <class In, class Packed>
void pack(const Shape& shape, Size stride, std::span<const std::byte> a,
          std::span<const std::byte> b, std::vector<Packed>& rows, std::vector<Packed>& panels) {
    // Rows and columns beyond the matrix are not stored; steps beyond k have a zero A.
    rows.resize(round_up(shape.m, kTileRows) * stride);
    if (rows.size() != shape.m * shape.k) {
        std::fill(rows.begin(), rows.end(), Packed{0});
    }
    panels.resize(round_up(shape.n, kTileColumns) * stride);
    pack_a(reinterpret_cast<const In*>(a.data()), shape, stride, rows.data());
    const In* from = reinterpret_cast<const In*>(b.data());
    if (shape.b_column_major) {
        pack_column_major_b(from, shape, stride, panels.data());
    } else {
        pack_row_major_b(from, shape, stride, panels.data());
    }
}

void multiply_split_bytes(const Shape& shape, std::span<const std::byte> a,
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
void multiply_as(const Shape& shape, std::span<const std::byte> a, std::span<const std::byte> b,
                 std::span<std::byte> c) {
    thread_local std::vector<Packed> rows;
    thread_local std::vector<Packed> panels;
    thread_local Places places;
    const Size stride = round_up(shape.k, kDepth<Packed>);
    pack<In>(shape, stride, a, b, rows, panels);
    places.assign(shape);
    add_tiles(shape, places, reinterpret_cast<Out*>(c.data()),
              [&](Size i, Size j, const TileOfC<Out>& tile) {
                  add_product(rows.data() + i * stride, stride, panels.data() + j * stride, stride,
                              tile);
              });
}

// False where there is no functional model of the types.
TILESIM_VECTOR_CLONES
bool multiply_types(const program::Kernel& kernel, const Shape& shape, std::span<const std::byte> a,
                    std::span<const std::byte> b, std::span<std::byte> c) {
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
    const Shape shape{size(kernel.m), size(kernel.k), size(kernel.n),        size(mode.r),
                      size(mode.s),   size(mode.t),   kernel.b_column_major, kernel.c_column_major};
    SIM_CHECK(multiply_types(kernel, shape, a, b, c), "no functional model of {} x {} -> {}",
              name_of(kernel.a), name_of(kernel.b), name_of(kernel.c));
}

void zero(std::span<std::byte> c) {
    std::fill(c.begin(), c.end(), std::byte{0});
}

}  // namespace tilesim::arch::npu::core
