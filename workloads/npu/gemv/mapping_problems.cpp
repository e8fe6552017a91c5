#include "workloads/npu/gemv/mapping_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "arch/base/data_type.hpp"
#include "arch/base/units.hpp"
#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/gemv/gemv_shape.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;

namespace {

constexpr const char* kShorterRows = "a smaller K: one row alone is longer";

class Problems : private arch::npu::check::ProblemList {
  public:
    Problems(const MatrixVector& problem, const GemvMapping& map, const NpuConfig& config)
        : problem_(problem), map_(map), config_(config), shape_(shape_of(problem, map, config)) {}

    std::vector<std::string> all() {
        check_array();
        if (empty()) {
            check_rows();
            check_memory();
            check_descriptors();
        }
        return take_problems();
    }

  private:
    void check_array() {
        const program::Kernel kernel = matvec_kernel(problem_, shape_.call_rows, shape_.k);
        const std::string reason = core::KernelTiming(config_.kernels).check(kernel);
        require(reason.empty(), "{}", reason);
        require(shape_.columns <= ShimColumns::count(config_) && shape_.rows <= config_.core_rows,
                "the mapping uses {} columns and {} rows of cores; the array has {} columns{} and "
                "{} rows",
                shape_.columns, shape_.rows, ShimColumns::count(config_),
                config_.shim_columns.empty() ? "" : " with a shim DMA", config_.core_rows);
        require(!map_.direct() || shape_.rows == 1,
                "path direct: a shim's stream of the matrix ends in one core, rows must be 1, got "
                "{}; path memory_tile serves more",
                shape_.rows);
        require(map_.direct() || config_.memory_rows > 0,
                "path memory_tile: the array has no memory tiles; path direct needs none");
        require(config_.shim_dma.channels >= 2 && config_.core_dma.channels >= 2,
                "matrix and vector come on a stream each: shims and cores need 2 channels, they "
                "have {} and {}",
                config_.shim_dma.channels, config_.core_dma.channels);
        require(shape_.slots > 0,
                "matrix, vector and results need 3 descriptors of a shim, it has {}",
                config_.shim_dma.descriptors);
        const std::int64_t channels = config_.memory_dma.channels;
        require(map_.direct() || shape_.rows + 1 <= channels,
                "a memory tile sends {} streams (the matrix to {} cores, their results), it has {} "
                "channels; rows must be at most {}",
                shape_.rows + 1, shape_.rows, channels, channels - 1);
    }

    void check_rows() {
        require(shape_.core_rows % shape_.call_rows == 0,
                "rows_per_core ({}) must be a multiple of rows_per_call ({})", shape_.core_rows,
                shape_.call_rows);
        const std::int64_t y_bits = bits_of(problem_.y);
        const std::int64_t unit = std::max<std::int64_t>(1, kWordBytes * kBitsPerByte / y_bits);
        require(shape_.core_rows % unit == 0,
                "a core's results are moved in words of {} B: rows_per_core ({}) must be a "
                "multiple of {}",
                kWordBytes, shape_.core_rows, unit);
        check_reach();
        require(map_.in_flight <= shape_.slots,
                "in_flight must be at most {}: what the {} descriptors and {} queued tasks of a "
                "shim hold, got {}",
                shape_.slots, config_.shim_dma.descriptors, config_.shim_dma.task_queue_depth,
                map_.in_flight);
    }

    // The vector is repeated for every call of what a descriptor moves.
    void check_reach() {
        const bool apart = map_.order == GemvMapping::Order::Apart;
        require(!apart || map_.reach == 0,
                "reach: where order is apart a descriptor moves all rows of a column; leave reach "
                "out or use order: in_turn");
        const std::int64_t most = most_reach(map_, shape_, config_);
        require(apart || map_.reach <= most,
                "reach must be at most {}: a descriptor's offset advances {} times by steps of {} "
                "bits ({} words here), and a task repeats the vector of {} calls a step {} times; "
                "got {}",
                most, config_.shim_dma.iteration ? kIterations : 1, config_.shim_dma.step_bits,
                step_words(shape_), shape_.calls(), config_.shim_dma.repeats, map_.reach);
        const std::int64_t sent =
            map_.vector == GemvMapping::Vector::Once ? 1 : shape_.reach * shape_.calls();
        require(sent <= config_.shim_dma.repeats,
                "a task sends the vector {} times, a shim can repeat one {} times; use vector: "
                "once, order: in_turn or more rows_per_call",
                sent, config_.shim_dma.repeats);
    }

