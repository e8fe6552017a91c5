#include "workloads/npu/gemm_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/base/vector_clones.hpp"
#include "arch/npu/core/kernel_function.hpp"

namespace tilesim::workloads::npu {

using arch::memory::port::BackingStore;

namespace {

using Size = std::size_t;

constexpr double kFullCheckMacs = 4294967296.0;
constexpr std::int64_t kSampledRows = 16;
// Columns of B computed at a time, and random vectors of the projections.
constexpr Size kLanes = 16;

// A matrix in DRAM: `rows` x `columns` elements used of rows `stride` elements apart.
struct Matrix {
    std::int64_t address;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t stride;
    DataType type;
};

Matrix matrix_a(const GemmProblem& p, const GemmMatrices& l) {
    return {l.a, p.m, p.k, l.k, p.a};
}
Matrix matrix_b(const GemmProblem& p, const GemmMatrices& l) {
    const std::int64_t address = l.b;
    return p.b_column_major ? Matrix{address, p.n, p.k, l.k, p.b}
                            : Matrix{address, p.k, p.n, l.n, p.b};
}
Matrix matrix_c(const GemmProblem& p, const GemmMatrices& l) {
    return l.c_column_major ? Matrix{l.c, p.n, p.m, l.m, p.c} : Matrix{l.c, p.m, p.n, l.n, p.c};
}

// Calls action with an element of the type.
template <class Action>
void with_element(DataType type, Action action) {
    switch (type) {
        case DataType::Int8:
            return action(std::int8_t{});
        case DataType::Int16:
            return action(std::int16_t{});
        case DataType::Bf16:
            return action(std::uint16_t{});
        case DataType::F32:
            return action(float{});
        default:
            return action(std::int32_t{});
    }
}

// One random element in its storage form.
template <class Element>
Element random_element(std::uint64_t& state) {
    const std::uint64_t bits = arch::base::next_splitmix64(state);
    if constexpr (std::is_same_v<Element, std::uint16_t>) {
        constexpr float kScale = 1.0F / 128.0F;
        return arch::base::to_bf16((static_cast<float>(bits & 0xFFU) - 128.0F) * kScale);
    } else if constexpr (std::is_same_v<Element, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else {
        return static_cast<Element>(bits);
    }
}

void fill(const Matrix& matrix, std::uint64_t& state, BackingStore& store) {
    with_element(matrix.type, [&](auto element) {
        std::vector<decltype(element)> row(static_cast<Size>(matrix.columns));
        for (std::int64_t r = 0; r < matrix.rows; ++r) {
            for (auto& value : row) {
                value = random_element<decltype(element)>(state);
            }
            store.write(matrix.address + r * matrix.stride * bytes_of(matrix.type),
                        std::as_bytes(std::span{row}));
        }
    });
}

// Integers widen to 32 bits, to be added modulo 2^32, and floats to f32.
template <class Value, class Element>
Value widen(Element element) {
    if constexpr (std::is_same_v<Element, std::uint16_t>) {
        return static_cast<Value>(arch::base::from_bf16(element));
    } else {
        return static_cast<Value>(element);
    }
}

// Elements `first`... of a row, widened, to be put `step` apart.
template <class Value>
void read(const Matrix& matrix, std::int64_t row, std::int64_t first, std::int64_t count,
          const BackingStore& store, Value* into, Size step = 1) {
    with_element(matrix.type, [&](auto element) {
        thread_local std::vector<decltype(element)> elements;
        elements.resize(static_cast<Size>(count));
        store.read(matrix.address + (row * matrix.stride + first) * bytes_of(matrix.type),
                   std::as_writable_bytes(std::span{elements}));
        for (Size i = 0; i < elements.size(); ++i) {
            into[i * step] = widen<Value>(elements[i]);
        }
    });
}

// The same of a row of C, which may lie in a column of its own.
template <class Value>
void read_c(const GemmProblem& p, const GemmMatrices& l, std::int64_t row, std::int64_t first,
            std::int64_t count, const BackingStore& store, Value* into) {
    const Matrix c = matrix_c(p, l);
    if (!l.c_column_major) {
        return read(c, row, first, count, store, into);
    }
    for (std::int64_t i = 0; i < count; ++i) {
        read(c, first + i, row, 1, store, into + i);
    }
}

// kLanes columns of B from column `j` on as [k][lane], zero beyond the last column.
template <class Value>
void read_panel(const GemmProblem& p, const GemmMatrices& l, std::int64_t j,
                const BackingStore& store, std::vector<Value>& panel) {
    const Matrix b = matrix_b(p, l);
    const std::int64_t columns = std::min<std::int64_t>(kLanes, p.n - j);
    panel.assign(static_cast<Size>(p.k) * kLanes, Value{0});
    if (p.b_column_major) {
        for (std::int64_t lane = 0; lane < columns; ++lane) {
            read(b, j + lane, 0, p.k, store, panel.data() + lane, kLanes);
        }
    } else {
        for (std::int64_t k = 0; k < p.k; ++k) {
            read(b, k, j, columns, store, panel.data() + static_cast<Size>(k) * kLanes);
        }
    }
}

// sums += row x panel, in order of the row; kLanes sums, panel [count][kLanes]. Two vectors of g++
// and clang, because loops over the lanes and longer vectors would keep the sums in memory.
template <class Value>
void add_products(const Value* row, Size count, const Value* panel, Value* sums) {
    constexpr Size kHalf = kLanes / 2;
    typedef Value Vector __attribute__((vector_size(kHalf * sizeof(Value))));
    Vector low, high, low_columns, high_columns;
    std::memcpy(&low, sums, sizeof low);
    std::memcpy(&high, sums + kHalf, sizeof high);
    for (Size i = 0; i < count; ++i) {
        std::memcpy(&low_columns, panel + i * kLanes, sizeof low);
        std::memcpy(&high_columns, panel + i * kLanes + kHalf, sizeof high);
        low += row[i] * low_columns;
        high += row[i] * high_columns;
    }
    std::memcpy(sums, &low, sizeof low);
    std::memcpy(sums + kHalf, &high, sizeof high);
}
TILESIM_VECTOR_CLONES
void add_row(const std::uint32_t* row, Size count, const std::uint32_t* panel,
             std::uint32_t* sums) {
    add_products(row, count, panel, sums);
}
TILESIM_VECTOR_CLONES
void add_row(const float* row, Size count, const float* panel, float* sums) {
    add_products(row, count, panel, sums);
}

std::int32_t stored(std::uint32_t sum, DataType type) {
    return type == DataType::Int8    ? static_cast<std::int8_t>(sum)
           : type == DataType::Int16 ? static_cast<std::int16_t>(sum)
                                     : static_cast<std::int32_t>(sum);
}
float stored(float sum, DataType type) {
    return type == DataType::Bf16 ? arch::base::from_bf16(arch::base::to_bf16(sum)) : sum;
}

// A row of A times a panel of B.
template <class Value>
std::array<Value, kLanes> reference(const std::vector<Value>& a, const std::vector<Value>& panel,
                                    const SumOrder& order, DataType type) {
    const auto slice = static_cast<Size>(order.slice);
    std::array<Value, kLanes> sums{};
    for (Size k = 0; k < a.size(); k += slice) {
        const Size steps = std::min(slice, a.size() - k);
        std::array<Value, kLanes> part{};
        std::array<Value, kLanes>& added = order.apart ? part : sums;
        add_row(a.data() + k, steps, panel.data() + k * kLanes, added.data());
        for (Size lane = 0; lane < kLanes; ++lane) {
            const Value sum = order.apart ? sums[lane] + part[lane] : sums[lane];
            sums[lane] = static_cast<Value>(stored(sum, type));
        }
    }
    return sums;
}

// Random vectors x and their products B x, both [element][vector].
struct Projections {
    std::vector<std::uint32_t> x;
    std::vector<std::uint32_t> bx;

    Projections(const GemmProblem& p, std::uint64_t seed)
        : x(static_cast<Size>(p.n + static_cast<std::int64_t>(kLanes)) * kLanes),
          bx(static_cast<Size>(p.k) * kLanes) {
        std::uint64_t state = arch::base::splitmix64_hash(~seed);  // not the numbers in A
        for (std::uint32_t& value : x) {
            value = static_cast<std::uint32_t>(arch::base::next_splitmix64(state));
        }
    }
    void add(std::int64_t j, const std::vector<std::uint32_t>& panel) {
        for (Size at = 0; at < panel.size(); at += kLanes) {
            add_row(panel.data() + at, kLanes, x.data() + static_cast<Size>(j) * kLanes,
                    bx.data() + at);
        }
    }
};

class Comparison {
  public:
    Comparison(const GemmProblem& problem, const GemmMatrices& lowered, const BackingStore& store)
        : p_(problem), l_(lowered), store_(store) {}

    // Every `step`th row of C, element by element; B x on the way, where it is wanted.
    template <class Value>
    void compare_rows(const SumOrder& order, std::int64_t step, Projections* projections) {
        std::vector<Value> panel;
        std::vector<Value> a(static_cast<Size>(p_.k));
        std::array<Value, kLanes> c{};
        for (std::int64_t j = 0; j < p_.n; j += kLanes) {
            const std::int64_t columns = std::min<std::int64_t>(kLanes, p_.n - j);
            read_panel(p_, l_, j, store_, panel);
            for (std::int64_t row = 0; row < p_.m; row += step) {
                read(matrix_a(p_, l_), row, 0, p_.k, store_, a.data());
                read_c(p_, l_, row, j, columns, store_, c.data());
                const auto expected = reference(a, panel, order, p_.c);
                for (std::int64_t lane = 0; lane < columns; ++lane) {
                    compare(row, j + lane, c[static_cast<Size>(lane)],
                            expected[static_cast<Size>(lane)]);
                }
                check.checked += columns;
            }
            if constexpr (std::is_same_v<Value, std::uint32_t>) {
                if (projections != nullptr) {
                    projections->add(j, panel);
                }
            }
        }
    }

    // C x = A (B x) modulo 2^bits: a wrong row of C escapes one vector with at most probability
    // 1/2, where all that is wrong with it are highest bits.
    bool agrees(const Projections& projections) const {
        std::vector<std::uint32_t> a(static_cast<Size>(p_.k));
        std::vector<std::uint32_t> c(static_cast<Size>(p_.n));
        for (std::int64_t row = 0; row < p_.m; ++row) {
            read(matrix_a(p_, l_), row, 0, p_.k, store_, a.data());
            read_c(p_, l_, row, 0, p_.n, store_, c.data());
            std::array<std::uint32_t, kLanes> left{};
            std::array<std::uint32_t, kLanes> right{};
            add_row(c.data(), c.size(), projections.x.data(), left.data());
            add_row(a.data(), a.size(), projections.bx.data(), right.data());
            for (Size v = 0; v < kLanes; ++v) {
                if (stored(left[v], p_.c) != stored(right[v], p_.c)) {
                    return false;
                }
            }
        }
        return true;
    }

    ProductCheck check;

  private:
    // Keeps the first mismatch in order of C's rows.
    template <class Value>
    void compare(std::int64_t row, std::int64_t column, Value found, Value expected) {
        const auto place = std::pair{row, column};
        if (found != expected && (check.first_mismatch.empty() || place < first_)) {
            first_ = place;
            check.first_mismatch = fmt::format("C[{}][{}] is {}, expected {}", row, column,
                                               stored(found, p_.c), stored(expected, p_.c));
        }
    }

    const GemmProblem& p_;
    const GemmMatrices& l_;
    const BackingStore& store_;
    std::pair<std::int64_t, std::int64_t> first_;
};

}  // namespace

void fill_operands(const GemmProblem& problem, const GemmMatrices& lowered, std::uint64_t seed,
                   BackingStore& store) {
    fill(matrix_a(problem, lowered), seed, store);
    fill(matrix_b(problem, lowered), seed, store);
}

ProductCheck check_product(const GemmProblem& problem, const GemmMatrices& lowered,
                           const SumOrder& order, std::uint64_t seed, const BackingStore& store) {
    const bool integers = problem.a != DataType::Bf16;
    const bool full = problem.macs() <= kFullCheckMacs;
    const std::int64_t step = full ? 1 : std::max<std::int64_t>(1, problem.m / kSampledRows);
    Comparison comparison(problem, lowered, store);
    ProductCheck& check = comparison.check;
    if (!integers) {
        comparison.compare_rows<float>(order, step, nullptr);
        check.method = full ? "every element" : "sampled rows";
    } else if (full) {
        comparison.compare_rows<std::uint32_t>(order, step, nullptr);
        check.method = "every element";
    } else {
        Projections projections(problem, seed);
        comparison.compare_rows<std::uint32_t>(order, step, &projections);
        check.method = "sampled rows, random projections of all elements";
        if (check.first_mismatch.empty() && !comparison.agrees(projections)) {
            check.first_mismatch = "a random projection of C differs";
        }
    }
    check.match = check.first_mismatch.empty();
    return check;
}

}  // namespace tilesim::workloads::npu
