#include "arch/npu/core/vector_kernel_function.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu::core {

using program::Kernel;
using program::VectorOperation;

namespace {

using Size = std::size_t;

template <class Element>
Element element_at(std::span<const std::byte> bytes, Size index) {
    Element value{};
    std::memcpy(&value, bytes.data() + index * sizeof(Element), sizeof(Element));
    return value;
}

std::int64_t int4_at(std::span<const std::byte> bytes, Size index) {
    constexpr unsigned kLow = 0xF;
    constexpr std::int64_t kSign = 8;
    const auto byte = std::to_integer<unsigned>(bytes[index / 2]);
    const auto bits = static_cast<std::int64_t>(index % 2 == 0 ? byte & kLow : byte >> 4U);
    return (bits ^ kSign) - kSign;
}

std::int64_t integer_at(std::span<const std::byte> bytes, DataType type, Size index) {
    switch (type) {
        case DataType::Int4:
            return int4_at(bytes, index);
        case DataType::Int8:
            return element_at<std::int8_t>(bytes, index);
        case DataType::Int16:
            return element_at<std::int16_t>(bytes, index);
        default:
            return element_at<std::int32_t>(bytes, index);
    }
}

float float_at(std::span<const std::byte> bytes, DataType type, Size index) {
    switch (type) {
        case DataType::Bf16:
            return base::from_bf16(element_at<std::uint16_t>(bytes, index));
        case DataType::F32:
            return element_at<float>(bytes, index);
        default:
            return static_cast<float>(integer_at(bytes, type, index));
    }
}

template <class Element>
void put(std::span<std::byte> bytes, Size index, Element value) {
    std::memcpy(bytes.data() + index * sizeof(Element), &value, sizeof(Element));
}

void put_integer(std::span<std::byte> bytes, DataType type, Size index, std::int64_t value) {
    switch (type) {
        case DataType::Int8:
            return put(bytes, index, static_cast<std::int8_t>(value));
        case DataType::Int16:
            return put(bytes, index, static_cast<std::int16_t>(value));
        default:
            return put(bytes, index, static_cast<std::int32_t>(value));
    }
}

void put_float(std::span<std::byte> bytes, DataType type, Size index, float value) {
    switch (type) {
        case DataType::Bf16:
            return put(bytes, index, base::to_bf16(value));
        case DataType::F32:
            return put(bytes, index, value);
        default:
            return put_integer(bytes, type, index, static_cast<std::int64_t>(std::lrint(value)));
    }
}

std::int64_t dot(const Kernel& kernel, std::span<const std::byte> row,
                 std::span<const std::byte> b) {
    std::int64_t sum = 0;
    for (Size k = 0; k < static_cast<Size>(kernel.k); ++k) {
        sum += integer_at(row, kernel.a, k) * integer_at(b, kernel.b, k);
    }
    return sum;
}

float sigmoid(float x) {
    return 1.0F / (1.0F + std::exp(-x));
}

float mean_square(std::span<const float> row) {
    return std::inner_product(row.begin(), row.end(), row.begin(), 0.0F) /
           static_cast<float>(row.size());
}

constexpr float kSmall = 1e-5F;  // beside a mean square that may be 0

void rms_norm(std::span<float> a, std::span<const float> b) {
    const float scale = 1.0F / std::sqrt(mean_square(a) + kSmall);
    for (Size i = 0; i < a.size(); ++i) {
        a[i] = a[i] * scale * (b.empty() ? 1.0F : b[i]);
    }
}

void layer_norm(std::span<float> a) {
    const float mean = std::accumulate(a.begin(), a.end(), 0.0F) / static_cast<float>(a.size());
    for (float& x : a) {
        x -= mean;
    }
    const float scale = 1.0F / std::sqrt(mean_square(a) + kSmall);
    for (float& x : a) {
        x *= scale;
    }
}

void softmax(std::span<float> a) {
    const float greatest = *std::max_element(a.begin(), a.end());
    float sum = 0;
    for (float& x : a) {
        x = std::exp(x - greatest);
        sum += x;
    }
    for (float& x : a) {
        x /= sum;
    }
}

void turn_pairs(std::span<float> a, std::span<const float> b) {
    for (Size i = 0; i + 1 < a.size(); i += 2) {
        const float x = a[i];
        const float y = a[i + 1];
        a[i] = x * b[i] - y * b[i + 1];
        a[i + 1] = x * b[i + 1] + y * b[i];
    }
}

// One row; `a` and `b` as floats.
void work_on_row(VectorOperation operation, std::span<float> a, std::span<const float> b) {
    constexpr float kGelu = 1.5957691F;  // 2 sqrt(2 / pi), Hendrycks and Gimpel (2016)
    constexpr float kGeluCube = 0.044715F;
    const auto each = [a](auto function) {
        std::transform(a.begin(), a.end(), a.begin(), function);
    };
    switch (operation) {
        case VectorOperation::Add:
            std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>{});
            return;
        case VectorOperation::Multiply:
            std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::multiplies<>{});
            return;
        case VectorOperation::Silu:
            return each([](float x) { return x * sigmoid(x); });
        case VectorOperation::Relu:
            return each([](float x) { return std::max(x, 0.0F); });
        case VectorOperation::Sigmoid:
            return each(sigmoid);
        case VectorOperation::Tanh:
            return each([](float x) { return 2.0F * sigmoid(2.0F * x) - 1.0F; });
        case VectorOperation::Gelu:
            return each([](float x) { return x * sigmoid(kGelu * (x + kGeluCube * x * x * x)); });
        case VectorOperation::RmsNorm:
        case VectorOperation::UnweightedRmsNorm:
            return rms_norm(a, b);
        case VectorOperation::LayerNorm:
            return layer_norm(a);
        case VectorOperation::Softmax:
            return softmax(a);
        case VectorOperation::Rope:
            return turn_pairs(a, b);
        case VectorOperation::Copy:
        case VectorOperation::Dequantise:
        case VectorOperation::Cast:
            return;
    }
}

