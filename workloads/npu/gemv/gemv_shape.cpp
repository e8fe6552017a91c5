#include "workloads/npu/gemv/gemv_shape.hpp"

#include <algorithm>
#include <numeric>

#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;

namespace {

constexpr std::int64_t kTransfers = 3;  // of a shim: A, X, Y

// Elements a row is padded to: whole words of every operand, whole blocks that share a factor.
std::int64_t row_unit(const MatrixVector& problem) {
    const auto whole = [](DataType type) {
        return std::max<std::int64_t>(1, kWordBytes * kBitsPerByte / bits_of(type));
    };
    // Two bf16 factors are a word.
    const std::int64_t blocks = problem.scale_block > 0 ? 2 * problem.scale_block : 1;
    return std::lcm(std::lcm(whole(problem.a), whole(problem.x)), blocks);
}

// Descriptors of each stream in a shim.
std::int64_t slots_of(const GemvMapping& map, const NpuConfig& config) {
    const std::int64_t most =
        std::min(config.shim_dma.descriptors / kTransfers, config.shim_dma.task_queue_depth + 1);
    return map.in_flight > 0 ? std::min(most, map.in_flight) : most;
}

}  // namespace

std::int64_t step_words(const GemvShape& shape) {
    return words_for(shape.step_rows() * shape.row_bytes);
}

std::int64_t most_reach(const GemvMapping& map, const GemvShape& shape, const NpuConfig& config) {
    const DmaConfig& dma = config.shim_dma;
    const bool advances = dma.iteration && step_words(shape) <= std::int64_t{1} << dma.step_bits;
    const std::int64_t advanced = advances ? std::min(kIterations, dma.repeats) : 1;
    // No call: more rows a call than a core's, which is refused.
    const std::int64_t sent =
        map.vector == GemvMapping::Vector::EachCall ? std::max<std::int64_t>(1, shape.calls()) : 1;
    return std::max<std::int64_t>(1, std::min(advanced, dma.repeats / sent));
}

std::vector<std::int64_t> core_buffers(const MatrixVector& problem, const GemvMapping& map,
                                       const GemvShape& shape) {
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(map.a_buffers),
                                    shape.call_rows * shape.row_bytes);
    bytes.insert(bytes.end(), static_cast<std::size_t>(map.x_buffers),
                 bytes_of(shape.k, problem.x));
    bytes.insert(bytes.end(), static_cast<std::size_t>(map.y_buffers),
                 bytes_of(shape.core_rows, problem.y));
    return bytes;
}

std::int64_t memory_tile_bytes(const MatrixVector& problem, const GemvMapping& map,
                               const GemvShape& shape) {
    return shape.column_rows() *
           (map.panels * shape.row_bytes + map.y_buffers * bytes_of(1, problem.y));
}

GemvShape shape_of(const MatrixVector& problem, const GemvMapping& map, const NpuConfig& config) {
    GemvShape shape;
    shape.columns = map.columns_of(config);
    shape.places = ShimColumns(config);
    shape.rows = map.rows;
    shape.first_core_row = 1 + config.memory_rows;
    const std::int64_t unit = row_unit(problem);
    shape.k = ceil_div(problem.k, unit) * unit;
    shape.row_bytes = program::row_bytes(matvec_kernel(problem, 1, shape.k), shape.k);
    shape.call_rows = map.rows_per_call;
    shape.core_rows = map.core_rows();
    shape.steps = ceil_div(problem.m, shape.core_rows * shape.cores());
    shape.reach = shape.steps;
    if (map.order == GemvMapping::Order::InTurn) {
        const std::int64_t reach = map.reach > 0 ? map.reach : most_reach(map, shape, config);
        shape.reach = std::min(reach, shape.steps);
    }
    shape.slots = slots_of(map, config);
    return shape;
}

}  // namespace tilesim::workloads::npu::gemv
