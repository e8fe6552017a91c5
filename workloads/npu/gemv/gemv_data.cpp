#include "workloads/npu/gemv/gemv_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "arch/base/splitmix64.hpp"
#include "arch/npu/core/vector_kernel_function.hpp"

namespace tilesim::workloads::npu::gemv {

using arch::memory::port::BackingStore;
using arch::npu::DataType;
using arch::npu::core::as_floats;
using arch::npu::core::as_integers;
using arch::npu::core::kept_of;

namespace {

using Size = std::size_t;

constexpr DataType kScale = DataType::Bf16;

// Random elements of a type, in their storage form.
std::vector<std::byte> random_elements(std::int64_t count, DataType type, std::uint64_t& state) {
    std::vector<std::byte> bytes(static_cast<Size>(bytes_of(count, type)));
    if (!is_float(type)) {
        for (std::byte& byte : bytes) {
            byte = static_cast<std::byte>(arch::base::next_splitmix64(state));
        }
        return bytes;
    }
    std::vector<float> values(static_cast<Size>(count));
    for (float& value : values) {
        const auto bits = arch::base::next_splitmix64(state) & 0xFFU;
        value = (static_cast<float>(bits) - 128.0F) / 128.0F;
    }
    arch::npu::core::store_floats(values, type, bytes);
    return bytes;
}

std::vector<std::byte> random_row(const MatrixVector& problem, const GemvShape& shape,
                                  std::uint64_t& state) {
    std::vector<std::byte> row = random_elements(problem.k, problem.a, state);
    row.resize(static_cast<Size>(shape.row_bytes));
    if (problem.scale_block > 0) {
        std::vector<float> scales(static_cast<Size>(shape.k / problem.scale_block));
        for (float& scale : scales) {
            scale = static_cast<float>((arch::base::next_splitmix64(state) & 0x7FU) + 1) / 128.0F;
        }
        const auto elements = static_cast<Size>(bytes_of(shape.k, problem.a));
        arch::npu::core::store_floats(scales, kScale, std::span{row}.subspan(elements));
    }
    return row;
}

std::vector<std::byte> read(const BackingStore& store, std::int64_t address, std::int64_t bytes) {
    std::vector<std::byte> data(static_cast<Size>(bytes));
    store.read(address, data);
    return data;
}

// A row's elements as they are multiplied.
std::vector<float> weights_of(const MatrixVector& problem, const GemvShape& shape,
                              std::span<const std::byte> row) {
    std::vector<float> weights = as_floats(row, problem.a, shape.k);
    if (problem.scale_block > 0) {
        const auto scales = as_floats(row.subspan(static_cast<Size>(bytes_of(shape.k, problem.a))),
                                      kScale, shape.k / problem.scale_block);
        for (Size i = 0; i < weights.size(); ++i) {
            weights[i] *= scales[i / static_cast<Size>(problem.scale_block)];
        }
    }
    return weights;
}

float element(const MatrixVector& problem, const std::vector<float>& weights,
              const std::vector<float>& x) {
    float sum = 0;
    for (Size k = 0; k < weights.size(); ++k) {
        sum += weights[k] * x[k];
    }
    return problem.y == DataType::Bf16 ? arch::base::from_bf16(arch::base::to_bf16(sum)) : sum;
}

std::int64_t integer_element(const MatrixVector& problem, std::span<const std::int64_t> weights,
                             std::span<const std::int64_t> x) {
    return kept_of(std::inner_product(weights.begin(), weights.end(), x.begin(), std::int64_t{0}),
                   problem.y);
}

// Where what was found is not what is expected; empty: nowhere.
template <class Value>
std::string differ(std::int64_t row, Value found, Value expected) {
    return found == expected ? std::string{}
                             : fmt::format("y[{}] is {}, expected {}", row, found, expected);
}

}  // namespace

void fill_operands(const MatrixVector& problem, const LoweredGemv& lowered, std::uint64_t seed,
                   BackingStore& store) {
    const auto& arguments = lowered.program.external_buffers;
    for (std::int64_t row = 0; row < problem.m; ++row) {
        store.write(arguments[0].address + row * lowered.shape.row_bytes,
                    random_row(problem, lowered.shape, seed));
    }
    store.write(arguments[1].address, random_elements(problem.k, problem.x, seed));
}

ProductCheck check_product(const MatrixVector& problem, const LoweredGemv& lowered,
                           const BackingStore& store) {
    const auto& arguments = lowered.program.external_buffers;
    const GemvShape& shape = lowered.shape;
    const auto x = read(store, arguments[1].address, bytes_of(shape.k, problem.x));
    const auto y = read(store, arguments[2].address, bytes_of(problem.m, problem.y));
    const bool floats = is_float(problem.y);
    const auto float_x = floats ? as_floats(x, problem.x, shape.k) : std::vector<float>{};
    const auto float_y = floats ? as_floats(y, problem.y, problem.m) : std::vector<float>{};
    const auto whole_x = floats ? std::vector<std::int64_t>{} : as_integers(x, problem.x, shape.k);
    const auto whole_y =
        floats ? std::vector<std::int64_t>{} : as_integers(y, problem.y, problem.m);
    ProductCheck check;
    check.method = "every element";
    for (std::int64_t row = 0; row < problem.m; ++row, ++check.checked) {
        const auto place = static_cast<Size>(row);
        const auto bytes =
            read(store, arguments[0].address + row * shape.row_bytes, shape.row_bytes);
        const std::string mismatch =
            floats
                ? differ(row, float_y[place],
                         element(problem, weights_of(problem, shape, bytes), float_x))
                : differ(row, whole_y[place],
                         integer_element(problem, as_integers(bytes, problem.a, shape.k), whole_x));
        if (check.first_mismatch.empty()) {
            check.first_mismatch = mismatch;
        }
    }
    check.match = check.first_mismatch.empty();
    return check;
}

}  // namespace tilesim::workloads::npu::gemv
