// For tests: the device of the published kernels, products of int16 and cache blocks.
#pragma once

#include <cstdint>

#include "workloads/npu/gotoblas/gotoblas.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::gotoblas {

inline Machine machine() {
    return load_machine("vck190", "ddr4_3200");
}

inline GemmProblem problem(std::int64_t m, std::int64_t k, std::int64_t n) {
    return {m, k, n, DataType::Int16, DataType::Int16, DataType::Int16};
}

inline GotoblasMapping mapping(std::int64_t m_c, std::int64_t n_c, std::int64_t k_c) {
    GotoblasMapping map;
    map.m_c = m_c;
    map.n_c = n_c;
    map.k_c = k_c;
    return map;
}

}  // namespace tilesim::workloads::npu::gotoblas
