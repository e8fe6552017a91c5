// The operands of a core's product, which lie in memory in blocks of its mmul shape, in the order
// in which the host multiplies them (tile_product.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "arch/base/data_type.hpp"
#include "arch/npu/core/tile_product.hpp"

namespace tilesim::arch::npu::core {

using Size = std::size_t;

struct ProductShape {
    Size m, k, n, r, s, t;
    bool b_column_major;
    bool c_column_major = false;

    // Elements of a row of C that lie next to each other in any case.
    Size c_run() const { return c_column_major ? 1 : t; }
};

inline Size round_up(Size value, Size multiple) {
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
void pack_a(const In* a, ProductShape shape, Size stride, Packed* rows) {
    with_run(shape.s, [&](auto run) {
        for (Size row = 0; row < shape.m; ++row) {
            const In* const begin = a + row / shape.r * shape.r * shape.k + row % shape.r * shape.s;
            Packed* const out = rows + row * stride;
            for (Size e = 0; e < shape.s; e += run) {  // mostly once
                const In* in = begin + e;
                for (Size k = e; k < shape.k; k += shape.s, in += shape.r * shape.s) {
                    widen_run<run>(in, out + k);
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

// A column-major B of bytes in blocks of eight steps by eight columns: the first half of each
// column goes to one row of the panel, the second to the next, for eight columns at once.
inline void pack_column_major_blocks(const std::int8_t* b, ProductShape shape, Size stride,
                                     std::int8_t* panels) {
    constexpr Size kBlock = 8;
    typedef std::uint32_t Halves __attribute__((vector_size(4 * kBlock)));
    for (Size j = 0; j < shape.n; j += kBlock) {
        std::int8_t* out = panels + column_index<std::int8_t>(j, stride);
        for (Size k = 0; k < shape.k; k += kBlock, b += 2 * sizeof(Halves)) {
            Halves low;
            Halves high;
            std::memcpy(&low, b, sizeof low);
            std::memcpy(&high, b + sizeof low, sizeof high);
            const Halves first = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
            const Halves second = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
            std::memcpy(out + step_index<std::int8_t>(k), &first, sizeof first);
            std::memcpy(out + step_index<std::int8_t>(k + kDepth<std::int8_t>), &second,
                        sizeof second);
        }
    }
}

// B in panels.
template <class In, class Packed>
void pack_column_major_b(const In* b, ProductShape shape, Size stride, Packed* panels) {
    if constexpr (std::is_same_v<In, std::int8_t> && std::is_same_v<Packed, std::int8_t>) {
        if (shape.s == 8 && shape.t == 8) {
            pack_column_major_blocks(b, shape, stride, panels);
            return;
        }
    }
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
void pack_row_major_b(const In* b, ProductShape shape, Size stride, Packed* panels) {
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

template <class In, class Packed>
void pack(const ProductShape& shape, Size stride, std::span<const std::byte> a,
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

}  // namespace tilesim::arch::npu::core
