#include "arch/npu/core/stream_kernel_function.hpp"

#include <cstdint>
#include <vector>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu::core {

namespace {

// sums[n][m] += a[k][m] * b[k][n] modulo 2^32.
template <class In>
void accumulate(const program::Kernel& kernel, const In* a, const In* b, std::uint32_t* sums) {
    for (std::int64_t k = 0; k < kernel.k; ++k) {
        for (std::int64_t j = 0; j < kernel.n; ++j) {
            const std::int32_t factor = b[k * kernel.n + j];
            std::uint32_t* column = sums + j * kernel.m;
            for (std::int64_t i = 0; i < kernel.m; ++i) {
                column[i] += static_cast<std::uint32_t>(factor * a[k * kernel.m + i]);
            }
        }
    }
}

template <class In, class Out>
void multiply_as(const program::Kernel& kernel, std::span<const std::byte> a,
                 std::span<const std::byte> b, std::span<std::byte> c) {
    Out* out = reinterpret_cast<Out*>(c.data());
    const auto size = static_cast<std::size_t>(kernel.m * kernel.n);
    std::vector<std::uint32_t> sums(out, out + size);
    accumulate(kernel, reinterpret_cast<const In*>(a.data()), reinterpret_cast<const In*>(b.data()),
               sums.data());
    for (std::size_t i = 0; i < size; ++i) {
        out[i] = static_cast<Out>(sums[i]);
    }
}

}  // namespace

void multiply_stream(const program::Kernel& kernel, std::span<const std::byte> a,
                     std::span<const std::byte> b, std::span<std::byte> c) {
    const auto is = [&kernel](DataType in, DataType out) {
        return kernel.a == in && kernel.b == in && kernel.c == out;
    };
    if (is(DataType::Int16, DataType::Int16)) {
        multiply_as<std::int16_t, std::int16_t>(kernel, a, b, c);
    } else if (is(DataType::Int16, DataType::Int32)) {
        multiply_as<std::int16_t, std::int32_t>(kernel, a, b, c);
    } else if (is(DataType::Int8, DataType::Int8)) {
        multiply_as<std::int8_t, std::int8_t>(kernel, a, b, c);
    } else if (is(DataType::Int8, DataType::Int16)) {
        multiply_as<std::int8_t, std::int16_t>(kernel, a, b, c);
    } else if (is(DataType::Int8, DataType::Int32)) {
        multiply_as<std::int8_t, std::int32_t>(kernel, a, b, c);
    } else {
        SIM_CHECK(false, "no functional model of a stream-fed {} x {} -> {}", name_of(kernel.a),
                  name_of(kernel.b), name_of(kernel.c));
    }
}

}  // namespace tilesim::arch::npu::core
