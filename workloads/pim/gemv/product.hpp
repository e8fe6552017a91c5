// What a PIM dataflow multiplies: a matrix in the banks with one vector or several.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/pim/pim_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/gemv.hpp"
#include "workloads/problem.hpp"

namespace tilesim::workloads::pim::gemv {

// C = A B with B in the banks: every row of A is a vector of its own, for which the whole of B is
// used again.
struct Product {
    GemvProblem gemv;
    std::int64_t vectors = 1;

    double macs() const { return gemv.macs() * static_cast<double>(vectors); }
};

// Of so many, those that share a pass with the first of it: an ALU each.
inline std::int64_t vectors_of_pass(std::int64_t vectors, std::int64_t first,
                                    const arch::pim::PimConfig& pim) {
    return std::min(vectors - first, pim.alus);
}
// Some ALUs have no vector, or there is but one: how many there are does not matter.
inline bool spares_alus(const Product& product, const arch::pim::PimConfig& pim) {
    return product.vectors == 1 || product.vectors < pim.alus;
}

inline Product product_of(const Problem& problem) {
    if (const auto* gemm = problem.find<GemmProblem>()) {
        return {{gemm->n, gemm->k, gemm->b, gemm->a, gemm->c}, gemm->m};
    }
    return {problem.get<GemvProblem>(), 1};
}

}  // namespace tilesim::workloads::pim::gemv
