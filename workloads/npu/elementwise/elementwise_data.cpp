#include "workloads/npu/elementwise/elementwise_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/npu/core/vector_kernel_function.hpp"

namespace tilesim::workloads::npu::elementwise {

using namespace arch::npu;
using arch::base::kBitsPerByte;
using arch::memory::port::BackingStore;
using program::VectorOperation;

namespace {

using Size = std::size_t;

std::vector<float> read_floats(const BackingStore& store, std::int64_t address, DataType type,
                               std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<Size>(count * bits_of(type) / kBitsPerByte));
    store.read(address, bytes);
    return core::as_floats(bytes, type, count);
}

std::vector<double> row_of_a(const ElementwiseProblem& problem, const BackingStore& store,
                             std::int64_t address) {
    std::vector<std::byte> bytes(static_cast<Size>(row_bytes(problem).a));
    store.read(address, bytes);
    const auto row = core::dequantised_row(kernel_of(problem, 1), bytes, problem.n);
    return {row.begin(), row.end()};
}

// Of a whole row, where an operation goes by rows.
struct RowSums {
    double sum = 0, squares = 0;
    double largest = 0, exponentials = 0;  // of what elements are below the largest
};

RowSums sums_of(VectorOperation operation, const std::vector<double>& a) {
    RowSums sums;
    if (program::reach_of(operation) != program::Reach::Row) {
        return sums;
    }
    sums.largest = *std::max_element(a.begin(), a.end());
    for (const double x : a) {
        sums.sum += x;
        sums.squares += x * x;
        sums.exponentials += std::exp(x - sums.largest);
    }
    return sums;
}

// In double precision, by other means than the cores' kernels.
double expected(VectorOperation operation, const std::vector<double>& a, const RowSums& sums,
                const std::vector<float>& b, Size i) {
    const double x = a[i];
    switch (operation) {
        case VectorOperation::Add:
            return x + static_cast<double>(b[i]);
        case VectorOperation::Multiply:
            return x * static_cast<double>(b[i]);
        case VectorOperation::Silu:
            return x * (1 + std::tanh(x / 2)) / 2;
        case VectorOperation::Relu:
            return x > 0 ? x : 0;
        case VectorOperation::Sigmoid:
            return (1 + std::tanh(x / 2)) / 2;
        case VectorOperation::Tanh:
            return std::tanh(x);
        case VectorOperation::Gelu:
            return x / 2 *
                   (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
        case VectorOperation::RmsNorm:
        case VectorOperation::UnweightedRmsNorm:
            return x * (b.empty() ? 1 : static_cast<double>(b[i])) /
                   std::sqrt(sums.squares / static_cast<double>(a.size()) + 1e-5);
        case VectorOperation::LayerNorm: {
            const auto n = static_cast<double>(a.size());
            const double mean = sums.sum / n;
            return (x - mean) / std::sqrt(sums.squares / n - mean * mean + 1e-5);
        }
        case VectorOperation::Softmax:
            return std::exp(x - sums.largest) / sums.exponentials;
        case VectorOperation::Rope: {
            const Size first = i - i % 2;
            const auto cosine = static_cast<double>(b[first]);
            const auto sine = static_cast<double>(b[first + 1]);
            return i == first ? a[first] * cosine - a[first + 1] * sine
                              : a[first] * sine + a[first + 1] * cosine;
        }
        case VectorOperation::Copy:
        case VectorOperation::Dequantise:
        case VectorOperation::Cast:
            return x;
    }
    return x;
}

// Half a unit of the last place, and what sums in f32 lose.
double tolerance(DataType type, double value) {
    if (!is_float(type)) {
        return 0.5;
    }
    const double relative = type == DataType::Bf16 ? 1.0 / 250.0 : 1e-5;
    return std::abs(value) * relative + 1e-5;
}

}  // namespace

void fill_operands(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                   std::uint64_t seed, BackingStore& store) {
    const auto& arguments = lowered.program.external_buffers;
    const RowBytes row = row_bytes(problem);
    const auto random = [&seed] {
        return (static_cast<float>(arch::base::next_splitmix64(seed) & 0xFFU) - 128.0F) / 128.0F;
    };
    const auto fill = [&](std::int64_t address, DataType type, std::int64_t bytes) {
        std::vector<std::byte> data(static_cast<Size>(bytes));
        if (is_float(type)) {
            std::vector<float> values(static_cast<Size>(bytes * kBitsPerByte / bits_of(type)));
            std::generate(values.begin(), values.end(), random);
            core::store_floats(values, type, data);
        } else {
            std::generate(data.begin(), data.end(), [&seed] {
                return static_cast<std::byte>(arch::base::next_splitmix64(seed));
            });
        }
        store.write(address, data);
    };
    const std::int64_t elements = problem.n * bits_of(problem.a) / kBitsPerByte;
    for (std::int64_t m = 0; m < problem.m; ++m) {
        fill(arguments[0].address + m * row.a, problem.a, elements);
        if (row.a > elements) {
            fill(arguments[0].address + m * row.a + elements, DataType::Bf16, row.a - elements);
        }
    }
    if (problem.has_b()) {
        fill(arguments[1].address, problem.b(), problem.b_rows(problem.m) * row.b);
    }
}

ProductCheck check_result(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                          const BackingStore& store) {
    const auto& arguments = lowered.program.external_buffers;
    const RowBytes row = row_bytes(problem);
    ProductCheck check;
    check.method = "every element, within its type's rounding";
    for (std::int64_t m = 0; m < problem.m; ++m) {
        const auto a = row_of_a(problem, store, arguments[0].address + m * row.a);
        const auto b = problem.has_b()
                           ? read_floats(store,
                                         arguments[1].address +
                                             (problem.keeps_b() ? 0 : m / problem.heads * row.b),
                                         problem.b(), problem.n)
                           : std::vector<float>{};
        const auto c =
            read_floats(store, arguments.back().address + m * row.c, problem.c, problem.n);
        const RowSums sums = sums_of(problem.operation, a);
        for (Size i = 0; i < c.size(); ++i, ++check.checked) {
            const double want = expected(problem.operation, a, sums, b, i);
            const double error = std::abs(static_cast<double>(c[i]) - want);
            const bool right = error <= tolerance(problem.c, want);  // which a NaN is not
            if (!right && check.first_mismatch.empty()) {
                check.first_mismatch =
                    fmt::format("C[{}][{}] is {}, expected {}", m, i, c[i], want);
            }
        }
    }
    check.match = check.first_mismatch.empty();
    return check;
}

}  // namespace tilesim::workloads::npu::elementwise