// What 32 bits keep of it: no integer is wider.
std::int64_t product(std::int64_t a, std::int64_t b) {
    return kept_of(a * b, DataType::Int32);
}

// One row of a kernel that stays in the integers.
void work_on_integers(VectorOperation operation, std::span<std::int64_t> a,
                      std::span<const std::int64_t> b) {
    switch (operation) {
        case VectorOperation::Add:
            std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>{});
            return;
        case VectorOperation::Multiply:
            std::transform(a.begin(), a.end(), b.begin(), a.begin(), product);
            return;
        case VectorOperation::Relu:
            std::transform(a.begin(), a.end(), a.begin(),
                           [](std::int64_t x) { return std::max<std::int64_t>(x, 0); });
            return;
        case VectorOperation::Rope:
            for (Size i = 0; i + 1 < a.size(); i += 2) {
                const std::int64_t x = a[i];
                const std::int64_t y = a[i + 1];
                a[i] = product(x, b[i]) - product(y, b[i + 1]);
                a[i + 1] = product(x, b[i + 1]) + product(y, b[i]);
            }
            return;
        default:
            return;
    }
}

void work_on_integer_rows(const Kernel& kernel, std::span<const std::byte> a,
                          std::span<const std::byte> b, std::span<std::byte> c) {
    const auto a_row = static_cast<Size>(program::row_bytes(kernel, kernel.n));
    const auto row_of = [&](DataType type) { return static_cast<Size>(bytes_of(kernel.n, type)); };
    for (Size m = 0; m < static_cast<Size>(kernel.m); ++m) {
        auto row = as_integers(a.subspan(m * a_row), kernel.a, kernel.n);
        const auto with = b.empty()
                              ? std::vector<std::int64_t>{}
                              : as_integers(b.subspan(m * row_of(kernel.b)), kernel.b, kernel.n);
        work_on_integers(kernel.operation, row, with);
        for (Size i = 0; i < row.size(); ++i) {
            put_integer(c.subspan(m * row_of(kernel.c)), kernel.c, i, row[i]);
        }
    }
}

}  // namespace

