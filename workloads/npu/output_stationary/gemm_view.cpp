#include "workloads/npu/output_stationary/gemm_view.hpp"

#include <numeric>
#include <utility>

namespace tilesim::workloads::npu::output_stationary {

using arch::base::ceil_div;

GemmView view_of(const GemmProblem& problem, const OutputStationaryMapping& mapping) {
    GemmView view{problem, mapping};
    OutputStationaryMapping& map = view.map;
    const auto resolve = [](std::int64_t& count, std::int64_t otherwise) {
        count = count > 0 ? count : otherwise;
    };
    resolve(map.a_blocks, map.a_buffers);
    resolve(map.b_blocks, map.b_buffers);
    resolve(map.c_blocks, map.c_buffers);
    view.a_block_k = map.k_mt;
    view.b_block_k = map.b_k_mt;
    // Row-major B has its long runs along N: one core tile at a time.
    resolve(view.b_block_k, problem.b_column_major ? map.k_mt : map.k_ct);
    view.c_by_columns = map.c_column_major;
    view.transposed = map.a_along_columns;
    if (view.transposed) {
        std::swap(view.problem.m, view.problem.n);
        std::swap(view.problem.a, view.problem.b);
        std::swap(map.m_ct, map.n_ct);
        std::swap(map.a_buffers, map.b_buffers);
        std::swap(map.a_blocks, map.b_blocks);
        std::swap(view.a_block_k, view.b_block_k);
        view.a_by_k = problem.b_column_major;
        view.problem.b_column_major = true;  // the problem's A, whose rows follow each other
        view.c_by_columns = !view.c_by_columns;
    }
    return view;
}

DataType sum_type(const GemmProblem& problem, const OutputStationaryMapping& mapping) {
    return mapping.sums_apart ? DataType::F32 : problem.c;
}

PaddedGemm padded(const GemmView& view, const arch::npu::NpuConfig& config) {
    const auto to = [](std::int64_t size, std::int64_t unit) {
        return ceil_div(size, unit) * unit;
    };
    return {to(view.problem.m, view.map.m_ct * view.map.rows_of(config)),
            to(view.problem.k, std::lcm(view.a_block_k, view.b_block_k)),
            to(view.problem.n, view.map.n_ct * view.map.columns_of(config))};
}

std::int64_t output_tiles(const GemmView& view, const arch::npu::NpuConfig& config) {
    const PaddedGemm size = padded(view, config);
    return size.m / (view.map.m_ct * view.map.rows_of(config)) *
           (size.n / (view.map.n_ct * view.map.columns_of(config)));
}

}  // namespace tilesim::workloads::npu::output_stationary
