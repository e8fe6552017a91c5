#include "workloads/gemm_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/npu/kernel_function.hpp"

namespace tilesim::workloads {

using arch::memory::BackingStore;

namespace {

using Size = std::size_t;

constexpr double kFullCheckMacs = 4294967296.0;
constexpr std::int64_t kSampledRows = 16;
constexpr int kProjections = 4;

// One random element in its storage form.
std::uint32_t random_element(DataType type, std::uint64_t& state) {
    const std::uint64_t bits = arch::base::next_splitmix64(state);
    if (type == DataType::Bf16) {
        constexpr float kScale = 1.0F / 128.0F;
        return arch::npu::to_bf16((static_cast<float>(bits & 0xFFU) - 128.0F) * kScale);
    }
    return static_cast<std::uint32_t>(bits);
}

// A matrix in DRAM: `rows` x `columns` elements used of rows `stride` elements apart.
struct Matrix {
    std::int64_t address;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t stride;
    DataType type;
};

Matrix matrix_a(const GemmProblem& p, const LoweredGemm& l) {
    return {l.program.external_buffers[0].address, p.m, p.k, l.k, p.a};
}
Matrix matrix_b(const GemmProblem& p, const LoweredGemm& l) {
    const std::int64_t address = l.program.external_buffers[1].address;
    return p.b_column_major ? Matrix{address, p.n, p.k, l.k, p.b}
                            : Matrix{address, p.k, p.n, l.n, p.b};
}
Matrix matrix_c(const GemmProblem& p, const LoweredGemm& l) {
    return {l.program.external_buffers[2].address, p.m, p.n, l.n, p.c};
}

void fill(const Matrix& matrix, std::uint64_t& state, BackingStore& store) {
    const auto size = static_cast<Size>(bytes_of(matrix.type));
    std::vector<std::byte> row(static_cast<Size>(matrix.columns) * size);
    for (std::int64_t r = 0; r < matrix.rows; ++r) {
        for (Size c = 0; c < row.size(); c += size) {
            const std::uint32_t element = random_element(matrix.type, state);
            std::memcpy(row.data() + c, &element, size);
        }
        store.write(matrix.address + r * matrix.stride * static_cast<std::int64_t>(size), row);
    }
}

// Elements of a row widened: integers to int32, floats to f32.
template <class Value>
Value widen(const std::byte* from, DataType type) {
    switch (type) {
        case DataType::Int8: {
            std::int8_t value = 0;
            std::memcpy(&value, from, sizeof value);
            return static_cast<Value>(value);
        }
        case DataType::Int16: {
            std::int16_t value = 0;
            std::memcpy(&value, from, sizeof value);
            return static_cast<Value>(value);
        }
        case DataType::Bf16: {
            std::uint16_t value = 0;
            std::memcpy(&value, from, sizeof value);
            return static_cast<Value>(arch::npu::from_bf16(value));
        }
        case DataType::F32: {
            float value = 0;
            std::memcpy(&value, from, sizeof value);
            return static_cast<Value>(value);
        }
        default: {
            std::int32_t value = 0;
            std::memcpy(&value, from, sizeof value);
            return static_cast<Value>(value);
        }
    }
}

template <class Value>
void read_row(const Matrix& matrix, std::int64_t row, const BackingStore& store,
              std::vector<Value>& into) {
    const auto size = static_cast<Size>(bytes_of(matrix.type));
    std::vector<std::byte> bytes(static_cast<Size>(matrix.columns) * size);
    store.read(matrix.address + row * matrix.stride * static_cast<std::int64_t>(size), bytes);
    into.resize(static_cast<Size>(matrix.columns));
    for (Size i = 0; i < into.size(); ++i) {
        into[i] = widen<Value>(bytes.data() + i * size, matrix.type);
    }
}

// All of B as rows of n, whatever its layout in DRAM.
template <class Value>
std::vector<Value> read_b(const GemmProblem& p, const LoweredGemm& l, const BackingStore& store) {
    const Matrix b = matrix_b(p, l);
    std::vector<Value> all(static_cast<Size>(p.k * p.n));
    std::vector<Value> row;
    for (std::int64_t r = 0; r < b.rows; ++r) {
        read_row(b, r, store, row);
        for (Size i = 0; i < row.size(); ++i) {
            const Size at = p.b_column_major ? i * static_cast<Size>(p.n) + static_cast<Size>(r)
                                             : static_cast<Size>(r * p.n) + i;
            all[at] = row[i];
        }
    }
    return all;
}

std::int32_t wrapped(std::uint32_t value, DataType type) {
    return type == DataType::Int8    ? static_cast<std::int8_t>(value)
           : type == DataType::Int16 ? static_cast<std::int16_t>(value)
                                     : static_cast<std::int32_t>(value);
}

// One row of the reference product.
void reference_row(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                   const GemmProblem& p, std::int64_t, std::vector<std::int32_t>& c) {
    std::vector<std::uint32_t> sums(c.size(), 0);
    for (Size k = 0; k < a.size(); ++k) {
        const auto x = static_cast<std::uint32_t>(a[k]);
        for (Size j = 0; j < sums.size(); ++j) {
            sums[j] += x * static_cast<std::uint32_t>(b[k * sums.size() + j]);
        }
    }
    std::transform(sums.begin(), sums.end(), c.begin(),
                   [&p](std::uint32_t sum) { return wrapped(sum, p.c); });
}

void reference_row(const std::vector<float>& a, const std::vector<float>& b, const GemmProblem& p,
                   std::int64_t k_ct, std::vector<float>& c) {
    std::fill(c.begin(), c.end(), 0.0F);
    for (Size k = 0; k < a.size(); ++k) {
        for (Size j = 0; j < c.size(); ++j) {
            c[j] += a[k] * b[k * c.size() + j];
        }
        const bool stored = (k + 1) % static_cast<Size>(k_ct) == 0 || k + 1 == a.size();
        if (stored && p.c == DataType::Bf16) {
            for (float& value : c) {
                value = arch::npu::from_bf16(arch::npu::to_bf16(value));
            }
        }
    }
}

template <class Value>
void compare_rows(const GemmProblem& p, const LoweredGemm& l, std::int64_t k_ct, std::int64_t step,
                  const BackingStore& store, ProductCheck& check) {
    const std::vector<Value> b = read_b<Value>(p, l, store);
    std::vector<Value> a;
    std::vector<Value> c;
    std::vector<Value> expected(static_cast<Size>(p.n));
    for (std::int64_t row = 0; row < p.m; row += step) {
        read_row(matrix_a(p, l), row, store, a);
        read_row(matrix_c(p, l), row, store, c);
        reference_row(a, b, p, k_ct, expected);
        for (Size j = 0; j < c.size(); ++j) {
            if (c[j] != expected[j] && check.first_mismatch.empty()) {
                check.first_mismatch =
                    fmt::format("C[{}][{}] is {}, expected {}", row, j, c[j], expected[j]);
            }
        }
        check.checked += p.n;
    }
}

// C x = A (B x) modulo 2^bits for random x: a wrong element escapes with probability 2^-bits each.
bool projections_agree(const GemmProblem& p, const LoweredGemm& l, std::uint64_t seed,
                       const BackingStore& store) {
    const std::vector<std::int32_t> b = read_b<std::int32_t>(p, l, store);
    std::vector<std::vector<std::uint32_t>> x(kProjections);
    std::vector<std::vector<std::uint32_t>> bx(kProjections);
    for (int v = 0; v < kProjections; ++v) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            x[static_cast<Size>(v)].push_back(
                static_cast<std::uint32_t>(arch::base::next_splitmix64(seed)));
        }
        for (std::int64_t k = 0; k < p.k; ++k) {
            std::uint32_t sum = 0;
            for (std::int64_t j = 0; j < p.n; ++j) {
                sum += static_cast<std::uint32_t>(b[static_cast<Size>(k * p.n + j)]) *
                       x[static_cast<Size>(v)][static_cast<Size>(j)];
            }
            bx[static_cast<Size>(v)].push_back(sum);
        }
    }
    std::vector<std::int32_t> a;
    std::vector<std::int32_t> c;
    for (std::int64_t row = 0; row < p.m; ++row) {
        read_row(matrix_a(p, l), row, store, a);
        read_row(matrix_c(p, l), row, store, c);
        for (Size v = 0; v < x.size(); ++v) {
            std::uint32_t left = 0;
            std::uint32_t right = 0;
            for (Size j = 0; j < c.size(); ++j) {
                left += static_cast<std::uint32_t>(c[j]) * x[v][j];
            }
            for (Size k = 0; k < a.size(); ++k) {
                right += static_cast<std::uint32_t>(a[k]) * bx[v][k];
            }
            if (wrapped(left, p.c) != wrapped(right, p.c)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

void fill_operands(const GemmProblem& problem, const LoweredGemm& lowered, std::uint64_t seed,
                   BackingStore& store) {
    fill(matrix_a(problem, lowered), seed, store);
    fill(matrix_b(problem, lowered), seed, store);
}

ProductCheck check_product(const GemmProblem& problem, const LoweredGemm& lowered,
                           const OutputStationaryMapping& mapping, std::uint64_t seed,
                           const BackingStore& store) {
    ProductCheck check;
    const bool integers = problem.a != DataType::Bf16;
    const bool full = problem.macs() <= kFullCheckMacs;
    const std::int64_t step = full ? 1 : std::max<std::int64_t>(1, problem.m / kSampledRows);
    check.method = full       ? "every element"
                   : integers ? "sampled rows, random projections of all elements"
                              : "sampled rows";
    if (integers) {
        compare_rows<std::int32_t>(problem, lowered, mapping.k_ct, step, store, check);
    } else {
        compare_rows<float>(problem, lowered, mapping.k_ct, step, store, check);
    }
    check.match = check.first_mismatch.empty();
    if (check.match && integers && !full && !projections_agree(problem, lowered, seed, store)) {
        check.match = false;
        check.first_mismatch = "a random projection of C differs";
    }
    return check;
}

}  // namespace tilesim::workloads