bool stays_integer(const Kernel& kernel) {
    constexpr std::array kOperations{VectorOperation::Add,       VectorOperation::Multiply,
                                     VectorOperation::Copy,      VectorOperation::Relu,
                                     VectorOperation::Rope,      VectorOperation::Cast,
                                     VectorOperation::Dequantise};
    const bool has_b = second_operand(kernel.operation) != program::SecondOperand::None;
    return !is_float(kernel.a) && !(has_b && is_float(kernel.b)) && !is_float(kernel.c) &&
           kernel.scale_block == 0 &&
           std::find(kOperations.begin(), kOperations.end(), kernel.operation) != kOperations.end();
}

std::int64_t kept_of(std::int64_t value, DataType type) {
    const auto dropped = static_cast<unsigned>(64 - bits_of(type));
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << dropped) >> dropped;
}

std::vector<std::int64_t> as_integers(std::span<const std::byte> bytes, DataType type,
                                      std::int64_t count) {
    std::vector<std::int64_t> values(static_cast<Size>(count));
    for (Size i = 0; i < values.size(); ++i) {
        values[i] = integer_at(bytes, type, i);
    }
    return values;
}

std::vector<float> as_floats(std::span<const std::byte> bytes, DataType type, std::int64_t count) {
    std::vector<float> values(static_cast<Size>(count));
    for (Size i = 0; i < values.size(); ++i) {
        values[i] = float_at(bytes, type, i);
    }
    return values;
}

void store_floats(std::span<const float> values, DataType type, std::span<std::byte> bytes) {
    for (Size i = 0; i < values.size(); ++i) {
        put_float(bytes, type, i, values[i]);
    }
}

std::vector<float> dequantised_row(const Kernel& kernel, std::span<const std::byte> row,
                                   std::int64_t count) {
    std::vector<float> values = as_floats(row, kernel.a, count);
    if (kernel.scale_block == 0) {
        return values;
    }
    const auto scales =
        row.subspan(static_cast<Size>(count * bits_of(kernel.a) / base::kBitsPerByte));
    for (Size i = 0; i < values.size(); ++i) {
        values[i] *= float_at(scales, DataType::Bf16, i / static_cast<Size>(kernel.scale_block));
    }
    return values;
}

void multiply_vector(const Kernel& kernel, std::span<const std::byte> a,
                     std::span<const std::byte> b, std::span<std::byte> c) {
    const auto row_size = static_cast<Size>(program::row_bytes(kernel, kernel.k));
    const bool floats = is_float(kernel.c);
    const std::vector<float> x = floats ? as_floats(b, kernel.b, kernel.k) : std::vector<float>{};
    for (Size m = 0; m < static_cast<Size>(kernel.m); ++m) {
        const auto row = a.subspan(m * row_size, row_size);
        if (!floats) {
            put_integer(c, kernel.c, m, integer_at(c, kernel.c, m) + dot(kernel, row, b));
            continue;
        }
        const std::vector<float> weights = dequantised_row(kernel, row, kernel.k);
        float sum = float_at(c, kernel.c, m);
        for (Size k = 0; k < weights.size(); ++k) {
            sum += weights[k] * x[k];
        }
        put_float(c, kernel.c, m, sum);
    }
}

void work_on_vectors(const Kernel& kernel, std::span<const std::byte> a,
                     std::span<const std::byte> b, std::span<std::byte> c) {
    if (stays_integer(kernel)) {
        return work_on_integer_rows(kernel, a, b, c);
    }
    const auto n = static_cast<Size>(kernel.n);
    const auto row_size = static_cast<Size>(program::row_bytes(kernel, kernel.n));
    const bool one_row = program::second_operand(kernel.operation) == program::SecondOperand::Row;
    const std::vector<float> second =
        b.empty() ? std::vector<float>{}
                  : as_floats(b, kernel.b, one_row ? kernel.n : kernel.m * kernel.n);
    for (Size m = 0; m < static_cast<Size>(kernel.m); ++m) {
        std::vector<float> row =
            dequantised_row(kernel, a.subspan(m * row_size, row_size), kernel.n);
        const auto with = b.empty()
                              ? std::span<const float>{}
                              : std::span<const float>{second}.subspan(one_row ? 0 : m * n, n);
        work_on_row(kernel.operation, row, with);
        const auto bytes = static_cast<Size>(bits_of(kernel.c) / base::kBitsPerByte) * n;
        store_floats(row, kernel.c, c.subspan(m * bytes, bytes));
    }
}

}  // namespace tilesim::arch::npu::core
