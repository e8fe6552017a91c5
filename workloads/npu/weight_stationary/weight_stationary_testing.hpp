// Products whose B stays in the cores, run on a machine by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "arch/npu/check/ready_program.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/program_run_testing.hpp"
#include "workloads/npu/weight_stationary/weight_stationary.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using arch::npu::DataType;
using Reduction = WeightStationaryMapping::Reduction;

inline Machine machine(const std::string& name) {
    return load_machine(name, "ddr5_5600");
}

inline Outcome run(const Machine& m, const GemmProblem& gemm, const WeightStationaryMapping& map,
                   bool functional) {
    const LoweredGemm lowered = lower(gemm, map, m.npu);
    arch::npu::program::Program program =
        arch::npu::check::prepare(lowered.program, m.npu).program();
    const Bytes bytes{[&](auto& store) { fill_operands(gemm, matrices_of(lowered), 5, store); },
                      [&](auto& store) {
                          return check_product(gemm, matrices_of(lowered), sum_order(gemm, map), 5,
                                               store);
                      }};
    return run_program(m, program, functional ? std::optional{bytes} : std::nullopt);
}

// Slices of 32 and tiles of C of 16 x 32: K of 70 is padded, M and N end within a tile.
inline WeightStationaryMapping small_map(Reduction reduction = Reduction::Cascade) {
    WeightStationaryMapping map;
    map.m_ct = 16;
    map.k_ct = 32;
    map.n_ct = 32;
    map.reduction = reduction;
    return map;
}

inline GemmProblem int8_gemm(std::int64_t m, std::int64_t k, std::int64_t n) {
    return {m, k, n, DataType::Int8, DataType::Int8, DataType::Int32, true};
}

}  // namespace tilesim::workloads::npu::weight_stationary
