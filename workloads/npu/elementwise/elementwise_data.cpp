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

std::vector<std::byte> read_bytes(const BackingStore& store, std::int64_t address,
                                  std::int64_t bytes) {
    std::vector<std::byte> data(static_cast<Size>(bytes));
    store.read(address, data);
    return data;
}

std::vector<float> read_floats(const BackingStore& store, std::int64_t address, DataType type,
                               std::int64_t count) {
    return core::as_floats(read_bytes(store, address, count * bits_of(type) / kBitsPerByte), type,
                           count);
}

std::vector<double> row_of_a(const ElementwiseProblem& problem, const BackingStore& store,
                             std::int64_t address) {
    const auto row = core::dequantised_row(
        kernel_of(problem, 1), read_bytes(store, address, row_bytes(problem).a), problem.n);
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

// The same in integers, which a result keeps the lowest bits of.
std::int64_t expected(VectorOperation operation, const std::vector<std::int64_t>& a,
                      const std::vector<std::int64_t>& b, Size i) {
    const auto times = [](std::int64_t x, std::int64_t y) {  // neither wider than 32 bits
        return core::kept_of(x * y, DataType::Int32);
    };
    switch (operation) {
        case VectorOperation::Add:
            return a[i] + b[i];
        case VectorOperation::Multiply:
            return times(a[i], b[i]);
        case VectorOperation::Relu:
            return a[i] > 0 ? a[i] : 0;
        case VectorOperation::Rope:
            return i % 2 == 0 ? times(a[i], b[i]) - times(a[i + 1], b[i + 1])
                              : times(a[i - 1], b[i]) + times(a[i], b[i - 1]);
        default:
            return a[i];
    }
}

// Half a unit of the last place, and what sums in f32 lose.
double tolerance(DataType type, double value) {
    const double relative = type == DataType::Bf16 ? 1.0 / 250.0 : 1e-5;
    return std::abs(value) * relative + (is_float(type) ? 1e-5 : 0.5);
}

// How far apart they are; an integer is known by the bits its type keeps.
double difference(DataType type, double found, double want) {
    return std::abs(is_float(type) ? found - want
                                   : std::remainder(found - want, std::exp2(bits_of(type))));
}

// The rows in DRAM.
class Rows {
  public:
    Rows(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
         const BackingStore& store)
        : problem_(problem),
          arguments_(lowered.program.external_buffers),
          store_(store),
          row_(row_bytes(problem)) {}

    std::string first_mismatch(std::int64_t m) const {
        return core::stays_integer(kernel_of(problem_, 1)) ? integers_differ(m) : floats_differ(m);
    }

  private:
    std::int64_t place_of_a(std::int64_t m) const { return arguments_[0].address + m * row_.a; }
    std::int64_t place_of_b(std::int64_t m) const {
        return arguments_[1].address + (problem_.keeps_b() ? 0 : m / problem_.heads * row_.b);
    }
    std::int64_t place_of_c(std::int64_t m) const { return arguments_.back().address + m * row_.c; }
    std::vector<std::int64_t> integers(std::int64_t address, DataType type) const {
        const auto bytes = (problem_.n * bits_of(type) + kBitsPerByte - 1) / kBitsPerByte;
        return core::as_integers(read_bytes(store_, address, bytes), type, problem_.n);
    }
    template <class Value>
    static std::string differ(std::int64_t m, Size i, Value found, Value want) {
        return fmt::format("C[{}][{}] is {}, expected {}", m, i, found, want);
    }

    std::string integers_differ(std::int64_t m) const {
        const auto a = integers(place_of_a(m), problem_.a);
        const auto b =
            problem_.has_b() ? integers(place_of_b(m), problem_.b()) : std::vector<std::int64_t>{};
        const auto c = integers(place_of_c(m), problem_.c);
        for (Size i = 0; i < c.size(); ++i) {
            const auto want = core::kept_of(expected(problem_.operation, a, b, i), problem_.c);
            if (c[i] != want) {
                return differ(m, i, c[i], want);
            }
        }
        return "";
    }

    std::string floats_differ(std::int64_t m) const {
        const auto a = row_of_a(problem_, store_, place_of_a(m));
        const auto b = problem_.has_b()
                           ? read_floats(store_, place_of_b(m), problem_.b(), problem_.n)
                           : std::vector<float>{};
        const auto c = read_floats(store_, place_of_c(m), problem_.c, problem_.n);
        const RowSums sums = sums_of(problem_.operation, a);
        for (Size i = 0; i < c.size(); ++i) {
            const double want = expected(problem_.operation, a, sums, b, i);
            const auto found = static_cast<double>(c[i]);
            // Which a NaN is not.
            if (!(difference(problem_.c, found, want) <= tolerance(problem_.c, want))) {
                return differ(m, i, found, want);
            }
        }
        return "";
    }

    const ElementwiseProblem& problem_;
    const std::vector<program::ExternalBuffer>& arguments_;
    const BackingStore& store_;
    RowBytes row_;
};

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
    const Rows rows(problem, lowered, store);
    ProductCheck check;
    check.method = core::stays_integer(kernel_of(problem, 1))
                       ? "every element"
                       : "every element, within its type's rounding";
    for (std::int64_t m = 0; m < problem.m; ++m) {
        check.checked += problem.n;
        if (check.first_mismatch.empty()) {
            check.first_mismatch = rows.first_mismatch(m);
        }
    }
    check.match = check.first_mismatch.empty();
    return check;
}

}  // namespace tilesim::workloads::npu::elementwise
