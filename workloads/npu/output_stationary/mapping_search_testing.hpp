// Problems and mappings that tests of the search and of its estimates name by their sizes.
#pragma once

#include "workloads/gemm.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

inline GemmProblem gemm(std::int64_t m, std::int64_t k, std::int64_t n, DataType a, DataType c) {
    return {m, k, n, a, a, c, true};
}

inline OutputStationaryMapping tile(std::int64_t m, std::int64_t k, std::int64_t n,
                                    std::int64_t k_mt) {
    OutputStationaryMapping map;
    map.m_ct = m;
    map.k_ct = k;
    map.n_ct = n;
    map.k_mt = k_mt;
    return map;
}

}  // namespace tilesim::workloads::npu::output_stationary
