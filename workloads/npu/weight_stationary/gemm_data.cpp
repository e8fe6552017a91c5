#include "workloads/npu/weight_stationary/gemm_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "arch/npu/core/kernel_function.hpp"
#include "workloads/npu/output_stationary/gemm_data.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using arch::memory::port::BackingStore;

namespace {

constexpr double kFullCheckMacs = 4294967296.0;
constexpr std::int64_t kSampledRows = 16;

// The same matrices, as the other dataflow's checks know them.
output_stationary::LoweredGemm matrices_of(const LoweredGemm& lowered) {
    output_stationary::LoweredGemm matrices;
    matrices.program.external_buffers = lowered.program.external_buffers;
    matrices.m = lowered.m;
    matrices.k = lowered.k;
    matrices.n = lowered.n;
    return matrices;
}

template <class Element>
std::vector<Element> read(const BackingStore& store, std::int64_t address, std::int64_t count) {
    std::vector<Element> elements(static_cast<std::size_t>(count));
    store.read(address, std::as_writable_bytes(std::span{elements}));
    return elements;
}

// bf16 -> f32 products whose slices of K are added as tiles.
class SlicedReference {
  public:
    SlicedReference(const GemmProblem& problem, const LoweredGemm& lowered, std::int64_t slice,
                    const BackingStore& store)
        : problem_(problem), lowered_(lowered), slice_(slice), store_(store) {
        b_ = read<std::uint16_t>(store, lowered.program.external_buffers[1].address,
                                 lowered.k * lowered.n);
    }

    ProductCheck compare_rows(std::int64_t step) const {
        ProductCheck check;
        for (std::int64_t row = 0; row < problem_.m; row += step) {
            const auto& buffers = lowered_.program.external_buffers;
            const auto a = read<std::uint16_t>(
                store_, buffers[0].address + row * lowered_.k * bytes_of(problem_.a), lowered_.k);
            const auto c = read<float>(
                store_, buffers[2].address + row * lowered_.n * bytes_of(problem_.c), lowered_.n);
            for (std::int64_t column = 0; column < problem_.n; ++column, ++check.checked) {
                const float expected = element(a, column);
                const float found = c[static_cast<std::size_t>(column)];
                if (found != expected && check.first_mismatch.empty()) {
                    check.first_mismatch =
                        fmt::format("C[{}][{}] is {}, expected {}", row, column, found, expected);
                }
            }
        }
        return check;
    }

  private:
    float b_at(std::int64_t k, std::int64_t column) const {
        return arch::npu::core::from_bf16(b_[static_cast<std::size_t>(
            problem_.b_column_major ? column * lowered_.k + k : k * lowered_.n + column)]);
    }
    float element(const std::vector<std::uint16_t>& a, std::int64_t column) const {
        float total = 0;
        for (std::int64_t first = 0; first < problem_.k; first += slice_) {
            float sum = 0;
            for (std::int64_t k = first; k < std::min(first + slice_, problem_.k); ++k) {
                sum += arch::npu::core::from_bf16(a[static_cast<std::size_t>(k)]) * b_at(k, column);
            }
            total += sum;
        }
        return total;
    }

    const GemmProblem& problem_;
    const LoweredGemm& lowered_;
    std::int64_t slice_;
    const BackingStore& store_;
    std::vector<std::uint16_t> b_;
};

}  // namespace

void fill_operands(const GemmProblem& problem, const LoweredGemm& lowered, std::uint64_t seed,
                   BackingStore& store) {
    output_stationary::fill_operands(problem, matrices_of(lowered), seed, store);
}

ProductCheck check_product(const GemmProblem& problem, const LoweredGemm& lowered,
                           const WeightStationaryMapping& mapping, std::uint64_t seed,
                           const BackingStore& store) {
    if (!mapping.adds() || problem.c != DataType::F32) {
        output_stationary::OutputStationaryMapping order;
        order.k_ct = mapping.k_ct;
        return output_stationary::check_product(problem, matrices_of(lowered), order, seed, store);
    }
    const bool full = problem.macs() <= kFullCheckMacs;
    const std::int64_t step = full ? 1 : std::max<std::int64_t>(1, problem.m / kSampledRows);
    ProductCheck check = SlicedReference(problem, lowered, mapping.k_ct, store).compare_rows(step);
    check.method = full ? "every element" : "sampled rows";
    check.match = check.first_mismatch.empty();
    return check;
}

}  // namespace tilesim::workloads::npu::weight_stationary
