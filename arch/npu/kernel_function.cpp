#include "arch/npu/kernel_function.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu {

namespace {

// Vector code where the host has it; the arithmetic is the same.
#if defined(__x86_64__) && defined(__GNUC__)
#define TILESIM_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TILESIM_VECTOR_CLONES
#endif

constexpr std::size_t kDotLanes = 16;  // k is padded to this many

using Size = std::size_t;

struct Shape {
    Size m, k, n, r, s, t;
    Size k_padded;
};

template <class To, class From>
To convert(From value) {
    return static_cast<To>(value);
}
template <>
float convert<float, std::uint16_t>(std::uint16_t value) {
    return from_bf16(value);
}

// Rows of `outer` sub-tiles of h x s elements into rows of k contiguous ones.
template <class From, class To>
void unpack_rows(const std::byte* bytes, Size rows, Size h, const Shape& shape, To* into,
                 Size stride) {
    const From* from = reinterpret_cast<const From*>(bytes);
    for (Size block = 0; block < rows / h; ++block) {
        for (Size ks = 0; ks < shape.k / shape.s; ++ks) {
            for (Size row = 0; row < h; ++row) {
                To* out = into + (block * h + row) * stride + ks * shape.s;
                for (Size e = 0; e < shape.s; ++e) {
                    out[e] = convert<To, From>(*from++);
                }
            }
        }
    }
}

// Row-major B ([k/s][n/t][s][t]) into rows of n, or transposed into rows of k.
template <class From, class To>
void unpack_row_major_b(const std::byte* bytes, const Shape& shape, To* into, Size k_stride,
                        Size n_stride) {
    const From* from = reinterpret_cast<const From*>(bytes);
    for (Size ks = 0; ks < shape.k / shape.s; ++ks) {
        for (Size nt = 0; nt < shape.n / shape.t; ++nt) {
            for (Size row = 0; row < shape.s; ++row) {
                for (Size e = 0; e < shape.t; ++e) {
                    into[(ks * shape.s + row) * k_stride + (nt * shape.t + e) * n_stride] =
                        convert<To, From>(*from++);
                }
            }
        }
    }
}

// sums[i][j] = sum over k of a[i][k] * b[j][k] modulo 2^32; four columns at a time.
TILESIM_VECTOR_CLONES
void dot_products(const std::int16_t* a, const std::int16_t* b, const Shape& shape,
                  std::int32_t* sums) {
    const Size k = shape.k_padded;
    for (Size i = 0; i < shape.m; ++i) {
        const std::int16_t* row = a + i * k;
        Size j = 0;
        for (; j + 4 <= shape.n; j += 4) {
            const std::int16_t* b0 = b + j * k;
            std::uint32_t s0 = 0;
            std::uint32_t s1 = 0;
            std::uint32_t s2 = 0;
            std::uint32_t s3 = 0;
            for (Size e = 0; e < k; ++e) {
                const std::int32_t x = row[e];
                s0 += static_cast<std::uint32_t>(x * b0[e]);
                s1 += static_cast<std::uint32_t>(x * b0[e + k]);
                s2 += static_cast<std::uint32_t>(x * b0[e + 2 * k]);
                s3 += static_cast<std::uint32_t>(x * b0[e + 3 * k]);
            }
            sums[i * shape.n + j] = static_cast<std::int32_t>(s0);
            sums[i * shape.n + j + 1] = static_cast<std::int32_t>(s1);
            sums[i * shape.n + j + 2] = static_cast<std::int32_t>(s2);
            sums[i * shape.n + j + 3] = static_cast<std::int32_t>(s3);
        }
        for (; j < shape.n; ++j) {
            std::uint32_t s0 = 0;
            for (Size e = 0; e < k; ++e) {
                s0 += static_cast<std::uint32_t>(static_cast<std::int32_t>(row[e]) * b[j * k + e]);
            }
            sums[i * shape.n + j] = static_cast<std::int32_t>(s0);
        }
    }
}

// c[i][j] += a[i][k] * b[k][j], in order of k for every element.
TILESIM_VECTOR_CLONES
void accumulate(const float* a, const float* b, const Shape& shape, float* c) {
    for (Size i = 0; i < shape.m; ++i) {
        float* out = c + i * shape.n;
        for (Size k = 0; k < shape.k; ++k) {
            const float x = a[i * shape.k + k];
            const float* row = b + k * shape.n;
            for (Size j = 0; j < shape.n; ++j) {
                out[j] += x * row[j];
            }
        }
    }
}

// Calls action(element of C in core memory, index in rows) for every element.
template <class Action>
void for_each_c(const Shape& shape, Action action) {
    Size element = 0;
    for (Size mb = 0; mb < shape.m / shape.r; ++mb) {
        for (Size nb = 0; nb < shape.n / shape.t; ++nb) {
            for (Size row = 0; row < shape.r; ++row) {
                for (Size e = 0; e < shape.t; ++e) {
                    action(element++, (mb * shape.r + row) * shape.n + nb * shape.t + e);
                }
            }
        }
    }
}

template <class In, class Out>
void multiply_integers(const Kernel& kernel, const Shape& shape, std::span<const std::byte> a,
                       std::span<const std::byte> b, std::span<std::byte> c) {
    thread_local std::vector<std::int16_t> rows_a;
    thread_local std::vector<std::int16_t> rows_b;
    thread_local std::vector<std::int32_t> sums;
    rows_a.assign(shape.m * shape.k_padded, 0);
    rows_b.assign(shape.n * shape.k_padded, 0);
    sums.resize(shape.m * shape.n);
    unpack_rows<In>(a.data(), shape.m, shape.r, shape, rows_a.data(), shape.k_padded);
    if (kernel.b_column_major) {
        unpack_rows<In>(b.data(), shape.n, shape.t, shape, rows_b.data(), shape.k_padded);
    } else {
        unpack_row_major_b<In>(b.data(), shape, rows_b.data(), 1, shape.k_padded);
    }
    dot_products(rows_a.data(), rows_b.data(), shape, sums.data());
    Out* out = reinterpret_cast<Out*>(c.data());
    for_each_c(shape, [&](Size element, Size index) {
        out[element] = static_cast<Out>(static_cast<std::uint32_t>(out[element]) +
                                        static_cast<std::uint32_t>(sums[index]));
    });
}

template <class Out>
void multiply_bf16(const Kernel& kernel, const Shape& shape, std::span<const std::byte> a,
                   std::span<const std::byte> b, std::span<std::byte> c) {
    std::vector<float> rows_a(shape.m * shape.k);
    std::vector<float> rows_b(shape.k * shape.n);
    std::vector<float> sums(shape.m * shape.n);
    unpack_rows<std::uint16_t>(a.data(), shape.m, shape.r, shape, rows_a.data(), shape.k);
    if (kernel.b_column_major) {
        std::vector<float> columns(shape.n * shape.k);
        unpack_rows<std::uint16_t>(b.data(), shape.n, shape.t, shape, columns.data(), shape.k);
        for (Size j = 0; j < shape.n; ++j) {
            for (Size k = 0; k < shape.k; ++k) {
                rows_b[k * shape.n + j] = columns[j * shape.k + k];
            }
        }
    } else {
        unpack_row_major_b<std::uint16_t>(b.data(), shape, rows_b.data(), shape.n, 1);
    }
    Out* out = reinterpret_cast<Out*>(c.data());
    for_each_c(shape,
               [&](Size element, Size index) { sums[index] = convert<float>(out[element]); });
    accumulate(rows_a.data(), rows_b.data(), shape, sums.data());
    for_each_c(shape, [&](Size element, Size index) {
        if constexpr (std::is_same_v<Out, float>) {
            out[element] = sums[index];
        } else {
            out[element] = to_bf16(sums[index]);
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

void add_any(const Kernel& kernel, std::span<const std::byte> a, const std::byte* b,
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

}  // namespace

void add(const Kernel& kernel, std::span<const std::byte> a, std::span<const std::byte> b,
         std::span<std::byte> c) {
    add_any(kernel, a, b.data(), c);
}

void add_value(const Kernel& kernel, std::span<const std::byte> a, std::span<std::byte> c) {
    add_any(kernel, a, nullptr, c);
}

void multiply(const Kernel& kernel, const MultiplyMode& mode, std::span<const std::byte> a,
              std::span<const std::byte> b, std::span<std::byte> c) {
    const auto size = [](std::int64_t x) { return static_cast<Size>(x); };
    const Shape shape{size(kernel.m),
                      size(kernel.k),
                      size(kernel.n),
                      size(mode.r),
                      size(mode.s),
                      size(mode.t),
                      (size(kernel.k) + kDotLanes - 1) / kDotLanes * kDotLanes};
    const auto is = [&kernel](DataType in, DataType out) {
        return kernel.a == in && kernel.b == in && kernel.c == out;
    };
    if (is(DataType::Int8, DataType::Int8)) {
        multiply_integers<std::int8_t, std::int8_t>(kernel, shape, a, b, c);
    } else if (is(DataType::Int8, DataType::Int16)) {
        multiply_integers<std::int8_t, std::int16_t>(kernel, shape, a, b, c);
    } else if (is(DataType::Int8, DataType::Int32)) {
        multiply_integers<std::int8_t, std::int32_t>(kernel, shape, a, b, c);
    } else if (is(DataType::Int16, DataType::Int32)) {
        multiply_integers<std::int16_t, std::int32_t>(kernel, shape, a, b, c);
    } else if (is(DataType::Bf16, DataType::Bf16)) {
        multiply_bf16<std::uint16_t>(kernel, shape, a, b, c);
    } else if (is(DataType::Bf16, DataType::F32)) {
        multiply_bf16<float>(kernel, shape, a, b, c);
    } else {
        SIM_CHECK(false, "no functional model of {} x {} -> {}", name_of(kernel.a),
                  name_of(kernel.b), name_of(kernel.c));
    }
}

void zero(std::span<std::byte> c) {
    std::fill(c.begin(), c.end(), std::byte{0});
}

}  // namespace tilesim::arch::npu