    void check_memory() {
        const auto buffers = core_buffers(problem_, map_, shape_);
        const std::int64_t needed =
            std::accumulate(buffers.begin(), buffers.end(), config_.core.stack.count());
        const std::int64_t row = map_.a_buffers * shape_.row_bytes;
        const std::int64_t left = config_.core.memory.count() - (needed - shape_.call_rows * row);
        require(needed <= config_.core.memory.count(),
                "a core needs {} B (stack {} + {} x A {} + {} x x {} + {} x y {}), it has {} B; {}",
                needed, config_.core.stack.count(), map_.a_buffers,
                shape_.call_rows * shape_.row_bytes, map_.x_buffers, bytes_of(shape_.k, problem_.x),
                map_.y_buffers, bytes_of(shape_.core_rows, problem_.y), config_.core.memory.count(),
                left >= row ? fmt::format("rows_per_call of {} fits", left / row)
                            : std::string{"use fewer buffers"});
        const std::int64_t panel = map_.direct() ? 0 : memory_tile_bytes(problem_, map_, shape_);
        require(panel <= config_.memory_tile.memory.count(),
                "a memory tile needs {} B for {} panels of {} rows and their results, it has {} B; "
                "use fewer rows_per_core or panels",
                panel, map_.panels, shape_.column_rows(), config_.memory_tile.memory.count());
    }

    void check_descriptors() {
        const std::int64_t a = words_for(shape_.call_rows * shape_.row_bytes);
        const std::int64_t x = words_for(bytes_of(shape_.k, problem_.x));
        require(std::max(a, x) <= longest_transfer(config_.core_dma),
                "a core's descriptor moves {} words, at most {}; use {}", std::max(a, x),
                longest_transfer(config_.core_dma),
                x > longest_transfer(config_.core_dma) ? kShorterRows
                                                       : fewer("rows_per_call", shape_.call_rows));
        const std::int64_t part =
            map_.direct() ? 0 : words_for(shape_.core_rows * shape_.row_bytes);
        require(part <= longest_transfer(config_.memory_dma),
                "a memory tile's descriptor moves {} words, at most {}; use {}", part,
                longest_transfer(config_.memory_dma), fewer("rows_per_core", shape_.core_rows));
        const bool apart = map_.order == GemvMapping::Order::Apart;
        const std::int64_t column =
            words_for(shape_.column_rows() * shape_.row_bytes * (apart ? shape_.steps : 1));
        require(
            column <= longest_transfer(config_.shim_dma),
            "a shim's descriptor moves {} words, at most {}; use {}", column,
            longest_transfer(config_.shim_dma),
            apart ? "more columns or order: in_turn" : fewer("rows_per_core", shape_.core_rows));
        DescriptorIds ids(config_.core_dma);
        ids.take(kCoreA, map_.a_buffers);
        ids.take(kCoreX, map_.x_buffers);
        ids.take(kCoreY, map_.y_buffers);
        const std::string core = ids.lack("a core tile");
        require(core.empty(), "{}; use fewer buffers", core);
        const std::string memory = map_.direct() ? "" : memory_descriptors().lack("a memory tile");
        require(memory.empty(), "{}; use fewer rows or panels", memory);
    }

    // What makes a transfer of rows shorter.
    static std::string fewer(const char* key, std::int64_t rows) {
        return rows > 1 ? fmt::format("fewer {}", key) : kShorterRows;
    }

    DescriptorIds memory_descriptors() const {
        DescriptorIds ids(config_.memory_dma);
        ids.take(kMemoryInA, shape_.rows * map_.panels);
        for (std::int64_t row = 0; row < shape_.rows; ++row) {
            ids.take(row, map_.panels);
            ids.take(shape_.memory_in_y(row), map_.y_buffers);
        }
        ids.take(shape_.memory_out_y(), shape_.rows * map_.y_buffers);
        return ids;
    }

    const MatrixVector& problem_;
    const GemvMapping& map_;
    const NpuConfig& config_;
    GemvShape shape_;
};

}  // namespace

std::vector<std::string> problems_of(const MatrixVector& problem, const GemvMapping& map,
                                     const NpuConfig& config) {
    return Problems(problem, map, config).all();
}

}  // namespace tilesim::workloads::npu::gemv
